//go:build unix

package wire

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A parent is identified by its id. When it ends, the kernel reports another parent, which need not be process 1.
type parent struct{ id int }

func findParent() *parent { return &parent{id: os.Getppid()} }

func (p *parent) gone() bool { return os.Getppid() != p.id }

// otherNamespace reports whether the parent is in another PID namespace, where its id is 0 here.
func (p *parent) otherNamespace() bool { return p.id == 0 }

func (p *parent) close() {}

// exists reports whether a process has this id.
func exists(id int) bool {
	err := unix.Kill(id, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

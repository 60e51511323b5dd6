//go:build unix

package wire

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A parent is known by what the kernel says it is. Another one in its place means that it is gone: not
// necessarily process 1, for there are others that adopt.
type parent struct{ id int }

func findParent() *parent { return &parent{id: os.Getppid()} }

func (p *parent) gone() bool { return os.Getppid() != p.id }

// elsewhere reports whether the parent is in another PID namespace: there it has an id, here it has none.
func (p *parent) elsewhere() bool { return p.id == 0 }

func (p *parent) close() {}

// exists reports whether there is a process with this id.
func exists(id int) bool {
	err := unix.Kill(id, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

//go:build unix

package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is the time for a server to react.
const patience = time.Minute

// unprivilegedID is the user and group of the server when the tests run as root, which PostgreSQL refuses.
const unprivilegedID = 65534

// private starts a server in a folder of its own.
func private(settings ...string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin}
	if err := s.begin(settings); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) begin(settings []string) error {
	if err := s.settle(); err != nil {
		return err
	}
	if err := s.run("initdb", "-D", s.data(), "-U", "waybill", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"); err != nil {
		return err
	}
	return s.startAt(append([]string{"shared_buffers = 32MB", "max_connections = 60"}, settings...)...)
}

// settle makes the user of the server the owner of the folder.
func (s *Server) settle() error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(s.dir, unprivilegedID, unprivilegedID)
}

// startTries bounds how often another port is tried, because another program has taken the one that was free.
const startTries = 5

// startAt starts the server for the first time, at a free port.
func (s *Server) startAt(settings ...string) (err error) {
	for range startTries {
		if err = s.choosePort(); err != nil {
			return err
		}
		if err = s.Set(append([]string{
			"unix_socket_directories = '" + s.dir + "'", "listen_addresses = '127.0.0.1'", fmt.Sprintf("port = %d", s.port),
		}, settings...)...); err != nil {
			return err
		}
		_ = os.Remove(s.log()) // of the try before
		if err = s.Start(); err == nil {
			return nil
		}
		said, _ := os.ReadFile(s.log())
		err = fmt.Errorf("%w: %s", err, said)
		if !bytes.Contains(said, []byte("could not bind")) {
			return err
		}
	}
	return err
}

func (s *Server) choosePort() error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.port = free.Addr().(*net.TCPAddr).Port
	s.url = fmt.Sprintf("postgres://waybill@127.0.0.1:%d/postgres?sslmode=disable", s.port)
	return free.Close()
}

func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// Set returns the server settings that it has from its next start on.
func (s *Server) Set(settings ...string) error {
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n" + strings.Join(settings, "\n") + "\n")
	return errors.Join(err, f.Close())
}

// Follow starts a standby that replicates the server.
func (s *Server) Follow(t testing.TB) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg")
	require.NoError(t, err)
	standby := &Server{dir: dir, bin: s.bin}
	t.Cleanup(standby.Stop)
	require.NoError(t, standby.settle())
	require.NoError(t, standby.run("pg_basebackup", "-D", standby.data(), "-R", "-X", "stream", "-c", "fast", "-d", s.url))
	require.NoError(t, standby.startAt())
	return standby
}

// Promote makes a standby a primary server.
func (s *Server) Promote() error { return s.run("pg_ctl", "-D", s.data(), "-w", "-t", "60", "promote") }

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Port returns the port that the server listens at.
func (s *Server) Port() int { return s.port }

// Start starts a server that was ended, and waits until it answers.
func (s *Server) Start() error {
	return s.run("pg_ctl", "-D", s.data(), "-w", "-t", "60", "-l", s.log(), "start")
}

// End ends the server in a mode of pg_ctl: smart, fast or immediate, which is as if it were killed.
func (s *Server) End(mode string) error {
	return s.run("pg_ctl", "-D", s.data(), "-w", "-t", "60", "-m", mode, "stop")
}

// BecomeStandby restarts the server as the standby of a primary that does not exist.
func (s *Server) BecomeStandby() error {
	if err := s.End("fast"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.data(), "standby.signal"), nil, 0o644); err != nil {
		return err
	}
	return s.Start()
}

// Stop ends the server and removes its files.
func (s *Server) Stop() {
	if s.dir == "" {
		return
	}
	_ = s.End("immediate") // it may have ended already
	_ = os.RemoveAll(s.dir)
}

func (s *Server) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir = s.dir
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivilegedID, Gid: unprivilegedID}}
	}
	out, err := os.CreateTemp(s.dir, "out")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(out.Name()) }()
	cmd.Stdout, cmd.Stderr = out, out // a file: the server that pg_ctl starts would hold a pipe open
	err = errors.Join(cmd.Run(), out.Close())
	if err == nil {
		return nil
	}
	said, _ := os.ReadFile(out.Name())
	return fmt.Errorf("%s: %w: %s", program, err, said)
}

// Package hosts runs real coding agents from npm, each headless in a fresh home, against a model that plays a script. It
// shows for each host what waybill can do in it, and the table in docs/hosts.md is what the run saw.
//
// A test here says nothing about a language model: the script stands for one that does as it is told.
package hosts_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/test/fakemodel"
	"waybill/test/shipped"
	"waybill/test/slow"
)

// npm is the folder in which npm installs the hosts.
const npm = "testdata/npm"

// patience bounds every wait. No test passes or fails by how fast a host is.
const patience = 3 * time.Minute

// binaries is the folder for the program, for as long as the tests run.
var binaries string

// build builds the program once and returns its path.
var build = sync.OnceValues(func() (string, error) { return shipped.Build(binaries) })

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "waybill-hosts-")
	if err != nil {
		panic(err)
	}
	binaries = folder
	_ = flag.Set("test.parallel", "3") // hosts wait for one another's processors, and for disks; the command line overrides it
	code := m.Run()
	_ = os.RemoveAll(folder) // a folder for temporary files
	os.Exit(code)
}

// A place is a fresh home with a workspace, and one host that works there.
type place struct {
	t               *testing.T
	host            host
	program         []string // the command of the host, without arguments
	home, workspace string
	waybill         string // the program, at a path that no other place has
	model           *fakemodel.Model
}

// newPlace makes a home in which the host talks to the model. Without the host, the test is skipped.
func newPlace(t *testing.T, h host, script func(fakemodel.Request) fakemodel.Answer) *place {
	t.Helper()
	slow.Test(t)
	p := &place{t: t, host: h, program: h.installed(t), model: fakemodel.New(t, script)}
	binary, err := build()
	require.NoError(t, err)
	root, err := os.MkdirTemp("", "waybill-host-") // t.TempDir would fail the test for a file that a dying host still writes
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	t.Cleanup(p.reap)
	p.home, p.workspace, p.waybill = filepath.Join(root, "home"), filepath.Join(root, "work"), filepath.Join(root, "bin", "waybill")
	for _, dir := range []string{p.home, p.workspace, filepath.Dir(p.waybill)} {
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
	require.NoError(t, os.Link(binary, p.waybill))
	p.write("work/tasks.md", "- [ ] 1. "+item+"\n  - **Review:** none\n")
	p.must("git", "init", "--quiet")
	h.configure(p)
	return p
}

// write writes a file below the folder that has the home and the workspace.
func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(filepath.Dir(p.home), name)
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(p.t, os.WriteFile(path, []byte(text), 0o600))
}

// writeJSON writes a value as a file, as write does.
func (p *place) writeJSON(name string, v any) {
	p.t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	require.NoError(p.t, err)
	p.write(name, string(text)+"\n")
}

// command returns a command in the workspace that knows nothing but this home. The settings of the person who runs the
// tests stay outside.
func (p *place) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	p.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.WaitDelay = p.workspace, time.Second
	cmd.Env = []string{
		"HOME=" + p.home, "PATH=" + filepath.Dir(p.waybill) + ":" + os.Getenv("PATH"), "PWD=" + p.workspace,
		"LANG=C.UTF-8", "TERM=dumb", "TMPDIR=" + filepath.Dir(p.home),
	}
	cmd.Env = append(cmd.Env, p.host.env(p.model)...)
	return cmd
}

// must runs a command, which must succeed, and returns what it printed on both outputs.
func (p *place) must(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	require.NoError(p.t, err, "%s\n%s", strings.Join(args, " "), out)
	return string(out)
}

// run runs the host with a prompt until it ends, and returns what it printed.
func (p *place) run(prompt string) string {
	p.t.Helper()
	return p.must(append(p.program, p.host.prompt(prompt)...)...)
}

// call calls a method of waybill and decodes its result into v.
func (p *place) call(method, params string, v any) {
	p.t.Helper()
	out := p.must(p.waybill, "call", method, params)
	if v != nil {
		require.NoError(p.t, json.Unmarshal([]byte(out), v), out)
	}
}

// processes returns the processes of this home whose command line contains the text.
func (p *place) processes(text string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	require.NoError(p.t, err)
	for _, entry := range entries {
		folder := filepath.Join("/proc", entry.Name())
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil || !bytes.Contains(environment, []byte("HOME="+p.home+"\x00")) {
			continue // no process, one of another user, or one that has gone
		}
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // a link such as self
		}
		if line, err := os.ReadFile(filepath.Join(folder, "cmdline")); err == nil && bytes.Contains(line, []byte(text)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone waits until a process has ended, which is no child of this one. It reports whether that came in time.
func gone(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return true // no such process
	}
	defer func() { _ = unix.Close(fd) }()
	for deadline := time.Now().Add(patience); ; {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(time.Until(deadline).Milliseconds()))
		if err != unix.EINTR {
			return n == 1
		}
	}
}

// reap ends the processes that the host has left behind. Some hosts leave a daemon.
func (p *place) reap() {
	for _, pid := range p.processes("") {
		_ = unix.Kill(pid, unix.SIGKILL)
		gone(pid)
	}
}

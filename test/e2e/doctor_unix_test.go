//go:build unix

package e2e_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/test/slow"
)

// doctor asks the doctor of a world, and returns what it says.
func (w world) doctor(t *testing.T, args ...string) string {
	t.Helper()
	out, err := w.command(t, append([]string{"doctor"}, args...)...).Output()
	if _, ended := errors.AsType[*exec.ExitError](err); !ended {
		require.NoError(t, err)
	}
	return string(out)
}

// TestDoctorLeavesLivingServersAlone: the port file of a server stays as long as anything speaks for the server: its
// process, even one that was stopped, or an answer, even if no process of that id is to be seen.
func TestDoctorLeavesLivingServersAlone(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	w := newWorld(t)
	p := w.serve(t, "--http")
	p.must("get_status", "{}", nil)
	c := w.portFile(t)
	own := filepath.Join(filepath.Dir(c.path), "http-"+strconv.Itoa(c.PID)+".json")
	said := w.doctor(t, "--fix")
	require.Contains(t, said, "ok    doors        1 server answered")
	require.NotContains(t, said, "done  doors")

	far := filepath.Join(filepath.Dir(c.path), "http-2147483646.json")
	text, err := os.ReadFile(own)
	require.NoError(t, err)
	text = []byte(strings.Replace(string(text), `"pid":`+strconv.Itoa(c.PID), `"pid":2147483646`, 1))
	require.NoError(t, os.WriteFile(far, text, 0o600))
	require.Contains(t, w.doctor(t, "--fix"), "ok    doors        2 servers answered")
	require.FileExists(t, far, "it may be in another container")

	require.NoError(t, os.Remove(far))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGSTOP))
	said = w.doctor(t, "--fix")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGCONT))
	require.Contains(t, said, "process "+strconv.Itoa(c.PID)+" is there and does not answer")
	require.FileExists(t, own)
	require.FileExists(t, c.path)
	c.ask(200, "GET", "/api/status", "", nil)
}

// TestDoctorRemovesWhatAKilledServerLeft: and says so.
func TestDoctorRemovesWhatAKilledServerLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(t, "--http")
	p.must("get_status", "{}", nil)
	c := w.portFile(t)
	require.NoError(t, p.cmd.Process.Kill())
	p.end()
	said := w.doctor(t)
	require.Contains(t, said, "warn  doors        http.json names process "+strconv.Itoa(c.PID)+", which is gone")
	require.FileExists(t, c.path)
	said = w.doctor(t, "--fix")
	require.Contains(t, said, "done  doors        "+c.path+" was removed")
	require.Contains(t, said, "ok    doors        no server with HTTP runs")
	require.NoFileExists(t, c.path)
}

// TestDoctorMendsNoStoreInUse: the reserve waits until nobody has the store open, and who has it open is told.
func TestDoctorMendsNoStoreInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(t)
	p.must("queue_instruction", `{"content":"x"}`, nil)
	stores, err := filepath.Glob(filepath.Join(w.state, "waybill", "*", "store.db"))
	require.NoError(t, err)
	require.Len(t, stores, 1)
	require.NoError(t, os.Remove(stores[0]+".reserve"))
	said := w.doctor(t, "--fix")
	require.Contains(t, said, "left  reserve      other processes have the store open")
	require.Contains(t, said, "ok    processes    1 other process of the same version has the store open")
	require.NoFileExists(t, stores[0]+".reserve")
	p.must("queue_instruction", `{"content":"y"}`, nil)

	require.NoError(t, p.in.Close())
	require.Zero(t, p.end())
	require.Contains(t, w.doctor(t, "--fix"), "done  reserve      space is held back again")
	require.FileExists(t, stores[0]+".reserve")
}

// TestDoctorOfAnotherFolder: the state was made for a folder that another one has taken the place of.
func TestDoctorOfAnotherFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.command(t, "call", "queue_instruction", `{"content":"x"}`).Run())
	require.Contains(t, w.doctor(t), "ok    identity")
	require.NoError(t, os.Rename(w.workspace, w.workspace+"-before"))
	require.NoError(t, os.CopyFS(w.workspace, os.DirFS("examples/workspace")))
	for range 2 { // to look does not make it the one that is known
		require.Contains(t, w.doctor(t), "warn  identity     "+w.workspace+" was replaced by another folder")
	}
}

// TestDoctorOfPlansAndSurroundings: plans that cannot be read, variables that mean nothing, other programs of the
// name, and a way of watching that was asked for.
func TestDoctorOfPlansAndSurroundings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said := w.doctor(t)
	require.Contains(t, said, "ok    watcher      the system reports changes")
	require.NotContains(t, said, "warn  plans")
	require.NotContains(t, said, "WAYBILL_POL;")

	odd := filepath.Join(w.workspace, "specs", "odd")
	require.NoError(t, os.MkdirAll(odd, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(odd, "tasks.md"), []byte("- [ ] 1. One\n- [ ] 2. Two\n- [ ] 3. Three\n- [ ] no id\n"), 0o600))
	large := filepath.Join(w.workspace, "specs", "large")
	require.NoError(t, os.MkdirAll(large, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(large, "tasks.md"), []byte("- [ ] 1. One\n"), 0o600))
	require.NoError(t, os.Truncate(filepath.Join(large, "tasks.md"), 9<<20))
	bin := t.TempDir()
	writeProgram(t, filepath.Join(bin, "waybill"), "#!/bin/sh\nexit 1\n")

	cmd := w.command(t, "doctor")
	cmd.Env = append(cmd.Env, "WAYBILL_POLL=true", "WAYBILL_POL=1", "PATH="+bin)
	out, err := cmd.Output()
	require.NoError(t, err)
	said = string(out)
	require.Contains(t, said, "warn  plans        specs/large/tasks.md cannot be read: ")
	require.Contains(t, said, "warn  plans        specs/odd/tasks.md has 0 errors and 1 warning, such as: line 4: ")
	require.Contains(t, said, "ok    watcher      the mode is polling, from the settings")
	require.Contains(t, said, "warn  environment  waybill does not know WAYBILL_POL; did you mean WAYBILL_POLL")
	require.Contains(t, said, "1 of 1 programs named waybill in PATH are different ones: "+filepath.Join(bin, "waybill"))
}

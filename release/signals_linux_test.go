package main

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// signalCounter is a program that counts the interruptions and hang-ups that it gets, and ends with the count on SIGTERM.
const signalCounter = `#!/usr/bin/env node
let signals = 0;
for (const name of ["SIGINT", "SIGHUP"]) {
  process.on(name, () => console.log(name, ++signals));
}
process.on("SIGTERM", () => process.exit(40 + signals));
setInterval(() => {}, 1 << 30);
console.log("ready");
`

// Ctrl-C reached the program twice, from the terminal and from the launcher, and the second one killed it before it had
// ended its work.
func TestCtrlCUnderTheLauncherIsNotDoubled(t *testing.T) {
	needs(t, "node")
	t.Parallel()
	root := t.TempDir()
	starter := filepath.Join(root, "node_modules", name, "bin", "waybill.js")
	program := filepath.Join(root, "node_modules", npmName("linux", runtime.GOARCH), "bin", name)
	for path, text := range map[string][]byte{starter: launcher, program: []byte(signalCounter)} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", starter)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	expect := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("the program printed %q, want %q; %v", lines.Text(), want, lines.Err())
		}
	}
	send := func(pid int, signal syscall.Signal) {
		t.Helper()
		if err := syscall.Kill(pid, signal); err != nil {
			t.Fatal(err)
		}
	}
	expect("ready")
	send(-cmd.Process.Pid, syscall.SIGINT)
	expect("SIGINT 1")
	send(-cmd.Process.Pid, syscall.SIGHUP)
	expect("SIGHUP 2")
	send(cmd.Process.Pid, syscall.SIGTERM) // comes after what the launcher has sent on before
	for lines.Scan() {
		t.Errorf("the program got another signal: %s", lines.Text())
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 42 {
		t.Errorf("the launcher ended with %d, want 42, the code of the program", code)
	}
}

// dash, which is sh on Debian, runs no trap for EXIT when a signal ends it, so each interruption left a folder.
func TestInterruptedScriptLeavesNoFolder(t *testing.T) {
	m := theRelease(t)
	needs(t, "curl")
	t.Parallel()
	asked, done := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-done
	}))
	defer server.Close()
	defer close(done)
	temp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(m.folder, "dist", "install.sh"))
	cmd.Env = append(os.Environ(), "WAYBILL_DOWNLOAD="+server.URL, "PREFIX="+t.TempDir(), "TMPDIR="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("an interrupted installation was a success")
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("the script has left %v", left)
	}
}

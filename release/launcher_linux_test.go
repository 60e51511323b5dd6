package main

import (
	"bufio"
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

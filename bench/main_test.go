package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"go.uber.org/goleak"
)

// childRole, set in the environment, makes the test binary be one of the programs that waybill is
// measured against.
const childRole = "WAYBILL_BENCH_CHILD"

// programs are the paths of the programs that are measured. TestMain sets them, nobody changes them.
var programs struct{ waybill, emptyServer string }

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		contenders[role](os.Stdin, os.Stdout)
		return
	}
	flag.Parse()
	os.Exit(run(m))
}

// run builds what is measured, the way it is shipped, and only if something is.
func run(m *testing.M) int {
	if flag.Lookup("test.bench").Value.String() != "" {
		dir, err := os.MkdirTemp("", "waybill-bench-")
		if err == nil {
			defer func() { _ = os.RemoveAll(dir) }()
			programs.waybill, err = build("..", filepath.Join(dir, "waybill"))
		}
		if err == nil {
			programs.emptyServer, err = build("testdata/emptyserver", filepath.Join(dir, "emptyserver"))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// build compiles the main package in the folder source with the versions that the go.mod of its module names, and
// returns the path of the program.
func build(source, path string) (string, error) {
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", source, err, out)
	}
	return path, writtenAgain(path)
}

// writtenAgain writes a program once more, as an installation does: its pages are cheaper to map than those that the linker wrote.
func writtenAgain(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o700)
}

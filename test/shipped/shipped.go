// Package shipped builds the program for tests that run it as users get it: static, and without the race detector.
package shipped

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build builds the program into a folder and returns its path.
func Build(folder string) (string, error) {
	cmd := exec.Command("go", "build", "-trimpath", "-o", folder, "waybill")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build waybill: %w\n%s", err, out)
	}
	return filepath.Join(folder, "waybill"), nil
}

package hostconfig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"waybill/internal/lazyregexp"
)

// Program returns the absolute path under which hosts should start this program. If the shell finds the same file,
// that name is used, because it survives an update. A program of `go run` is an error, because its file is temporary.
func Program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the path of this program: %w", err)
	}
	return program(path, exec.LookPath)
}

func program(path string, look func(string) (string, error)) (string, error) {
	own, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("the file of this program was moved or removed: %w", err)
	}
	if temporary(path) {
		return "", errors.New("this program was started by `go run`, which deletes its file: build it, and start that file")
	}
	if found, err := look(strings.TrimSuffix(filepath.Base(path), ".exe")); err == nil && filepath.IsAbs(found) {
		if info, err := os.Stat(found); err == nil && os.SameFile(own, info) {
			return found, nil
		}
	}
	return filepath.Abs(path)
}

// scratch matches the folders of the go command for temporary programs.
var scratch = lazyregexp.New(`^go-build[0-9]*$`)

// temporary reports whether a path has such a folder.
func temporary(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), scratch.Compiled().MatchString)
}

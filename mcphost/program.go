package mcphost

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Program gives the absolute path under which hosts should start this program: the one that the shell finds, if it
// is the same file, because that is the name which an update keeps; or else where the file is. A program that
// `go run` has made is refused, because its file is gone when it ends.
func Program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find out where this program lies: %w", err)
	}
	return program(path, exec.LookPath)
}

func program(path string, look func(string) (string, error)) (string, error) {
	own, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("this program is not where it was started from any more: %w", err)
	}
	if temporary(path) {
		return "", errors.New("this program was started by `go run`, and its file will be gone: build it, and start that")
	}
	if found, err := look(strings.TrimSuffix(filepath.Base(path), ".exe")); err == nil && filepath.IsAbs(found) {
		if info, err := os.Stat(found); err == nil && os.SameFile(own, info) {
			return found, nil
		}
	}
	return filepath.Abs(path)
}

// scratch is a folder in which the go command puts what it runs at once: that of one call, or its cache.
var scratch = regexp.MustCompile(`^go-build[0-9]*$`)

// temporary reports whether a path has such a folder.
func temporary(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), scratch.MatchString)
}

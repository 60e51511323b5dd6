package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inTar returns the content of one file in a compressed tar file.
func inTar(t *testing.T, packed []byte, name string) string {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	for from := tar.NewReader(unpacked); ; {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			t.Fatalf("no file is named %s", name)
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Name == name {
			data, err := io.ReadAll(from)
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
	}
}

// copyOfSource copies the files that git knows, or would add, to a new folder.
func copyOfSource(t *testing.T, root string) string {
	t.Helper()
	out, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	for line := range strings.Lines(string(out)) {
		path := strings.TrimSuffix(line, "\n")
		data, err := os.ReadFile(filepath.Join(root, path))
		if errors.Is(err, os.ErrNotExist) || strings.HasPrefix(path, `"`) {
			continue // removed and not yet committed, or a name in git's quotes, which tests have
		}
		if err != nil {
			t.Fatal(err)
		}
		target := filepath.Join(to, path)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

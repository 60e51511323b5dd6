// Package golden compares the output of a test with a committed file.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Update reports whether the flag -update is set, which makes the functions write files instead of comparing.
func Update() bool { return *update }

var update = flag.Bool("update", false, "write the golden and generated files instead of comparing with them")

// Equal compares a text with the file of that name below testdata.
func Equal(t testing.TB, name, got string) {
	t.Helper()
	File(t, filepath.Join("testdata", filepath.FromSlash(name)), got)
}

// File compares a text with the file at path.
func File(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	require.Equal(t, read(t, path), got, "%s; if the change is meant, run the test with -update and review the diff", path)
}

// Parts compares texts with the parts of a document that stand between "<!-- generated: name -->" and "<!-- end -->".
func Parts(t testing.TB, path string, parts map[string]string) {
	t.Helper()
	got := read(t, path)
	for name, text := range parts {
		part := regexp.MustCompile(`(?s)(<!-- generated: ` + name + ` -->\n).*?(<!-- end -->)`)
		require.Len(t, part.FindAllString(got, -1), 1, "%s has one place for %s", path, name)
		got = part.ReplaceAllString(got, "${1}"+strings.ReplaceAll(text, "$", "$$")+"${2}")
	}
	File(t, path, got)
}

// read returns a file with the line ends of the repository, which Git may have changed.
func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to write it")
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

package hostconfig_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/hostconfig"
	"waybill/hostconfig/notation"
	"waybill/test/golden"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entry is what all tests install.
var entry = hostconfig.Entry{Name: "waybill", Command: "/usr/local/bin/waybill", Args: []string{"mcp"}}

func change(t testing.TB, host string) hostconfig.Change {
	t.Helper()
	h, ok := hostconfig.Named(host)
	require.True(t, ok, host)
	return hostconfig.Change{Host: h, Entry: entry}
}

// TestEdits plays the files of testdata. The comment of each has words: the host; then crlf, bom or open for
// a text with such line ends, with a byte order mark, or without a last end of line; force; project; kept for one that
// is not the same when the entry is taken out again; and remove where nothing is to be done but that. The file `before`
// becomes `after`, or there is an `error`.
func TestEdits(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			archive := txtar.Parse([]byte(strings.ReplaceAll(string(raw), "\r\n", "\n")))
			play(t, archive)
			if golden.Update() {
				require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
			}
		})
	}
}

func play(t *testing.T, archive *txtar.Archive) {
	words := strings.Fields(string(archive.Comment))
	require.NotEmpty(t, words, "the comment names a host")
	has := func(word string) bool { return slices.Contains(words[1:], word) }
	dress := func(text string) string {
		if has("open") {
			text = strings.TrimSuffix(text, "\n")
		}
		if has("crlf") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if has("bom") {
			text = "\ufeff" + text
		}
		return text
	}
	c := change(t, words[0])
	c.Force, c.Remove = has("force"), has("remove")
	if has("project") {
		c.Project = "/srv/shop"
	}
	require.Len(t, archive.Files, 2)
	require.Equal(t, "before", archive.Files[0].Name)
	before, want := dress(string(archive.Files[0].Data)), &archive.Files[1]
	got, _, _, err := c.Edit(&before)
	if err != nil {
		compare(t, want, "error", err.Error()+"\n")
		return
	}
	compare(t, want, "after", undress(got))
	require.Equal(t, dress(string(want.Data)), got)
	if c.Remove {
		return
	}
	same, action, _, err := c.Edit(&got)
	require.NoError(t, err)
	require.Equal(t, got, same)
	require.Equal(t, notation.Unchanged, action)
	c.Remove = true
	rest, action, gone, err := c.Edit(&got)
	require.NoError(t, err)
	require.Equal(t, notation.Removed, action)
	require.False(t, gone)
	if !has("kept") {
		require.Equal(t, before, rest, "taken out again")
	}
}

// undress returns a text as an archive can hold it.
func undress(text string) string {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

func compare(t *testing.T, want *txtar.File, name, got string) {
	t.Helper()
	if golden.Update() {
		want.Name, want.Data = name, []byte(got)
	}
	require.Equal(t, name, want.Name)
	require.Equal(t, string(want.Data), got, "run the test with -update, and read what it writes")
}

// A file that was made for the entry is removed with it. An empty file becomes empty again.
func TestFileMadeForTheEntryIsRemovedWithIt(t *testing.T) {
	for _, host := range hostconfig.Hosts() {
		for _, before := range []*string{nil, ptr(""), ptr("\n"), ptr(" \r\n \r\n"), ptr("\ufeff")} {
			c := change(t, host.Name)
			text, action, _, err := c.Edit(before)
			require.NoError(t, err, host.Name)
			require.Equal(t, notation.Added, action)
			c.Remove = true
			rest, _, gone, err := c.Edit(&text)
			require.NoError(t, err)
			require.Equal(t, before == nil, gone, "%s %q", host.Name, text)
			if before != nil {
				require.Equal(t, *before, rest, host.Name)
			}
		}
	}
}

func ptr(s string) *string { return &s }

// A snippet is what a new file would be.
func TestSnippetsAreFiles(t *testing.T) {
	for _, host := range hostconfig.Hosts() {
		snippet, err := host.Snippet(entry)
		require.NoError(t, err)
		text, _, _, err := change(t, host.Name).Edit(nil)
		require.NoError(t, err)
		require.Equal(t, text, snippet)
	}
}

// No character of a path or an argument ends a string.
func TestStringsAreQuoted(t *testing.T) {
	for _, host := range hostconfig.Hosts() {
		for _, before := range []*string{nil, ptr("")} {
			c := change(t, host.Name)
			c.Entry = hostconfig.Entry{
				Name: "w", Command: `C:\Program Files\way"bill.exe`,
				Args: []string{"mcp", "<&>", "a\nb\x7f\x1b", "--workspace=/ä/\u2028"},
			}
			text, _, _, err := c.Edit(before)
			require.NoError(t, err)
			_, action, _, err := c.Edit(&text) // it reads what it has written
			require.NoError(t, err)
			require.Equal(t, notation.Unchanged, action, text)
			require.NotContains(t, text, "\x1b")
		}
	}
}

// A parser that recurses for each bracket would end the process.
func TestDeepTextIsRefused(t *testing.T) {
	deep := `{"a": ` + strings.Repeat("[", 1<<19)
	_, _, _, err := change(t, "cursor").Edit(&deep)
	require.ErrorContains(t, err, "nests brackets too deeply")
}

func TestInvalidEntriesAreRefused(t *testing.T) {
	for _, e := range []hostconfig.Entry{
		{Name: ""},
		{Name: "a.b"},
		{Name: "a b"},
		{Name: strings.Repeat("a", 33)},
		{Name: "a", Command: "\xff"},
		{Name: "a", Args: []string{"\xff"}},
	} {
		_, err := hostconfig.Hosts()[0].Snippet(e)
		require.Error(t, err, "%q", e)
		_, err = hostconfig.Change{Host: hostconfig.Hosts()[0], File: filepath.Join(t.TempDir(), "f"), Entry: e}.Apply(t.Context())
		require.Error(t, err, "%q", e)
	}
}

package mcphost_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"github.com/tailscale/hujson"
)

// seed adds the texts of testdata of some hosts.
func seed(f *testing.F, hosts ...string) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		archive := txtar.Parse(raw)
		for _, host := range hosts {
			if strings.HasPrefix(string(archive.Comment), host) {
				for _, part := range archive.Files {
					f.Add(string(part.Data))
				}
			}
		}
	}
}

// there checks what holds for every text into which an entry was put: the bytes that were there are there still, in
// their order; a second time changes nothing; and taken out again, the entry leaves the text as it was.
func there(t *testing.T, host, before string) {
	c := change(t, host)
	after, action, _, err := c.Edit(&before)
	if err != nil || action != "added" {
		return // it is broken, or has an entry of that name
	}
	require.True(t, subsequence(before, after), "%q\n%q", before, after)
	again, action, _, err := c.Edit(&after)
	require.NoError(t, err, "%q", after)
	require.EqualValues(t, "unchanged", action)
	require.Equal(t, after, again)
	c.Remove = true
	rest, _, gone, err := c.Edit(&after)
	require.NoError(t, err, "%q", after)
	require.False(t, gone, "%q\n%q", before, after)
	require.Equal(t, before, rest, "%q", after)
}

// subsequence reports whether the second text is the first one with something added.
func subsequence(part, whole string) bool {
	i := 0
	for j := 0; j < len(whole) && i < len(part); j++ {
		if part[i] == whole[j] {
			i++
		}
	}
	return i == len(part)
}

func FuzzInstallIntoJSON(f *testing.F) {
	seed(f, "claude-code", "cursor", "zed", "vscode", "gemini", "opencode")
	f.Add("{\"a\":1 // \r\n}")
	f.Add("{\"mcpServers\":{ }}")
	f.Add("{\"mcpServers\":{\"waybill\":{} , /**/}}")
	f.Fuzz(func(t *testing.T, text string) {
		there(t, "cursor", text)
		there(t, "opencode", text)
		taken(t, "cursor", text)
	})
}

func FuzzInstallIntoTOML(f *testing.F) {
	seed(f, "codex")
	f.Add("a=1\r\n\r\n")
	f.Add("[[mcp_servers.waybill]]\n")
	f.Add("\"mcp_servers\".'waybill' . a = 1")
	f.Fuzz(func(t *testing.T, text string) {
		there(t, "codex", text)
		taken(t, "codex", text)
	})
}

// taken checks that what a text says is said without the entry, and nothing is left of it.
func taken(t *testing.T, host, before string) {
	c := change(t, host)
	c.Remove = true
	after, action, gone, err := c.Edit(&before)
	if err != nil || action != "removed" || gone {
		return
	}
	_, action, _, err = c.Edit(&after)
	require.NoError(t, err, "%q\n%q", before, after)
	require.EqualValues(t, "unchanged", action, "%q\n%q", before, after)
	if host != "codex" && len(bytes.TrimSpace([]byte(after))) > 0 {
		_, err = hujson.Parse([]byte(after[strings.Index(after, "{"):] + "\n"))
		require.NoError(t, err)
	}
}

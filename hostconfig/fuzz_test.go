package hostconfig_test

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

// moved checks that the entry of a program that has moved becomes what it would be if it had been there from the start.
func moved(t *testing.T, host, before string) {
	c := change(t, host)
	c.Entry.Command = "/old/waybill"
	old, action, _, err := c.Edit(&before)
	if err != nil || action != "added" {
		return
	}
	c = change(t, host)
	want, _, _, err := c.Edit(&before)
	require.NoError(t, err)
	got, action, _, err := c.Edit(&old)
	require.NoError(t, err, "%q", old)
	require.EqualValues(t, "updated", action)
	require.Equal(t, want, got)
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
	f.Add("{\"servers\":{\"waybill\":{/**/\"args\":[\"mcp\"],\"command\":\"waybill\"}}}")
	f.Add("{\"mcpServers\":{\"waybill\":{} , /**/}}")
	f.Fuzz(func(t *testing.T, text string) {
		there(t, "cursor", text)
		there(t, "opencode", text)
		taken(t, "cursor", text)
		moved(t, "opencode", text)
		updated(t, "vscode", text)
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
		moved(t, "codex", text)
		updated(t, "codex", text)
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

// updated checks that a text with an entry of ours that is brought up to date stays so.
func updated(t *testing.T, host, before string) {
	c := change(t, host)
	after, action, _, err := c.Edit(&before)
	if err != nil || action != "updated" {
		return
	}
	_, action, _, err = c.Edit(&after)
	require.NoError(t, err, "%q\n%q", before, after)
	require.EqualValues(t, "unchanged", action, "%q\n%q", before, after)
}

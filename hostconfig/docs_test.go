package hostconfig_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/hostconfig"
	"waybill/test/golden"
)

var document = filepath.Join("..", "docs", "hosts.md")

// What the document says about files and entries is written from what is written into them.
func TestHostsDocumentIsCurrent(t *testing.T) {
	raw, err := os.ReadFile(document)
	require.NoError(t, err)
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	parts := map[string]string{"places": placesTable(t)}
	for _, host := range hostconfig.Hosts() {
		snippet, err := host.Snippet(entry)
		require.NoError(t, err)
		language := "json"
		if host.Name == "codex" {
			language = "toml"
		}
		parts[host.Name] = "```" + language + "\n" + snippet + "```\n"
		require.Contains(t, text, "\n## "+host.Title+"\n\n    waybill mcp install "+host.Name+"\n")
	}
	golden.Parts(t, document, parts)
}

// placesTable has a row for each host.
func placesTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| host | yours | with `--project` | key |\n|---|---|---|---|\n")
	for _, host := range hostconfig.Hosts() {
		var yours []string
		for _, system := range []struct{ goos, title string }{{"linux", ""}, {"darwin", "macOS"}, {"windows", "Windows"}} {
			file := fileIn(t, host, system.goos)
			switch {
			case system.goos == "linux":
				yours = append(yours, "`"+file+"`")
			case "`"+file+"`" != yours[0]:
				yours = append(yours, "on "+system.title+" `"+file+"`")
			}
		}
		snippet, err := host.Snippet(entry)
		require.NoError(t, err)
		key := regexp.MustCompile(`^\W*(\w+)`).FindStringSubmatch(snippet)[1]
		fmt.Fprintf(&b, "| %s (`%s`) | %s | `%s` | `%s` |\n", host.Title, host.Name, strings.Join(yours, ", "), projectFile(t, host), key)
	}
	return b.String()
}

func fileIn(t *testing.T, host hostconfig.Host, goos string) string {
	places := home(t, goos, nil)
	file, err := host.File(places)
	require.NoError(t, err)
	return "~" + filepath.ToSlash(strings.TrimPrefix(file, places.Home))
}

func projectFile(t *testing.T, host hostconfig.Host) string {
	project := t.TempDir()
	file, err := host.File(hostconfig.Places{Project: project})
	require.NoError(t, err)
	return strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(file, project)), "/")
}

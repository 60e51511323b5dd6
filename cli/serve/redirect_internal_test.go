package serve

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/cli/endpoint"
)

// These tests are inside as those of the command that writes the files are.

// led returns where a browser is led that is started with a command.
func led(t *testing.T, command []string) *url.URL {
	t.Helper()
	at, err := url.Parse(command[len(command)-1])
	require.NoError(t, err)
	require.Equal(t, "file", at.Scheme)
	path := at.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // before the drive
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), `<meta http-equiv="refresh" content="0;url=`)
	require.True(t, found, "%s", text)
	address, _, found := strings.Cut(rest, `"`)
	require.True(t, found)
	link, err := url.Parse(html.UnescapeString(address))
	require.NoError(t, err)
	return link
}

// TestFaultW5_CommandHasNoCode: everybody on the machine can read what a program is started with, and until the page is
// there the code would let them in. So it is in a file that nobody else can read, and that does not stay.
func TestFaultW5_CommandHasNoCode(t *testing.T) {
	root, state := t.TempDir(), t.TempDir()
	started := make(chan []string, 1)
	start := func(_ context.Context, command []string) error {
		started <- command
		return nil
	}
	alone := newTerminal(t, root, state)
	end := alone.begin(start)
	link, command := alone.link(), <-started
	require.Equal(t, link, led(t, command))
	code := strings.TrimPrefix(link.Fragment, "c=")
	require.Len(t, code, 64)
	text, err := os.ReadFile(alone.portFile())
	require.NoError(t, err)
	door := new(endpoint.Endpoint)
	require.NoError(t, json.Unmarshal(text, door))
	for _, word := range command {
		require.NotContains(t, word, code)
		require.NotContains(t, word, door.Token)
	}
	signposts := func() []string {
		found, err := filepath.Glob(filepath.Join(alone.folder(), "waybill-open-*.html"))
		require.NoError(t, err)
		return found
	}
	first := signposts()
	require.Len(t, first, 1)
	if runtime.GOOS != "windows" { // where the folder is private by its access list
		info, err := os.Stat(first[0])
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	text, err = os.ReadFile(first[0])
	require.NoError(t, err)
	require.NotContains(t, string(text), door.Token)
	require.Equal(t, http.StatusOK, enter(t, link))

	again := newTerminal(t, root, state)
	require.NoError(t, again.ui(t.Context(), false, nil, start))
	<-started
	require.Subset(t, signposts(), first, "it may not have been read yet")
	old := time.Now().Add(-2 * time.Minute) // the code in it counts for one
	require.NoError(t, os.Chtimes(first[0], old, old))
	require.NoError(t, again.ui(t.Context(), false, nil, start))
	<-started
	require.NotContains(t, signposts(), first[0])
	require.Len(t, signposts(), 2)
	require.NoError(t, end())
	require.Empty(t, signposts())
}

package doctor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/cli/endpoint"
	"waybill/doctor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What follows is inside because it is about what the doctor gathers: which process has an id, who answers at an
// address, and how old a file is cannot be arranged from the front.

// nobody is the id of a process that there is not.
const nobody = 1<<31 - 2

// plantDoor writes a port file, as a server does.
func plantDoor(t *testing.T, folder, name string, pid int, url string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	text, err := json.Marshal(endpoint.Endpoint{URL: url, Token: "t", PID: pid})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// deaf is an address of this machine at which nobody answers.
func deaf(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	return server.URL
}

func healthy(t *testing.T, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" || r.Header.Get("Authorization") != "" {
			http.Error(w, "the token is shown to nobody", http.StatusForbidden)
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestDoors(t *testing.T) {
	self := os.Getpid()
	for name, c := range map[string]struct {
		pid   int
		url   func(t *testing.T) string
		peers []doctor.Peer
		gone  bool
	}{
		"dead":                               {nobody, deaf, nil, true},
		"dead, and a stranger has the port":  {nobody, func(t *testing.T) string { return healthy(t, `{"hello":1}`) }, nil, true},
		"answers from another container":     {nobody, func(t *testing.T) string { return healthy(t, `{"ok":true}`) }, nil, false},
		"has the store in another container": {nobody, deaf, []doctor.Peer{{PID: nobody}}, false},
		"hangs":                              {self, deaf, nil, false},
		"lives":                              {self, func(t *testing.T) string { return healthy(t, `{"ok":true}`) }, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := plantDoor(t, folder, fmt.Sprintf("http-%d.json", c.pid), c.pid, c.url(t))
			doors := doorFacts(t.Context(), folder, c.peers)
			require.Len(t, doors, 1)
			require.False(t, doors[0].Opaque)
			require.Equal(t, c.pid, doors[0].PID)
			require.Equal(t, c.gone, doctor.Gone(doors[0]), "%+v", doors[0])
			require.FileExists(t, path, "to look removes nothing")

			err := removeDoor(t.Context(), path, c.peers)
			if c.gone {
				require.NoError(t, err)
				require.NoFileExists(t, path)
				return
			}
			require.ErrorContains(t, err, "left alone")
			require.FileExists(t, path)
		})
	}
}

// TestDoorOfAnotherWithTheSameID: our own process began after the file was written, so that the id was given twice.
func TestDoorOfAnotherWithTheSameID(t *testing.T) {
	if _, known := endpoint.Born(os.Getpid()); !known {
		t.Skip("it is not known here when a process began")
	}
	folder := t.TempDir()
	path := plantDoor(t, folder, fmt.Sprintf("http-%d.json", os.Getpid()), os.Getpid(), deaf(t))
	require.False(t, doctor.Gone(doorFacts(t.Context(), folder, nil)[0]), "it is as old as the file")
	before := time.Now().Add(-24 * 365 * time.Hour)
	require.NoError(t, os.Chtimes(path, before, before))
	require.True(t, doctor.Gone(doorFacts(t.Context(), folder, nil)[0]))
}

// TestDoorsThatAreNone: what waybill has not written is told and never removed.
func TestDoorsThatAreNone(t *testing.T) {
	folder := t.TempDir()
	plantDoor(t, folder, "http-8.json", 7, deaf(t))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "http.json"), []byte("a letter"), 0o600))
	plantDoor(t, folder, "http-far.json", 7, deaf(t))
	plantDoor(t, folder, "http-9.json", 9, "http://example.com:80")
	doors := doorFacts(t.Context(), folder, nil)
	require.Len(t, doors, 3, "http-far.json is the name of no door")
	for _, d := range doors {
		require.True(t, d.Opaque, "%+v", d)
		require.Error(t, removeDoor(t.Context(), d.Path, nil))
		require.FileExists(t, d.Path)
	}
	require.Empty(t, doorFacts(t.Context(), filepath.Join(folder, "none"), nil))
}

// No command named the texts that somebody saved while an item was set, and that waybill kept.
func TestTextsThatWereSavedAreFoundBesidePlans(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	write := func(name string) string {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("- [ ] 1. a\n"), 0o600))
		return path
	}
	saved := ".waybill-" + strings.Repeat("A", 26) + ".saved"
	want := []string{write(saved), write("folder/" + saved), write("one/" + saved)}
	for _, name := range []string{"tasks.md", "one/tasks.md", "folder/1.md", ".waybill-A.saved", "elsewhere/" + saved} {
		write(name)
	}
	require.Equal(t, want, savedTexts(root, []string{"tasks.md", "one/tasks.md", "folder", "gone/tasks.md"}))
}

func TestLitter(t *testing.T) {
	folder := t.TempDir()
	now := time.Now()
	old := now.Add(-2 * forgotten)
	write := func(name string, at time.Time) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte("xx"), 0o600))
		require.NoError(t, os.Chtimes(path, at, at))
		return path
	}
	ours := []string{"http.json.new-123", "http-7.json.new-99", "store.db.dialects.new-5", "waybill-open-7-8.html", "workspace.json.new-4"}
	want := []doctor.Leftover{}
	for _, name := range ours {
		want = append(want, doctor.Leftover{Path: write(name, old), Bytes: 2})
	}
	for _, name := range []string{"http.json", "http.json.bak", "workspace.json", "store.db", "notes.123", "waybill-open-7-8.html.txt", "xhttp.json.new-1"} {
		write(name, old)
	}
	young := write("http.json.new-124", now)
	require.NoError(t, os.Mkdir(filepath.Join(folder, "http.json.new-125"), 0o700))
	require.NoError(t, os.Chtimes(filepath.Join(folder, "http.json.new-125"), old, old))
	require.ElementsMatch(t, want, litter(folder, now))

	require.NoError(t, removeLitter(filepath.Join(folder, "store.db"), want[0].Path))
	require.NoFileExists(t, want[0].Path)
	require.ErrorContains(t, removeLitter(filepath.Join(folder, "store.db"), young), "left alone")
	require.FileExists(t, young)
}

func TestProgramsOnPath(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	name := "waybill" + filepath.Ext(self)
	if filepath.Ext(self) == ".test" {
		name = "waybill"
	}
	dirs := map[string]string{}
	for _, dir := range []string{"same", "copied", "other", "folder", "plain"} {
		dirs[dir] = t.TempDir()
	}
	if err := os.Link(self, filepath.Join(dirs["same"], name)); err != nil {
		require.NoError(t, os.Symlink(self, filepath.Join(dirs["same"], name)))
	}
	text, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dirs["copied"], name), text, 0o700))
	text[len(text)/2] ^= 1
	require.NoError(t, os.WriteFile(filepath.Join(dirs["other"], name), text, 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dirs["folder"], name), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dirs["plain"], name+".txt"), text[:10], 0o600))
	path := ""
	for _, dir := range []string{"same", "copied", "other", "folder", "plain", "same"} {
		path += dirs[dir] + string(os.PathListSeparator)
	}
	require.Equal(t, []doctor.Installed{
		{Path: filepath.Join(dirs["same"], name), Same: true},
		{Path: filepath.Join(dirs["copied"], name), Same: true},
		{Path: filepath.Join(dirs["other"], name)},
	}, programsOn(path))
	require.Empty(t, programsOn(""))
}

func TestVariables(t *testing.T) {
	require.Equal(t, []doctor.Variable{
		{Name: "WAYBILL_CONFG", Near: "WAYBILL_CONFIG"},
		{Name: "WAYBILL_LOG", Known: true, Wrong: "is not a level such as debug, info, warn or error; debug is used"},
		{Name: "WAYBILL_MAX_OUTPUT_TOKENS", Known: true},
	}, variables([]string{"WAYBILL_MAX_OUTPUT_TOKENS=5", "HOME=/x", "WAYBILL_LOG=loud", "WAYBILL_WORKSPACE=", "WAYBILL_CONFG=/c", "XWAYBILL_X=1"}))
	require.Equal(t, []doctor.Variable{{Name: "WAYBILL_LOG", Known: true}}, variables([]string{"WAYBILL_LOG=info"}))
}

func TestStateFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	f := stateFacts(dir)
	require.True(t, f.There && f.Folder && f.Mine, "%+v", f)
	require.False(t, stateFacts(filepath.Join(dir, "none")).There)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	require.False(t, stateFacts(filepath.Join(dir, "file")).Folder)
	require.Equal(t, doctor.Folder{Modes: f.Modes}, stateFacts(""))
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err == nil {
		require.False(t, stateFacts(filepath.Join(dir, "link")).Folder)
	}
}

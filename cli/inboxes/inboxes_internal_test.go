package inboxes

// These tests are inside because what is read again, and what counts as seen, have no other front than time.

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/cli/program"
	"waybill/engine/inbox"
	"waybill/engine/workspace"
	"waybill/store/sqlite"
)

// newReader returns a Reader of the state folders below a new base.
func newReader(t *testing.T) *Reader {
	t.Helper()
	app := (&program.App{}).At("") // it logs nothing
	return &Reader{
		App: app, base: t.TempDir(), asked: map[string]chan string{}, since: func(string) int64 { return 0 }, patience: inbox.Patience,
	}
}

// loadInPeace loads until no disk seems to hang, as the disk of a busy machine may.
func (l *Reader) loadInPeace(t *testing.T) {
	t.Helper()
	for hangs := true; hangs; {
		require.NoError(t, l.Load(t.Context()))
		hangs = slices.ContainsFunc(l.inbox.Entries, func(e inbox.Entry) bool { return strings.HasPrefix(e.Text, inbox.ErrSilent.Error()) })
	}
}

// remember makes a state folder for the workspace at root.
func (l *Reader) remember(t *testing.T, id, root string) (stateDir string) {
	t.Helper()
	dir := filepath.Join(l.base, id)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "workspace.json"), []byte(`{"root":"`+root+`"}`), 0o600))
	return dir
}

// A state folder without a store has nothing that waits. Any other fault is told, because something may wait behind it.
func TestDamagedWorkspaceIsNotNothing(t *testing.T) {
	l := newReader(t)
	l.remember(t, "unused", "/w/unused")
	store := filepath.Join(l.remember(t, "circle", "/w/circle"), "store.db")
	if err := os.Symlink(store, store); err != nil {
		t.Skip(err)
	}
	for _, id := range []string{"nameless", "nameless-unused"} {
		require.NoError(t, os.WriteFile(filepath.Join(l.remember(t, id, ""), "workspace.json"), []byte("{"), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(l.base, "nameless", "store.db"), nil, 0o600))
	l.loadInPeace(t)
	require.Equal(t, 2, l.inbox.Waiting())
	nameless, circle := l.inbox.Entries[0], l.inbox.Entries[1]
	require.Equal(t, inbox.Unreadable, nameless.Kind)
	require.Equal(t, filepath.Join(l.base, "nameless"), nameless.Title)
	require.Contains(t, nameless.Text, "waybill status in the right folder records it anew")
	require.Empty(t, nameless.Next)
	require.Equal(t, inbox.Unreadable, circle.Kind)
	require.Equal(t, "/w/circle", circle.Title)
	require.Equal(t, []string{"doctor"}, circle.Next)
}

// writeStore makes an empty store.
func writeStore(t *testing.T, path string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// The cause of a failed reading may pass without a commit, so the next look reads again.
func TestFailedReadingIsReadAgain(t *testing.T) {
	l := newReader(t)
	path := filepath.Join(l.remember(t, "w", t.TempDir()), "store.db")
	writeStore(t, path)
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	before, err := os.Stat(path)
	require.NoError(t, err)
	put := func(text []byte) {
		require.NoError(t, os.WriteFile(path, text, 0o600))
		require.NoError(t, os.Chtimes(path, before.ModTime(), before.ModTime()))
		l.loadInPeace(t)
	}
	put(bytes.Repeat([]byte("no store"), len(sound)/8))
	require.Equal(t, 1, l.inbox.Waiting())
	put(sound)
	require.Empty(t, l.inbox.Entries)
}

// A folder that was put back, or taken away, changes no file of its store.
func TestFolderThatReturnsIsSeen(t *testing.T) {
	l := newReader(t)
	root := t.TempDir()
	writeStore(t, filepath.Join(l.remember(t, "w", root), "store.db"))
	for range 2 {
		l.loadInPeace(t)
		require.Empty(t, l.inbox.Gone)
		require.NoError(t, os.Rename(root, root+".away"))
		l.loadInPeace(t)
		require.Len(t, l.inbox.Gone, 1)
		require.NoError(t, os.Rename(root+".away", root))
	}
}

// A disk that hangs is waited for once, and asked again when it has answered.
func TestSilentDiskIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Reader{asked: map[string]chan string{}, patience: inbox.Patience}
		hung := make(chan string, 1)
		l.asked["hung"] = hung
		began := time.Now()
		known := []workspace.Known{{ID: "hung"}, {ID: "sound", Root: t.TempDir()}}
		require.Equal(t, []string{silent, ""}, l.gone(t.Context(), known))
		require.Zero(t, time.Since(began))
		hung <- "it is away"
		require.Equal(t, []string{"it is away", ""}, l.gone(t.Context(), known))
		require.Empty(t, l.asked)
	})
}

// An item that ends after the reading that was shown was not seen, and neither was an unreadable workspace.
func TestOnlyWhatWasShownCountsAsSeen(t *testing.T) {
	l := newReader(t)
	writeStore(t, filepath.Join(l.remember(t, "sound", t.TempDir()), "store.db"))
	require.NoError(t, os.WriteFile(filepath.Join(l.remember(t, "damaged", t.TempDir()), "store.db"), []byte("no store"), 0o600))
	before := time.Now()
	l.loadInPeace(t)
	after := time.Now()
	shown := l.Readings()
	l.seen = nil
	require.NoError(t, l.Load(t.Context())) // ends after the quit
	require.NoError(t, l.Looked(shown))
	looks := readLooks(l.base)
	require.Len(t, looks, 1)
	require.WithinRange(t, looks["sound"], before, after)
}

// Of two pages, the one that had read earlier noted its look later, and brought back what the other had seen.
func TestLookNeverGoesBack(t *testing.T) {
	l := newReader(t)
	l.remember(t, "w", "/w")
	later := time.Now()
	require.NoError(t, l.Looked(map[string]time.Time{"w": later}))
	require.NoError(t, l.Looked(map[string]time.Time{"w": later.Add(-time.Hour)}))
	require.WithinDuration(t, later, readLooks(l.base)["w"], 0)
}

// Two processes read the looks, and the second wrote over the look of the first.
func TestLooksOfTwoProcessesAreBothKept(t *testing.T) {
	l := newReader(t)
	ids := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	done := make(chan error, len(ids))
	for _, id := range ids {
		l.remember(t, id, "/w")
		go func() { done <- l.Looked(map[string]time.Time{id: time.Now()}) }() // ends with its write
	}
	for range ids {
		require.NoError(t, <-done)
	}
	require.Len(t, readLooks(l.base), len(ids))
}

// A disk that was busy for a moment hid everything that waits behind it.
func TestSilentDiskLeavesWhatWasReadBefore(t *testing.T) {
	l := newReader(t)
	writeStore(t, filepath.Join(l.remember(t, "w", t.TempDir()), "store.db"))
	l.loadInPeace(t)
	l.loadInPeace(t) // the first reading touches files beside the store
	was := l.seen["w"]
	was.found.Entries = []inbox.Entry{{Kind: inbox.Question, Text: "Which key?"}}
	l.seen["w"] = was
	hung := make(chan string, 1)
	l.asked["w"], l.patience = hung, 20*time.Millisecond
	for range 2 {
		require.NoError(t, l.Load(t.Context()))
		require.Len(t, l.inbox.Entries, 2)
		require.Equal(t, "Which key?", l.inbox.Entries[0].Text)
		require.Contains(t, l.inbox.Entries[1].Text, "its disk did not answer for 20ms; its other entries are those of ")
		require.Empty(t, l.Readings(), "it does not count as seen")
	}
	hung <- ""
	l.patience = inbox.Patience
	l.loadInPeace(t)
	require.Len(t, l.inbox.Entries, 1)
	require.Contains(t, l.Readings(), "w")
}

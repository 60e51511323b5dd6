// Package inboxes reads the inboxes of all workspaces of this user, for the terminal and the page.
//
// It changes no store. It only notes when a person looked.
package inboxes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"waybill/cli/backend"
	"waybill/cli/program"
	"waybill/core"
	"waybill/engine/inbox"
	"waybill/engine/workspace"
	"waybill/internal/atomicfile"
	"waybill/internal/ownfile"
	"waybill/schema"
	"waybill/store"
	"waybill/store/postgres"
	"waybill/store/sqlite"
)

// LookEvery is how often the files of the stores should be looked at.
const LookEvery = time.Second

// firstLook is how far back a first look reaches.
const firstLook = 24 * time.Hour

// A Reader reads the inbox, and reads a store again only after its files have changed.
type Reader struct {
	*program.App
	base  string             // of the state folders
	here  *workspace.Known   // the only workspace, or nil
	since func(string) int64 // when a person looked at a workspace last, in microseconds
	// follows means that each Load reads when the person last looked.
	follows bool
	// patience is how long Load waits for the folders of workspaces.
	patience time.Duration
	own      string                 // the id of the workspace whose commits are no new version, or ""
	version  string                 // of the last Load
	seen     map[string]snapshot    // by the id of the workspace; without those that could not be read
	asked    map[string]chan string // by the id of the workspace: questions to its disk that are open
	inbox    inbox.Inbox
}

// A snapshot is what was read from one store, and the state of its files then.
type snapshot struct {
	mark  string    // of the files, the folder and the last look
	state string    // the same without the files
	began time.Time // of the reading
	found inbox.Inbox
	old   bool // the disk has not answered since
}

// Options narrow down what a Reader reads.
type Options struct {
	Here  bool           // only the present workspace
	Since *time.Duration // lists what has ended in this time; nil for since the last look
}

// New returns a Reader that has read nothing yet. With --store it reads one workspace.
func New(a *program.App, o Options) (*Reader, error) {
	sources := a.Sources()
	l := &Reader{App: a, base: sources.StateBase, asked: map[string]chan string{}, patience: inbox.Patience}
	if o.Here || a.Store != "" {
		ws, err := workspace.Resolve(sources)
		if err != nil {
			return nil, schema.NewError(schema.NoWorkspace, err.Error())
		}
		l.here = &workspace.Known{ID: ws.ID, Root: ws.Root, StateDir: ws.StateDir}
	} else if l.base == "" {
		return nil, schema.NewError(schema.NoWorkspace, "there is no state folder: set HOME or XDG_STATE_HOME")
	}
	first := time.Now().Add(-firstLook)
	if o.Since != nil {
		first = time.Now().Add(-*o.Since)
		l.since = func(string) int64 { return first.UnixMicro() }
		return l, nil
	}
	l.since = sinceLooks(l.base, first)
	return l, nil
}

// sinceLooks returns the times of the last looks. A first look reaches back to another time.
func sinceLooks(base string, first time.Time) func(id string) int64 {
	looks := readLooks(base)
	return func(id string) int64 {
		if at, ok := looks[id]; ok {
			return at.UnixMicro()
		}
		return first.UnixMicro()
	}
}

// Inbox returns what Load has read.
func (l *Reader) Inbox() inbox.Inbox { return l.inbox }

// Load reads what has changed.
func (l *Reader) Load(ctx context.Context) (err error) {
	known := []workspace.Known{}
	if l.here != nil {
		known = append(known, *l.here)
	} else if known, err = workspace.Every(l.base); err != nil {
		return err
	}
	if l.follows {
		l.since = sinceLooks(l.base, time.Now().Add(-firstLook).Truncate(time.Hour)) // else each Load would read all stores
	}
	all := make([]inbox.Inbox, len(known))
	var stale []inbox.Source
	var at []int
	var marks, states []string
	fresh := make(map[string]snapshot, len(known))
	gone, began := l.gone(ctx, known), time.Now()
	for i, k := range known {
		path, err := backend.StorePath(l.Store, workspace.Workspace{ID: k.ID, Root: k.Root, StateDir: k.StateDir})
		if err != nil {
			return err
		}
		s := l.source(k, path)
		s.Gone = gone[i]
		mark, err := l.markOf(path)
		state := fmt.Sprint(s.Gone, s.Since)
		mark += state
		was, ok := l.seen[k.ID]
		switch {
		case errors.Is(err, fs.ErrNotExist): // nothing was ever written
		case k.Err != nil:
			all[i] = ownerless(k)
		case err != nil:
			all[i] = s.Unreadable(err)
		case s.Gone == silent:
			all[i], fresh[k.ID] = l.outdated(s.Unreadable(fmt.Errorf("%w for %v", inbox.ErrSilent, l.patience)), k.ID)
		case ok && was.mark == mark:
			was.old = false
			all[i], fresh[k.ID] = was.found, was
		default:
			stale, at, marks, states = append(stale, s), append(at, i), append(marks, mark), append(states, state)
		}
	}
	for i, found := range inbox.Read(ctx, stale) {
		all[at[i]] = found
		switch at, id := at[i], stale[i].ID; {
		case !slices.ContainsFunc(found.Entries, func(e inbox.Entry) bool { return e.Kind == inbox.Unreadable }):
			fresh[id] = snapshot{mark: marks[i], state: states[i], began: began, found: found}
		case strings.HasPrefix(found.Entries[0].Text, inbox.ErrSilent.Error()):
			all[at], fresh[id] = l.outdated(found, id)
		}
	}
	l.seen, l.inbox = fresh, inbox.Merge(all)
	l.version = versionOf(l.own, known, fresh, all)
	return nil
}

// outdated returns the inbox of a workspace whose disk hangs: that, and the entries that were read before.
func (l *Reader) outdated(silent inbox.Inbox, id string) (inbox.Inbox, snapshot) {
	was := l.seen[id]
	was.old = true
	if len(was.found.Entries) > 0 {
		silent.Entries[0].Text += "; its other entries are those of " + was.began.Format(time.TimeOnly)
	}
	return inbox.Merge([]inbox.Inbox{silent, was.found}), was
}

// versionOf returns a text that changes with the inbox, but not with the files of the workspace own. It is never empty.
func versionOf(own string, known []workspace.Known, read map[string]snapshot, all []inbox.Inbox) string {
	b := strings.Builder{}
	for i, k := range known {
		was, ok := read[k.ID]
		mark := was.mark
		if k.ID == own { // its events wake the page
			mark = was.state
		}
		fmt.Fprintf(&b, "%s %s %t;", k.ID, mark, was.old)
		if !ok && len(all[i].Entries) > 0 {
			b.WriteString(all[i].Entries[0].Text)
		}
	}
	return b.String() + "."
}

// silent stands for the answer of a disk that hangs.
const silent = "silent"

// gone returns for each workspace why its folder cannot be used, or silent. A disk that hangs is waited for once, and has
// one open question at most, because each holds a thread.
func (l *Reader) gone(ctx context.Context, known []workspace.Known) []string {
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	found, fresh := make([]string, len(known)), make([]bool, len(known))
	for i, k := range known {
		if fresh[i] = l.asked[k.ID] == nil; fresh[i] {
			answer := make(chan string, 1)
			go func() { answer <- k.Gone() }() // ends when the disk answers
			l.asked[k.ID] = answer
		}
	}
	for i, k := range known {
		if !fresh[i] && len(l.asked[k.ID]) == 0 {
			found[i] = silent
			continue
		}
		select {
		case found[i] = <-l.asked[k.ID]:
			delete(l.asked, k.ID)
		case <-ctx.Done():
			found[i] = silent
		}
	}
	return found
}

// source returns how to read one workspace.
func (l *Reader) source(k workspace.Known, path string) inbox.Source {
	s := inbox.Source{
		Place: inbox.Place{ID: k.ID, Root: k.Root}, Since: core.Instant(l.since(k.ID)),
		View: func(ctx context.Context, fn func(store.Tx) error) error {
			return sqlite.Read(ctx, l.SQLiteOptions(path), fn)
		},
	}
	if postgres.Names(l.Store) {
		s.View = func(ctx context.Context, fn func(store.Tx) error) error {
			st, err := postgres.Open(ctx, postgres.Options{URL: l.Store, Workspace: l.WorkspaceName(workspace.Workspace{ID: k.ID}), Version: l.Version})
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			return st.View(ctx, fn)
		}
	}
	return s
}

// ownerless returns the inbox of a state folder that does not say which workspace it belongs to. No command can name
// that workspace.
func ownerless(k workspace.Known) inbox.Inbox {
	return inbox.Inbox{Entries: []inbox.Entry{{
		Kind: inbox.Unreadable, Place: inbox.Place{ID: k.ID, Root: k.StateDir}, Title: k.StateDir,
		Text: "the workspace of this state folder is not known: " + k.Err.Error(),
	}}}
}

// markOf returns a text that differs after each commit to the store at path. Its error is fs.ErrNotExist without a store.
func (l *Reader) markOf(path string) (mark string, err error) {
	if postgres.Names(l.Store) { // a database has no files to compare
		return fmt.Sprint(time.Now()), nil
	}
	for _, suffix := range []string{"", "-wal", ".lock"} {
		info, err := os.Stat(path + suffix)
		if err != nil && suffix == "" {
			return "", err
		}
		if err == nil {
			mark += fmt.Sprintf("%d %d;", info.Size(), info.ModTime().UnixNano())
		}
	}
	return mark, nil
}

// looksFile has the times of the last looks, by the id of the workspace.
const looksFile = "inbox.json"

func readLooks(base string) map[string]time.Time {
	var kept struct {
		Looked map[string]time.Time `json:"looked"`
	}
	text, err := os.ReadFile(filepath.Join(base, looksFile))
	if err != nil || json.Unmarshal(text, &kept) != nil {
		return nil // then this is the first look
	}
	return kept.Looked
}

// Readings returns when the reading of each workspace in the inbox began, by its id. Those that could not be read are
// not there.
func (l *Reader) Readings() map[string]time.Time {
	began := make(map[string]time.Time, len(l.seen))
	for id, s := range l.seen {
		if !s.old {
			began[id] = s.began
		}
	}
	return began
}

// lockTime is how long Looked waits for other processes that note a look.
const lockTime = 2 * time.Second

// Looked notes which readings a person has seen. Items that ended later are still to be shown. A look never counts less
// than an earlier one.
func (l *Reader) Looked(readings map[string]time.Time) error {
	if l.base == "" {
		return nil
	}
	lock, err := lockLooks(l.base)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	looks := map[string]time.Time{}
	for id, at := range readLooks(l.base) {
		if _, err := os.Stat(filepath.Join(l.base, id)); err == nil {
			looks[id] = at
		}
	}
	for id, at := range readings {
		if at.After(looks[id]) {
			looks[id] = at.UTC()
		}
	}
	text, err := json.Marshal(map[string]any{"looked": looks})
	if err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(l.base, looksFile), append(text, '\n'))
}

// lockLooks locks the times of the looks against other processes, which would write over this look.
func lockLooks(base string) (*os.File, error) {
	path := filepath.Join(base, looksFile+".lock")
	deadline := time.Now().Add(lockTime)
	for {
		lock, err := ownfile.TryLock(path)
		switch {
		case err != nil:
			return nil, err
		case lock != nil:
			return lock, nil
		case time.Now().After(deadline):
			return nil, fmt.Errorf("another process holds the lock %s", path)
		}
		<-time.After(5 * time.Millisecond) // another process holds it for one write
	}
}

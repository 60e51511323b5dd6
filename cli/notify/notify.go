// Package notify runs a command of the person when something new waits in the inbox of a workspace.
//
// The command is run at most once a minute for each store, however many processes serve it, and not in quiet hours. Its
// end, its output and its failures change nothing else. The package opens no connection and stores no text of an agent.
package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/cli/backend"
	"waybill/cli/output"
	"waybill/engine"
	"waybill/engine/inbox"
	"waybill/engine/workspace"
	"waybill/internal/atomicfile"
	"waybill/internal/ownfile"
	"waybill/internal/safetext"
	"waybill/schema"
)

const (
	apart   = time.Minute     // the least time between two commands
	settle  = time.Second     // the least time between two looks at the store
	parting = 5 * time.Second // for the last look, without its command
)

// Flags are the flags of the commands that notify.
type Flags struct{ command, quiet string }

// AddFlags adds the flags to a command.
func AddFlags(cmd *cobra.Command, f *Flags) {
	cmd.Flags().StringVar(&f.command, "notify", "",
		"a command for a shell, run when something new waits in the inbox, at most once a minute: WAYBILL_NOTIFY is the text, standard input has JSON")
	cmd.Flags().StringVar(&f.quiet, "notify-quiet", "", "hours without --notify, in local time, such as 22:00-07:00")
	for _, flag := range []string{"notify", "notify-quiet"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions)
	}
}

// AtEnd returns how long the last look of a process and its command may take; 0 without --notify.
func (f Flags) AtEnd() time.Duration {
	if f.command == "" {
		return 0
	}
	return parting + patience
}

// Beside returns the function that runs beside an engine and notifies, or nil without --notify.
func (f Flags) Beside(logger *slog.Logger) (backend.Beside, error) {
	quiet, err := parseHours(f.quiet)
	switch {
	case err != nil:
		return nil, output.UsageError(fmt.Errorf("--notify-quiet %q: must be two times such as 22:00-07:00", f.quiet))
	case f.command == "" && f.quiet != "":
		return nil, output.UsageError(errors.New("--notify-quiet is for --notify: give that, too"))
	case f.command == "":
		return nil, nil
	case strings.TrimSpace(f.command) == "":
		return nil, output.UsageError(errors.New("--notify: is blank"))
	}
	return func(ctx context.Context, ws workspace.Workspace, store string, e *engine.Engine) {
		select {
		case <-e.Opened(): // the first call opens the store, not the notifier
		case <-ctx.Done():
			if !opened(e) {
				return
			}
		}
		wake, stop := e.Subscribe()
		defer stop()
		place := inbox.Place{ID: ws.ID, Root: ws.Root}
		source := inbox.Source{Place: place, Since: math.MaxInt64, View: e.View}
		n := notifier{
			place: place, file: store + memorySuffix, quiet: quiet, logger: logger,
			look: func(ctx context.Context) []inbox.Entry {
				return inbox.Merge(inbox.Read(ctx, []inbox.Source{source})).Entries
			},
			run: func(ctx context.Context, text string, doc []byte) error { return execute(ctx, f.command, text, doc) },
		}
		n.watch(ctx, wake)
	}, nil
}

// memorySuffix follows the path of the store in the name of the file that all its processes share.
const memorySuffix = ".notify"

// A memory is what the processes of a store have told.
type memory struct {
	At   time.Time `json:"at"`   // of the last command
	Told []string  `json:"told"` // the keys of the entries that were told and still wait
}

type notifier struct {
	place  inbox.Place
	file   string
	quiet  hours
	logger *slog.Logger
	look   func(ctx context.Context) []inbox.Entry
	run    func(ctx context.Context, text string, doc []byte) error
}

func opened(e *engine.Engine) bool {
	select {
	case <-e.Opened():
		return true
	default:
		return false
	}
}

// watch looks at the inbox after each commit, and notifies, until ctx ends. It then looks a last time, because a command
// such as work ends when something waits.
func (n notifier) watch(ctx context.Context, wake <-chan struct{}) {
	n.follow(ctx, wake)
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer stop()
	for n.once(last) == settle && sleep(last, settle) { // another process is telling
	}
}

func (n notifier) follow(ctx context.Context, wake <-chan struct{}) {
	for {
		wait := n.once(ctx)
		if !sleep(ctx, settle) {
			return
		}
		var later <-chan time.Time
		if wait > 0 {
			later = time.After(wait)
		}
		select {
		case <-wake:
		case <-later:
		case <-ctx.Done():
			return
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// once notifies if that is due, and returns after which time it may be due without a commit; 0 for never.
func (n notifier) once(ctx context.Context) time.Duration {
	entries := slices.DeleteFunc(n.look(ctx), func(e inbox.Entry) bool { return !e.Kind.Waits() || e.Kind == inbox.Unreadable })
	if ctx.Err() != nil {
		return 0
	}
	lock, err := ownfile.TryLock(n.file + ".lock")
	if err != nil {
		n.logger.Warn("nothing is told by --notify", "err", err)
		return apart
	}
	if lock == nil {
		return settle // another process is telling
	}
	before := n.recall()
	now, next, fresh, wait := before.step(entries, time.Now(), n.quiet)
	err = nil
	if now || !slices.Equal(before.Told, next.Told) {
		err = n.keep(next)
	}
	if err = errors.Join(err, lock.Close()); err != nil { // closing it unlocks it
		n.logger.Warn("nothing is told by --notify", "err", err)
		return apart
	}
	if !now {
		return wait
	}
	text, doc, err := n.message(entries, fresh)
	if err == nil {
		err = n.run(context.WithoutCancel(ctx), text, doc) // it was noted as told, and has a bound of its own
	}
	if err != nil {
		n.logger.Warn("the command of --notify failed", "err", err)
	}
	return wait
}

// step returns whether to notify now and of which entries, the memory after that, and the time until the next notice of
// known entries; 0 if nothing is left to tell.
func (m memory) step(waiting []inbox.Entry, at time.Time, quiet hours) (now bool, next memory, fresh []inbox.Entry, wait time.Duration) {
	next.At = m.At
	for _, e := range waiting {
		if slices.Contains(m.Told, e.Key()) {
			next.Told = append(next.Told, e.Key())
		} else {
			fresh = append(fresh, e)
		}
	}
	if len(fresh) == 0 {
		return false, next, nil, 0
	}
	if wait = quiet.left(at); wait > 0 {
		return false, next, fresh, wait
	}
	if since := at.Sub(m.At); since >= 0 && since < apart { // a clock that was set back does not silence it
		return false, next, fresh, apart - since
	}
	next.At = at
	for _, e := range fresh {
		next.Told = append(next.Told, e.Key())
	}
	return true, next, fresh, 0
}

func (n notifier) recall() (m memory) {
	text, err := os.ReadFile(n.file)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		n.logger.Warn("it is not known what was told by --notify", "err", err)
		return memory{}
	}
	return m
}

func (n notifier) keep(m memory) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return atomicfile.Replace(n.file, append(text, '\n'))
}

// The bounds of a message.
const (
	maxText    = 200
	maxEntries = 10
	maxQuoted  = 500
)

type message struct {
	Text      string         `json:"text"`
	Workspace string         `json:"workspace"`
	Waiting   int            `json:"waiting"`
	New       []messageEntry `json:"new"` // at most maxEntries
}

type messageEntry struct {
	Kind  string      `json:"kind"`
	ID    string      `json:"id"`
	Title string      `json:"title"`
	Text  string      `json:"text"`
	Since schema.Time `json:"since"`
}

// message returns the text for a person, and the document with the new entries.
func (n notifier) message(waiting, fresh []inbox.Entry) (text string, doc []byte, err error) {
	first := fresh[0]
	text = fmt.Sprintf("%s: %s: %s", filepath.Base(n.place.Root), first.Title, first.Text)
	if len(waiting) > 1 {
		text = fmt.Sprintf("%s: %d things wait for you: %s: %s", filepath.Base(n.place.Root), len(waiting), first.Title, first.Text)
	}
	m := message{Text: safetext.Verbatim(text, maxText), Workspace: n.place.Root, Waiting: len(waiting)}
	for _, e := range fresh[:min(len(fresh), maxEntries)] {
		m.New = append(m.New, messageEntry{
			Kind: string(e.Kind), ID: e.ID, Title: safetext.Verbatim(e.Title, maxText), Text: safetext.Verbatim(e.Text, maxQuoted),
			Since: schema.TimeOf(time.UnixMicro(int64(e.Since))),
		})
	}
	doc, err = output.Encode(m)
	return m.Text, append(doc, '\n'), err
}

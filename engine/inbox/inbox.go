// Package inbox lists what waits for a person in the stores of several workspaces: questions first, then stopped work, then
// failures. It also lists the items that ended well since the person looked last.
//
// It only reads. Answers and retries go through the methods of the API, like everywhere.
package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/store"
)

// A Kind says why an entry is in the inbox. Its text is stable.
type Kind string

// The kinds, in the order of the inbox.
const (
	Question          Kind = "question"           // a task waits for an answer
	Refuted           Kind = "refuted"            // a check is red, and only a person moves the run on
	Blocked           Kind = "blocked"            // a run waits for a person's decision
	FailedTask        Kind = "failed_task"        // a task ended without success
	FailedInstruction Kind = "failed_instruction" // an instruction was never acknowledged
	Reported          Kind = "reported"           // a host reported an event that a person must know of
	Unreadable        Kind = "unreadable"         // the store of a workspace cannot be read
	Gone              Kind = "gone"               // things wait, but the folder of the workspace is not there
	Proven            Kind = "proven"             // ended well, and its checks prove it
	Said              Kind = "said"               // ended well, as its agents say
)

var order = []Kind{Question, Refuted, Blocked, FailedTask, FailedInstruction, Reported, Unreadable, Gone, Proven, Said}

// Waits reports whether an entry of the kind waits for a person.
func (k Kind) Waits() bool { return k != Proven && k != Said && k != Gone }

// An Action is something that a person can do about an entry.
type Action string

// The actions.
const (
	Answer  Action = "answer"
	Retry   Action = "retry"
	Cancel  Action = "cancel"
	Unblock Action = "unblock"
	Dismiss Action = "dismiss" // consumes the notices about it
)

// An Entry is one thing in the inbox. Its texts are untrusted.
type Entry struct {
	Kind      Kind
	Place     Place
	ID        string // of the task, run, instruction or notice; "" for a workspace
	AttemptID string // that asked the question
	Options   []task.Option
	Title     string // the item, task or instruction, in one line
	Text      string // the question, or the reason
	Plan      string // of a run
	ItemID    string
	Since     core.Instant
	Notices   []string // that Dismiss consumes
	Actions   []Action // the usual one first
	// Next has the words of a command, without the program's name, that moves the entry on.
	Next []string
	// Count is how many things an entry of kind Gone stands for.
	Count int
}

// Key identifies an entry as long as it waits for the same thing.
func (e Entry) Key() string {
	return strings.Join([]string{e.Place.ID, string(e.Kind), e.ID, e.AttemptID}, " ")
}

// A Place is a workspace.
type Place struct{ ID, Root string }

// A Source reads the store of one workspace.
type Source struct {
	Place
	// Since is when a person looked at the workspace last.
	Since core.Instant
	// Gone is why the folder of the workspace cannot be used, or "".
	Gone string
	// View runs fn on one moment of the store.
	View func(ctx context.Context, fn func(tx store.Tx) error) error
}

// An Inbox is what Read found.
type Inbox struct {
	Entries []Entry // in the order of the kinds, then the oldest first; Proven and Said, the newest first
	Gone    []Place // workspaces whose folders are gone and where nothing waits
	Cut     bool    // entries were left out
}

// Waiting returns the number of entries that wait for a person.
func (i Inbox) Waiting() (n int) {
	for _, e := range i.Entries {
		if e.Kind.Waits() {
			n++
		}
	}
	return n
}

// Patience is how long Read waits for one workspace, whose disk may hang.
const Patience = 3 * time.Second

// ErrSilent is why a workspace whose disk hangs is unreadable.
var ErrSilent = errors.New("its disk did not answer")

// atOnce is how many workspaces Read reads at once. More would wait for the one memory of the database engine.
const atOnce = 2

// Read reads the sources, and returns one Inbox for each. A source that cannot be read is an entry, and no error for the
// others.
func Read(ctx context.Context, sources []Source) []Inbox {
	found := make([]Inbox, len(sources))
	slots := make(chan struct{}, atOnce)
	var reading sync.WaitGroup
	for i, s := range sources {
		slots <- struct{}{}
		reading.Go(func() {
			defer func() { <-slots }()
			found[i] = s.patiently(ctx)
		})
	}
	reading.Wait()
	return found
}

// Merge returns one Inbox with the entries of several.
func Merge(inboxes []Inbox) (all Inbox) {
	for _, i := range inboxes {
		all.Entries, all.Gone, all.Cut = append(all.Entries, i.Entries...), append(all.Gone, i.Gone...), all.Cut || i.Cut
	}
	slices.SortStableFunc(all.Entries, before)
	return all
}

func before(a, b Entry) int {
	since := cmp.Compare(a.Since, b.Since)
	if !a.Kind.Waits() {
		since = -since
	}
	return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), since)
}

// patiently reads a source, and stops waiting for it after a while. The reading then ends when the disk answers.
func (s Source) patiently(ctx context.Context) Inbox {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	read := make(chan Inbox, 1)
	go func() { read <- s.read(ctx) }() // ends when the disk of the workspace answers
	select {
	case found := <-read:
		return found
	case <-ctx.Done():
		return s.Unreadable(fmt.Errorf("%w for %v", ErrSilent, Patience))
	}
}

func (s Source) read(ctx context.Context) Inbox {
	var waiting store.Waiting
	err := s.View(ctx, func(tx store.Tx) (err error) {
		waiting, err = store.ReadWaiting(tx, s.Since)
		return err
	})
	switch {
	case err != nil && s.Gone != "":
		return Inbox{Gone: []Place{s.Place}}
	case err != nil:
		return s.Unreadable(err)
	}
	found := Inbox{Entries: s.entries(waiting), Cut: waiting.Cut}
	if s.Gone == "" {
		return found
	}
	n := found.Waiting()
	if n == 0 {
		return Inbox{Gone: []Place{s.Place}}
	}
	return Inbox{Entries: []Entry{{
		Kind: Gone, Place: s.Place, Title: s.Root, Since: found.Entries[0].Since, Count: n,
		Text: fmt.Sprintf("%s, with %s waiting in its store", s.Gone, core.Counted(n, "thing")),
	}}}
}

// Unreadable returns the Inbox of a source that cannot be read.
func (s Source) Unreadable(err error) Inbox {
	return Inbox{Entries: []Entry{{
		Kind: Unreadable, Place: s.Place, Title: s.Root, Text: err.Error(), Next: []string{"doctor"},
	}}}
}

// entries returns the entries of one store.
func (s Source) entries(w store.Waiting) (all []Entry) {
	for _, t := range w.Questions {
		e := s.taskEntry(Question, t)
		e.AttemptID, e.Text, e.Since = t.Current.ID, t.Question, t.Current.EndedAt()
		e.Actions, e.Next = []Action{Answer, Cancel}, []string{"task", "reply", t.ID, "-m", "…"}
		if e.Options = t.Offer.Terms().Options; len(e.Options) > 0 {
			e.Next = []string{"task", "reply", t.ID, "NUMBER"}
		}
		all = append(all, e)
	}
	for _, r := range w.Runs {
		all = append(all, s.stopped(r))
	}
	for _, t := range w.Tasks {
		e := s.taskEntry(FailedTask, t)
		e.Text, e.Since, e.Notices = why(t.Task), t.UpdatedAt, t.Notices
		e.Actions, e.Next = []Action{Retry, Dismiss}, []string{"task", "retry", t.ID}
		all = append(all, e)
	}
	for _, in := range w.Instructions {
		all = append(all, s.failedInstruction(in))
	}
	for _, n := range w.Reports {
		all = append(all, Entry{
			Kind: Reported, Place: s.Place, ID: n.ID, Title: firstLine(n.Text), Text: n.Text, Since: n.CreatedAt,
			Notices: []string{n.ID}, Actions: []Action{Dismiss}, Next: []string{"notice", "dismiss", n.ID},
		})
	}
	for _, r := range w.Done {
		e := s.runEntry(Said, r)
		if e.Text = "no check is required, so nothing proves it"; r.Proof.State() == proof.Proven {
			e.Kind, e.Text = Proven, fmt.Sprintf("its checks are green: %s", strings.Join(r.Proof.Green.List(), ", "))
		}
		all = append(all, e)
	}
	return all
}

// stopped returns the entry of a run that only a person moves on.
func (s Source) stopped(r store.WaitingRun) Entry {
	e := s.runEntry(Blocked, r)
	if r.Proof.State() == proof.Refuted {
		e.Kind = Refuted
	}
	if r.State == run.Done {
		e.Text = fmt.Sprintf("it was approved, and since then a check is red: %s", strings.Join(r.Proof.Red.List(), ", "))
		e.Next = []string{"check", "run", r.ID}
		return e
	}
	e.Text, e.Next = r.WhyBlocked(), r.Moves()[0].Command
	e.Actions = []Action{Unblock}
	return e
}

// failedInstruction returns the entry of a failed instruction.
func (s Source) failedInstruction(in store.WaitingInstruction) Entry {
	e := Entry{
		Kind: FailedInstruction, Place: s.Place, ID: in.ID, Title: firstLine(in.Content), Since: in.CreatedAt, Notices: in.Notices,
		Text:    fmt.Sprintf("session %q did not acknowledge it; it was sent %s", in.Session, core.Counted(in.Sends(), "time")),
		Actions: []Action{Dismiss}, Next: []string{"notice", "dismiss", in.ID},
	}
	if p, failed := in.Phase.(instruction.Failed); failed {
		e.Since = p.At
	}
	if in.Standing() {
		e.Actions, e.Next = []Action{Dismiss, Cancel}, []string{"instruction", "cancel", in.ID}
	}
	return e
}

func (s Source) taskEntry(kind Kind, t store.WaitingTask) Entry {
	e := Entry{Kind: kind, Place: s.Place, ID: t.ID, Title: firstLine(cmp.Or(t.Spec.Description, t.Spec.Prompt)), Plan: t.Run.Plan, ItemID: t.Run.ItemID}
	if t.Run.ID != "" {
		e.Title = runTitle(t.Run)
	}
	return e
}

func (s Source) runEntry(kind Kind, r store.WaitingRun) Entry {
	return Entry{Kind: kind, Place: s.Place, ID: r.ID, Title: runTitle(r), Plan: r.Plan, ItemID: r.ItemID, Since: r.UpdatedAt}
}

// runTitle names the item of a run.
func runTitle(r store.WaitingRun) string {
	if r.Title == "" {
		return fmt.Sprintf("%s of %s", r.ItemID, r.Plan)
	}
	return fmt.Sprintf("%s %s", r.ItemID, firstLine(r.Title))
}

// why returns why a task ended without success.
func why(t task.Task) string {
	text := t.Reason()
	if message := t.Current.Failure().Message; message != "" {
		text = strings.TrimPrefix(text+": "+message, ": ")
	}
	return text
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

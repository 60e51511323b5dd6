// Package law contains the laws of every store, as code that can run against any of them. It does not look behind the
// interface. Tests of each store prove how it keeps a law and how it survives a broken disk.
package law

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/store"
)

// T is what a law needs of a test. *testing.T and *rapid.T have it.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
	Context() context.Context
}

// A Law is one promise of package store.
type Law struct {
	Name string
	// Holds fails t unless the store keeps the law. The first open returns an empty store. A later one, after Close,
	// opens the same store again if Reopens is set. Without Reopens there is no later one, unless Shares is set. The
	// law closes the stores that it opens.
	Holds   func(t T, open func() store.Store)
	Reopens bool
	// Shares says that the law opens the store again while it is open, as another process would.
	Shares bool
}

// All returns all laws. The names are unique and never change their meaning.
func All() []Law {
	return slices.Concat(transactionLaws(), lifeLaws(), eventLaws(), moveLaws(), instructionLaws(), orderLaws(),
		runLaws(), tallyLaws(), promptLaws(), noticeLaws(), answerLaws(), pruneLaws(), taskLaws(), taskQueryLaws(), attemptLaws(), contestLaws(),
		replyLaws())
}

// Run runs the laws as subtests. For each law, place returns the function that opens a store there.
func Run(t *testing.T, laws []Law, place func(t *testing.T) (open func() store.Store)) {
	for _, law := range laws {
		t.Run(law.Name, func(t *testing.T) { law.Holds(t, place(t)) })
	}
}

// law makes a law of a function that needs one open store.
func law(name string, holds func(t T, s store.Store)) Law {
	return Law{Name: name, Holds: func(t T, open func() store.Store) {
		t.Helper()
		s := open()
		defer func() { require.NoError(t, s.Close()) }() // does nothing after a Close of the law itself
		holds(t, s)
	}}
}

// update runs fn in an Update that must succeed.
func update(t T, s store.Store, fn func(tx store.Tx)) {
	t.Helper()
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		fn(tx)
		return nil
	}))
}

// view runs fn in a View that must succeed.
func view(t T, s store.Store, fn func(tx store.Tx)) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		fn(tx)
		return nil
	}))
}

// isKind fails t unless err is a *store.Error of that kind.
func isKind(t T, err error, kind store.Kind) {
	t.Helper()
	var fault *store.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, kind, fault.Kind, "kind of %v", err)
}

// day is the distance between the instants of the samples.
const day core.Instant = 24 * 60 * 60 * 1_000_000

// start is the first instant of the samples.
const start = 20_000 * day

// tracked returns a queued, tracked instruction with the given id and position.
func tracked(id string, position int64) instruction.Instruction {
	return instruction.Instruction{
		ID: id, Session: "default", Content: "look at " + id, Tracked: true, MaxRetries: 3,
		CreatedAt: start, Position: position, Phase: instruction.Queued{},
	}
}

// recurring returns an armed standing instruction.
func recurring(id string, position int64) instruction.Instruction {
	in := tracked(id, position)
	in.Trigger = instruction.Trigger{EventType: "tool", Match: `{"tool_name":"Edit"}`, Path: "*.go"}
	in.Phase = instruction.Armed{}
	return in
}

// plain returns a queued, plain instruction.
func plain(id string, position int64) instruction.Instruction {
	in := tracked(id, position)
	in.Tracked, in.MaxRetries = false, 0
	return in
}

// in returns the instruction in another phase.
func in(i instruction.Instruction, phase instruction.Phase) instruction.Instruction {
	i.Phase = phase
	return i
}

func event(kind core.EventType, subject string, at core.Instant) store.Event {
	return store.Event{Type: kind, Subject: subject, At: at, Data: `{"of":"` + subject + `"}`}
}

func notice(id string, position int64) store.Notice {
	return store.Notice{
		ID: id, Kind: core.NoticeInstructionFailed, Session: "default", Subject: "ins_" + id,
		Text: "never acknowledged", Data: `{"sends":4}`, CreatedAt: start, Position: position,
	}
}

func newRun(id, item string) run.Run {
	r, _ := run.Start(id, "tasks.md", item, "what "+item+" wants next", coretest.Policy(), start)
	return r
}

// facts returns facts of keys and values in turn.
func facts(pairs ...string) []store.Fact {
	all := []store.Fact{}
	for pair := range slices.Chunk(pairs, 2) {
		all = append(all, store.Fact{Key: pair[0], Value: pair[1]})
	}
	return all
}

func put(t T, tx store.Tx, all ...instruction.Instruction) {
	t.Helper()
	for _, i := range all {
		require.NoError(t, tx.PutInstruction(i))
	}
}

func appendTo(t T, tx store.Tx, ev store.Event) int64 {
	t.Helper()
	seq, err := tx.Append(ev)
	require.NoError(t, err)
	return seq
}

func allEvents(t T, tx store.Tx) []store.Event {
	t.Helper()
	evs, err := tx.Events(0, 1000, nil)
	require.NoError(t, err)
	return evs
}

func bounds(t T, tx store.Tx) (oldest, newest int64) {
	t.Helper()
	oldest, newest, err := tx.Bounds()
	require.NoError(t, err)
	return oldest, newest
}

func selected(t T, tx store.Tx, q store.InstructionQuery) []string {
	t.Helper()
	found, err := tx.Instructions(q)
	require.NoError(t, err)
	return ids(found)
}

func ids(all []instruction.Instruction) []string {
	names := []string{}
	for _, i := range all {
		names = append(names, i.ID)
	}
	return names
}

// errNo is the error of a function in an Update that must fail.
var errNo = errors.New("the function says no")

package transfer

import (
	"errors"
	"fmt"

	"waybill/core/instruction"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/record"
)

// An entry is one record of a store. Its line in an export is that of its description in package record.
type entry interface {
	kind() *kind
	// name is the record's name in messages.
	name() string
	// key orders the records of one kind that stand in a row.
	key() key
	// line is the record as an object of JSON.
	line() []byte
	// put puts it into the store.
	put(to *filler) error
}

// A key compares by its number and then by the bytes of its text.
type key struct {
	number int64
	text   string
}

func (k key) less(other key) bool {
	if k.number != other.number {
		return k.number < other.number
	}
	return k.text < other.text
}

// A kind is one kind of record and its rank. Groups come one after the other; within a group a record's parts follow it by
// rank.
type kind struct {
	name, plural string
	group, rank  int
	counter      func(*Counts) *int
}

// follows reports whether a record of the kind may follow one of the kind before.
func (k *kind) follows(before *kind) bool {
	if k.rank == 0 {
		return k.group >= before.group
	}
	return k.group == before.group && k.rank >= before.rank
}

// A described is a kind with its description.
type described[R any] struct {
	kind
	record *record.Kind[R]
	key    func(*R) key // the empty key if the order of the records is another one
	put    func(to *filler, r *R) error
}

func (s *described[R]) facts() *kind { return &s.kind }

func (s *described[R]) entry(r R) entry { return &entryOf[R]{s, r} }

func (s *described[R]) read(object []byte) (entry, error) {
	i := &entryOf[R]{of: s}
	err := s.record.Import(object, &i.value)
	return i, err
}

type entryOf[R any] struct {
	of    *described[R]
	value R
}

func (i *entryOf[R]) kind() *kind          { return &i.of.kind }
func (i *entryOf[R]) name() string         { return i.of.record.Label(&i.value) }
func (i *entryOf[R]) key() key             { return i.of.key(&i.value) }
func (i *entryOf[R]) line() []byte         { return i.of.record.Export(&i.value) }
func (i *entryOf[R]) put(to *filler) error { return i.of.put(to, &i.value) }

// kinds lists the kinds in the order of their first lines.
var kinds = [...]interface {
	facts() *kind
	read(object []byte) (entry, error)
}{
	&events, &instructions, &runs, &facts, &tallies, &prompts, &tasks, &attempts, &replies, &dependencies, &breakers, &notices, &answers,
}

var events = described[store.Event]{
	kind{"event", "events", 1, 0, func(c *Counts) *int { return &c.Events }},
	&record.Events,
	func(ev *store.Event) key { return key{number: ev.Seq} },
	func(to *filler, ev *store.Event) error { return to.append(*ev) },
}

var instructions = described[instruction.Instruction]{
	kind{"instruction", "instructions", 2, 0, func(c *Counts) *int { return &c.Instructions }},
	&record.Instructions,
	func(in *instruction.Instruction) key { return key{number: in.Position} },
	func(to *filler, in *instruction.Instruction) error { return to.tx.PutInstruction(*in) },
}

// Runs are in the order of their beginning, and the store finds a duplicate id.
var runs = described[record.Run]{
	kind{"run", "runs", 3, 0, func(c *Counts) *int { return &c.Runs }},
	&record.Runs,
	func(*record.Run) key { return key{} },
	func(to *filler, r *record.Run) error {
		if _, twice, err := to.tx.Run(r.ID); err != nil || twice {
			return orTwice(err)
		}
		to.run = r.ID
		return to.tx.PutRun(r.Run)
	},
}

// The facts of a run are collected, because a store takes all of them at once.
var facts = described[record.Fact]{
	kind{"fact", "facts", 3, 1, func(c *Counts) *int { return &c.Facts }},
	&record.Facts,
	func(f *record.Fact) key { return key{text: f.Key} },
	func(to *filler, f *record.Fact) error {
		to.facts = append(to.facts, f.Fact)
		return to.ofRun(f.RunID)
	},
}

var tallies = described[record.Tally]{
	kind{"tally", "tallies", 3, 2, func(c *Counts) *int { return &c.Tallies }},
	&record.Tallies,
	func(t *record.Tally) key { return key{text: t.Name} },
	func(to *filler, t *record.Tally) error {
		return errors.Join(to.ofRun(t.RunID), to.tx.AddTallies(to.run, []store.Tally{t.Tally}))
	},
}

var prompts = described[store.Prompt]{
	kind{"prompt", "prompts", 3, 3, func(c *Counts) *int { return &c.Prompts }},
	&record.Prompts,
	func(p *store.Prompt) key { return key{number: int64(p.Role)} },
	func(to *filler, p *store.Prompt) error { return errors.Join(to.ofRun(p.RunID), to.tx.PutPrompt(*p)) },
}

var tasks = described[task.Task]{
	kind{"task", "tasks", 4, 0, func(c *Counts) *int { return &c.Tasks }},
	&record.Tasks,
	func(t *task.Task) key { return key{number: t.Position} },
	func(to *filler, t *task.Task) error {
		to.task, to.waiting = t.ID, *t
		return to.tx.PutTask(*t)
	},
}

var attempts = described[record.Attempt]{
	kind{"attempt", "attempts", 4, 1, func(c *Counts) *int { return &c.Attempts }},
	&record.Attempts,
	func(a *record.Attempt) key { return key{number: int64(a.Number)} },
	func(to *filler, a *record.Attempt) error {
		if err := to.ofTask(a.TaskID); err != nil {
			return err
		}
		to.waiting.Current = a.Attempt
		return to.tx.PutAttempt(a.Attempt)
	},
}

var replies = described[record.Reply]{
	kind{"reply", "replies", 4, 2, func(c *Counts) *int { return &c.Replies }},
	&record.Replies,
	func(r *record.Reply) key { return key{number: int64(r.Number)} },
	func(to *filler, r *record.Reply) error {
		if err := to.ofTask(r.TaskID); err != nil {
			return err
		}
		return to.tx.AddReply(r.Reply)
	},
}

// Dependencies are in the order of the tasks that are waited for.
var dependencies = described[record.Dependency]{
	kind{"dependency", "dependencies", 5, 0, func(c *Counts) *int { return &c.Dependencies }},
	&record.Dependencies,
	func(*record.Dependency) key { return key{} },
	func(to *filler, d *record.Dependency) error {
		before := to.tx.Writes()
		if err := to.tx.AddDependency(d.Task, d.On); err != nil || to.tx.Writes() > before {
			return err
		}
		return orTwice(nil)
	},
}

var breakers = described[task.Breaker]{
	kind{"breaker", "breakers", 6, 0, func(c *Counts) *int { return &c.Breakers }},
	&record.Breakers,
	func(b *task.Breaker) key { return key{text: b.Key} },
	func(to *filler, b *task.Breaker) error { return to.tx.PutBreaker(*b) },
}

var notices = described[store.Notice]{
	kind{"notice", "notices", 7, 0, func(c *Counts) *int { return &c.Notices }},
	&record.Notices,
	func(n *store.Notice) key { return key{number: n.Position} },
	func(to *filler, n *store.Notice) error {
		if _, twice, err := to.tx.Notice(n.ID); err != nil || twice {
			return orTwice(err)
		}
		return to.tx.PutNotice(*n)
	},
}

var answers = described[store.Answer]{
	kind{"answer", "answers", 8, 0, func(c *Counts) *int { return &c.Answers }},
	&record.Answers,
	func(a *store.Answer) key { return key{text: a.Key} },
	func(to *filler, a *store.Answer) error { return to.tx.PutAnswer(*a) },
}

// append continues the event log with a record that follows from the one before.
func (f *filler) append(ev store.Event) error {
	switch {
	case ev.Seq != f.seq+1:
		return fmt.Errorf("the event before it has the number %d", f.seq)
	case ev.At < f.at:
		return errors.New("it is older than the event before it")
	case store.Chain(f.chain, ev) != ev.Hash:
		return errors.New("its hash does not follow from the one before")
	}
	f.seq, f.at, f.chain = ev.Seq, ev.At, ev.Hash
	seq, err := f.tx.Append(ev)
	if err == nil && seq != ev.Seq {
		err = fmt.Errorf("the store numbers it %d", seq)
	}
	return err
}

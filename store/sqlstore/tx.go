package sqlstore

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"waybill/core/instruction"
	"waybill/store"
)

// Options configure a transaction. Only Conn is required.
type Options struct {
	// Conn is where the transaction has been begun.
	Conn Conn
	// Cancelled returns the reason why the caller gave up, or nil.
	Cancelled func() error
	// Recent is what is known to be stored; nil for a transaction that only reads.
	Recent *Recent
	// OnDamage is called for each damaged row; it may be nil.
	OnDamage func(Damaged)
	// IsSpoilt reports whether that has been told before; nil for never.
	IsSpoilt func(Damaged) bool
}

// Tx is one transaction on one connection. Contracts returns its methods for the engine.
type Tx struct {
	c        Conn
	o        Options
	recent   *Recent
	writable bool

	mu       sync.Mutex // held during each method and the end of the transaction; guards the fields below
	over     error      // why no verb is carried out any more, or nil
	lost     error      // the *store.Error of a method, after which nothing may be committed
	writes   int
	pruned   bool
	head     Head
	headRead bool
	headPut  bool
	known    map[string]instruction.Instruction // stored instructions that the transaction has read
	book     taskBook
}

// ErrOver is the error of a method that is called after the end of its transaction.
var ErrOver = errors.New("the transaction is over: a Tx must not be kept")

// Begin returns the verbs of a transaction that has been begun on o.Conn.
func Begin(o Options) *Tx {
	if o.Cancelled == nil {
		o.Cancelled = func() error { return nil }
	}
	t := &Tx{c: o.Conn, o: o, recent: o.Recent, writable: o.Recent != nil}
	if t.writable {
		t.known = make(map[string]instruction.Instruction)
	}
	return t
}

// Commit stores deferred changes, calls commit to end the transaction durably, and records what is stored now. It
// returns an error of commit unchanged; the transaction has ended then, too.
func (t *Tx) Commit(commit func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.over = ErrOver }()
	if err := t.prepareCommit(); err != nil {
		t.c.Rollback()
		return err
	}
	if err := commit(); err != nil {
		t.c.Rollback()
		t.recent.Forget()
		return err
	}
	t.recent.learn(t)
	return nil
}

// prepareCommit does what belongs to the transaction but waits for its end.
func (t *Tx) prepareCommit() error {
	if t.lost != nil {
		return t.lost
	}
	if err := t.o.Cancelled(); err != nil {
		return GaveUp(err)
	}
	if t.headPut {
		if err := t.storeHead(); err != nil {
			return t.c.Fault(err)
		}
	}
	return nil
}

// End ends the transaction without a commit, unless it has ended already.
func (t *Tx) End(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over == nil {
		t.over = why
		t.c.Rollback()
	}
}

// Ended returns the reason why the transaction has ended, or nil.
func (t *Tx) Ended() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

// Lost returns the *store.Error that a verb returned, after which nothing may be committed, or nil.
func (t *Tx) Lost() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}

// Newest returns the number of the newest event, and that before the transaction, if it has read the head.
func (t *Tx) Newest() (seq, before int64, read bool) { return t.head.Newest, t.head.before, t.headRead }

// Pruned reports whether the transaction has removed records that were over.
func (t *Tx) Pruned() bool { return t.pruned }

// Expire ends a View that takes too long, because a database keeps more and more for it.
func (t *Tx) Expire(after time.Duration) {
	t.End(&store.Error{Kind: store.Cancelled, Message: fmt.Sprintf("the reading took longer than %v and was ended", after)})
}

// get runs a reading method. Every method of Tx goes through get or put.
func (t *Tx) get(verb func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ended(); err != nil {
		return err
	}
	err := verb()
	if row, ok := errors.AsType[Damaged](err); ok {
		t.report(row)
		return t.c.Fault(err) // the transaction is as it was
	}
	return t.judge(err)
}

// report passes on that a row is not what was written.
func (t *Tx) report(row Damaged) {
	if t.o.OnDamage != nil {
		t.o.OnDamage(row)
	}
}

// put carries out a putting verb.
func (t *Tx) put(verb func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ended(); err != nil {
		return err
	}
	if !t.writable {
		return &store.Error{Kind: store.ReadOnly, Message: "a View cannot put anything: use Update"}
	}
	return t.judge(verb())
}

// ended returns the reason why the transaction accepts no more calls, or nil. After a fault SQLite may have rolled the
// transaction back, and later statements would be committed on their own.
func (t *Tx) ended() error {
	if t.over != nil {
		return t.over
	}
	if t.lost != nil {
		return t.lost
	}
	if err := t.o.Cancelled(); err != nil {
		t.lost = GaveUp(err)
	}
	return t.lost
}

// judge separates a refusal, after which the transaction continues, from a fault of the store.
func (t *Tx) judge(err error) error {
	var refusal refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refusal):
		return err
	case t.c.Refused(err):
		return fmt.Errorf("a rule of the tables is broken: %w", err)
	}
	if row, ok := errors.AsType[Damaged](err); ok {
		t.report(row)
	}
	failed := t.c.Fault(err)
	t.lost = failed
	return failed
}

// GaveUp returns the error for a call that was given up before it took effect.
func GaveUp(cause error) *store.Error {
	return &store.Error{Kind: store.Cancelled, Message: "the call was given up before it took effect", Err: cause}
}

// refusal is an error of a verb that would have broken a rule of store.Tx. It changes nothing.
type refusal string

func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// Damaged names a row with a wrong checksum.
type Damaged string

func (d Damaged) Error() string { return string(d) + " is not what was written" }

func (t whole) Writes() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.writes
}

// Contracts returns a transaction as one contract for each subject.
func Contracts(t *Tx) store.Tx {
	return store.Tx{
		InstructionRecords: instructionRecords{t}, RunRecords: runRecords{t}, RunContents: runContents{t},
		TaskRecords: taskRecords{t}, AttemptRecords: attemptRecords{taskRecords{t}}, BreakerRecords: breakerRecords{t},
		EventLog: eventLog{t}, NoticeRecords: noticeRecords{t}, AnswerRecords: answerRecords{t}, Whole: whole{t},
	}
}

// The contracts of a transaction, each with the methods of its subject.
type (
	instructionRecords struct{ *Tx }
	runRecords         struct{ *Tx }
	runContents        struct{ *Tx }
	taskRecords        struct{ *Tx }
	attemptRecords     struct{ taskRecords }
	breakerRecords     struct{ *Tx }
	eventLog           struct{ *Tx }
	noticeRecords      struct{ *Tx }
	answerRecords      struct{ *Tx }
	whole              struct{ *Tx }
)

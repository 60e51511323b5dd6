package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"waybill/core"
	"waybill/store"
)

// tx is one transaction on one connection.
type tx struct {
	path      string
	c         *conn
	cancelled func() error // why the call that the transaction serves is given up, or nil
	writable  bool
	onDamage  func(damaged)      // told of each row that is not what was written; nil for nobody
	isSpoilt  func(damaged) bool // reports whether that has been told before; nil for never

	mu       sync.Mutex // held by a verb at work, and by what ends the transaction; guards the rest
	over     error      // why no verb is carried out any more, or nil
	lost     error      // the *store.Error that a verb returned, after which nothing may be committed
	writes   int
	pruned   bool
	head     head
	headRead bool
	headPut  bool
	known    map[string]core.Instruction // what is stored of the instructions met so far
	book     taskBook
	buf      encoder // scratch
}

var errOver = errors.New("the transaction is over: a Tx must not be kept")

// begin starts a transaction. A writing one takes SQLite's write lock at once: one that began by
// reading could not become a writer if somebody else had written meanwhile, whatever it waits.
func begin(ctx context.Context, path string, c *conn, writable bool) (*tx, error) {
	text := "BEGIN"
	if writable {
		text = "BEGIN IMMEDIATE"
	}
	if _, err := c.exec(text); err != nil {
		return nil, classify(path, err)
	}
	t := &tx{path: path, c: c, cancelled: ctx.Err, writable: writable, known: make(map[string]core.Instruction)}
	if !writable {
		return t, nil
	}
	if err := c.refresh(); err != nil {
		t.rollback()
		return nil, classify(path, err)
	}
	return t, nil
}

// commit ends the transaction durably. Of its errors only one of kind IO leaves open whether the
// transaction took effect: the write-ahead log may hold all of it when the sync, or a step behind it,
// did not succeed.
func (t *tx) commit() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer func() { t.over = errOver }()
	if err := t.prepareCommit(); err != nil {
		t.rollback()
		return err
	}
	if _, err := t.c.exec("COMMIT"); err != nil {
		t.rollback()
		t.c.forget()
		failed := classify(t.path, err)
		if code(err)&0xff == sqlite3.SQLITE_IOERR {
			failed.Kind, failed.Outcome = store.IO, store.Unknown
		}
		return failed
	}
	t.c.recent.learn(t)
	return nil
}

// prepareCommit does what belongs to the transaction but waits for its end.
func (t *tx) prepareCommit() error {
	if t.lost != nil {
		return t.lost
	}
	if err := t.cancelled(); err != nil {
		return gaveUp(err)
	}
	if t.headPut {
		if err := t.storeHead(); err != nil {
			return classify(t.path, err)
		}
	}
	if err := t.storeTaskCounts(); err != nil {
		return classify(t.path, err)
	}
	if t.pruned {
		if err := t.c.query(func(*row) error { return nil }, "PRAGMA incremental_vacuum(1024)"); err != nil {
			return classify(t.path, err)
		}
	}
	return nil
}

// end gives up the transaction, unless it has ended already.
func (t *tx) end(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over == nil {
		t.over = why
		t.rollback()
	}
}

// rollback may fail, because SQLite rolls some failed transactions back by itself. A connection that
// is left in a transaction shows it at the next begin.
func (t *tx) rollback() { _, _ = t.c.exec("ROLLBACK") }

// expire ends a View that goes on for too long: as long as it lasts, the write-ahead log only grows.
func (t *tx) expire(after time.Duration) {
	t.end(fault(store.Cancelled, nil, "the reading took longer than %v and was ended", after))
}

// get carries out a getting verb. Every verb goes through get or put.
func (t *tx) get(verb func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ended(); err != nil {
		return err
	}
	err := verb()
	if row, ok := errors.AsType[damaged](err); ok {
		t.report(row)
		return classify(t.path, err) // the transaction is as it was
	}
	return t.judge(err)
}

// report passes on that a row is not what was written.
func (t *tx) report(row damaged) {
	if t.onDamage != nil {
		t.onDamage(row)
	}
}

// put carries out a putting verb.
func (t *tx) put(verb func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.ended(); err != nil {
		return err
	}
	if !t.writable {
		return fault(store.ReadOnly, nil, "a View cannot put anything: use Update")
	}
	return t.judge(verb())
}

// ended tells why no verb is carried out any more, or nil. After a fault that includes that SQLite may
// have rolled the transaction back: what came then would be committed by itself.
func (t *tx) ended() error {
	if err := firstError(t.over, t.lost); err != nil {
		return err
	}
	if err := t.cancelled(); err != nil {
		t.lost = gaveUp(err)
	}
	return t.lost
}

// judge tells a refusal, after which the transaction goes on, from a fault of the store.
func (t *tx) judge(err error) error {
	var refusal refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refusal):
		return err
	case refused(err):
		return fmt.Errorf("a rule of the tables of %s is broken: %w", t.path, err)
	}
	if row, ok := errors.AsType[damaged](err); ok {
		t.report(row)
	}
	failed := classify(t.path, err)
	t.lost = failed
	return failed
}

// refusal is an error of a verb that would have broken a rule of store.Tx. It changes nothing.
type refusal string

func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// damaged names a row whose checksum is not that of its values.
type damaged string

func (d damaged) Error() string { return string(d) + " is not what was written" }

func (t *tx) Writes() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.writes
}

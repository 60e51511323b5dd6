package engine

import (
	"waybill/core"
	"waybill/ledger"
	"waybill/store"
)

// A Claim says what a worker wants.
type Claim struct {
	Worker string
	RunID  string // "" for any
	Role   string // "" for any
	Length int64  // of the lease, in microseconds
}

// A Claimed is what a worker got.
type Claimed struct {
	Task   core.Task // the zero Task if there was none
	Lease  core.Lease
	Prompt string
	// Due is when time alone may make a task ready, or zero.
	Due core.Instant
}

// Empty reports whether there was no task to give.
func (c Claimed) Empty() bool { return c.Task.ID == "" }

// ClaimTask gives the oldest task that is ready to a worker. Leases that have run out are seen to
// first, so that what they held is ready too.
func (tx *Tx) ClaimTask(c Claim) (Claimed, error) {
	if _, err := tx.expireLeases(); err != nil {
		return Claimed{}, err
	}
	held, err := tx.heldBack()
	if err != nil {
		return Claimed{}, err
	}
	ready, err := tx.Tasks(store.TaskQuery{
		ReadyAt: tx.now, RunID: c.RunID, Role: c.Role, Except: held.keys, Limit: 1,
	})
	if err != nil {
		return Claimed{}, err
	}
	if len(ready) == 0 {
		return tx.nextTask(held.until)
	}
	t, err := tx.stepTask(ready[0], core.ClaimTask{
		At: tx.now, Worker: c.Worker, Token: tx.engine.o.NewID("lease_"), Length: c.Length,
	})
	if err != nil {
		return Claimed{}, err
	}
	if err := tx.admitted(t.Current); err != nil {
		return Claimed{}, err
	}
	tx.leased = true
	claimed := Claimed{Task: t, Lease: t.Current.Phase.(core.Running).Lease}
	claimed.Prompt, err = prompt(tx, t)
	return claimed, err
}

// ReturnClaim takes back a claim of which the worker never learned, so that it costs the task no attempt
// and nobody waits for the end of its lease.
func (tx *Tx) ReturnClaim(c Claimed) error {
	t, err := tx.task(c.Task.ID)
	if err != nil {
		return err
	}
	_, err = tx.stepTask(t, core.ReturnTask{At: tx.now, Token: c.Lease.Token})
	return err
}

// nextTask says when it is worth to look again. breakers is when one of them may let somebody through.
func (tx *Tx) nextTask(breakers core.Instant) (Claimed, error) {
	due := breakers
	ready, err := tx.NextReady(tx.now)
	if err != nil {
		return Claimed{}, err
	}
	if ready != 0 && (due == 0 || ready < due) {
		due = ready
	}
	return Claimed{Due: due}, nil
}

// held are the models that nobody may try now.
type held struct {
	keys  []string
	until core.Instant // when the first of them may be tried, or zero
}

func (tx *Tx) heldBack() (held, error) {
	var h held
	breakers, err := tx.OpenedBreakers()
	for _, b := range breakers {
		if !b.Open(tx.now) {
			continue
		}
		h.keys = append(h.keys, b.Key)
		if frees := b.Frees(tx.now); h.until == 0 || frees < h.until {
			h.until = frees
		}
	}
	return h, err
}

// admitted tells a breaker that an attempt tries its model. One that holds it back all the same, since the
// host has its own mind, is not told: it has a probe, or is not due for one.
func (tx *Tx) admitted(a core.Attempt) error {
	b, ok, err := tx.Breaker(a.Model.Key())
	if err != nil || !ok || b.Open(tx.now) {
		return err
	}
	if next := b.Admit(a.ID, tx.now); next != b {
		return tx.PutBreaker(next)
	}
	return nil
}

// mostEarlier is how many earlier answers a prompt may repeat.
const mostEarlier = 50

// prompt gives what the attempt that was just claimed is to be told.
func prompt(tx store.Tx, t core.Task) (string, error) {
	if !t.Continues() {
		return t.Launch.Prompt, nil
	}
	before := max(0, t.Replies-1-mostEarlier)
	earlier, err := tx.Replies(t.ID, before, t.Replies-1-before)
	if err != nil {
		return "", err
	}
	d := ledger.Dialogue{Before: before, Task: t.Launch.Prompt, Output: t.Output, Question: t.Question, Reply: t.Reply}
	d.Earlier = exchanges(earlier, before, t.Replies-1)
	text, _ := ledger.Continuation(d)
	return text, nil
}

// exchanges gives the exchanges of a dialogue behind one number and up to another. The store leaves out what
// is damaged; in its place stands that it is.
func exchanges(replies []store.Reply, after, last int) (list []ledger.Exchange) {
	for n := after + 1; n <= last; n++ {
		next := ledger.Exchange{Reply: "(left out: what was stored is damaged)"}
		if len(replies) > 0 && replies[0].Number == n {
			next = ledger.Exchange{Question: replies[0].Question, Reply: replies[0].Text}
			replies = replies[1:]
		}
		list = append(list, next)
	}
	return list
}

package storetest_test

import (
	"context"
	"errors"
	"slices"
	"sync"

	"waybill/core"
	"waybill/store"
)

func taskSaboteurs() map[string]sabotage {
	return map[string]sabotage{
		"a task comes back in every phase, with every field":                      txs(func(tx store.Tx) store.Tx { return forgetsReason{tx} }),
		"of a task, launch, position and creation are fixed":                      txs(func(tx store.Tx) store.Tx { return lenientTasks{tx} }),
		"no two tasks share a position":                                           txs(func(tx store.Tx) store.Tx { return lenientTasks{tx} }),
		"a task and its newest attempt agree in the end":                          updates(halfTasks),
		"the newest attempt is the current one":                                   txs(func(tx store.Tx) store.Tx { return firstIsCurrent{tx} }),
		"counts of tasks by status agree with the rows":                           puttingCounts,
		"dependents are listed in order, each once":                               txs(func(tx store.Tx) store.Tx { return backwards{tx} }),
		"prune leaves tasks alone":                                                prunesTasks,
		"a dropped task is gone with all that belongs to it, and nothing else is": txs(func(tx store.Tx) store.Tx { return dropsNothing{tx} }),
		"only a task that is over is dropped, and none that is needed":            txs(func(tx store.Tx) store.Tx { return dropsAnything{tx} }),
		"queries of tasks select by every field":                                  asksForTasks(func(q *store.TaskQuery) { q.Except = q.Except[:min(1, len(q.Except))] }),
		"a task is ready exactly when it is claimable":                            asksForTasks(func(q *store.TaskQuery) { q.ReadyAt++ }),
		"pages of tasks neither skip nor repeat":                                  asksForTasks(func(q *store.TaskQuery) { q.After -= q.After % 60 }),
		"tasks are listed from the newest on, too":                                txs(func(tx store.Tx) store.Tx { return turnsPages{tx} }),
		"a count of tasks heeds neither page nor limit":                           txs(func(tx store.Tx) store.Tx { return countsTaskPage{tx} }),
		"a page of tasks is as long as its limit":                                 asksForTasks(func(q *store.TaskQuery) { q.Limit = min(q.Limit, store.DefaultLimit) }),
		"the next retry is found":                                                 txs(func(tx store.Tx) store.Tx { return readyAgain{tx} }),
		"replies are numbered and stay":                                           txs(func(tx store.Tx) store.Tx { return lenientReplies{tx} }),
		"replies are paged in order":                                              txs(func(tx store.Tx) store.Tx { return allReplies{tx} }),
		"a breaker comes back, and the opened ones are listed":                    txs(func(tx store.Tx) store.Tx { return keepsBreakers{tx} }),
		"each task is claimed once":                                               staleTasks,
		"each task is claimed once, by whichever handle":                          staleTasks,
		"the first reply wins":                                                    staleTasks,
		"only the holder of the lease ends an attempt":                            txs(func(tx store.Tx) store.Tx { return forgetsLeases{tx} }),
	}
}

func attemptSaboteurs() map[string]sabotage {
	lenient := txs(func(tx store.Tx) store.Tx { return lenientAttempts{tx} })
	return map[string]sabotage{
		"an attempt comes back in every phase":                      txs(func(tx store.Tx) store.Tx { return sparesNobody{tx} }),
		"an attempt is found by its session and its token":          txs(func(tx store.Tx) store.Tx { return findsLive{tx} }),
		"of an attempt, task, number, cause and creation are fixed": lenient,
		"attempts are numbered without gaps":                        lenient,
		"a task has one unfinished attempt":                         lenient,
		"a finished attempt changes only by stale reports":          lenient,
		"a token belongs to one attempt, a session to one task":     lenient,
		"a session carries several attempts of its task":            txs(func(tx store.Tx) store.Tx { return staysWithTheFirst{tx} }),
		"a claim that was given back leaves its token to nobody":    remembersTokens,
		"attempts of a task are paged in order":                     txs(func(tx store.Tx) store.Tx { return attemptsFromStart{tx} }),
		"leases are listed by their ends":                           txs(func(tx store.Tx) store.Tx { return leasesFromEnd{tx} }),
	}
}

type dropsNothing struct{ store.Tx }

func (d dropsNothing) DropTask(id string) (bool, error) {
	_, ok, err := d.Task(id)
	return ok, err
}

type dropsAnything struct{ store.Tx }

func (d dropsAnything) DropTask(id string) (bool, error) {
	_, _ = d.Tx.DropTask(id)
	return true, nil
}

type forgetsReason struct{ store.Tx }

func (f forgetsReason) PutTask(t core.Task) error {
	if p, running := t.Phase.(core.TaskRunning); running {
		p.CancelReason = ""
		t.Phase = p
	}
	return f.Tx.PutTask(t)
}

type lenientTasks struct{ store.Tx }

func (l lenientTasks) PutTask(t core.Task) error {
	_ = l.Tx.PutTask(t)
	return nil
}

// halfTasks lets half a task pass without a word.
func halfTasks(s store.Store) do {
	return func(ctx context.Context, fn func(store.Tx) error) error {
		err := s.Update(ctx, fn)
		if fault := (*store.Error)(nil); err != nil && !errors.As(err, &fault) {
			return nil
		}
		return err
	}
}

type firstIsCurrent struct{ store.Tx }

func (f firstIsCurrent) Task(id string) (core.Task, bool, error) {
	t, ok, err := f.Tx.Task(id)
	if all, _ := f.Attempts(id, 0, 1); len(all) > 0 {
		t.Current = all[0]
	}
	return t, ok, err
}

// puttingCounts counts what was put, not what is there.
func puttingCounts(s store.Store) store.Store {
	puts := make(map[core.TaskStatus]int)
	return txs(func(tx store.Tx) store.Tx { return countsPutTasks{tx, puts} })(s)
}

type countsPutTasks struct {
	store.Tx
	puts map[core.TaskStatus]int
}

func (c countsPutTasks) PutTask(t core.Task) error {
	c.puts[t.Status()]++
	return c.Tx.PutTask(t)
}

func (c countsPutTasks) TaskCounts() (map[core.TaskStatus]int, error) {
	counts := make(map[core.TaskStatus]int)
	for _, status := range core.TaskStatuses() {
		counts[status] = c.puts[status]
	}
	return counts, nil
}

type backwards struct{ store.Tx }

func (b backwards) Dependents(on, after string, limit int) ([]string, error) {
	ids, err := b.Tx.Dependents(on, after, limit)
	slices.Reverse(ids)
	return ids, err
}

// prunesTasks shows no task any more once Prune was called.
func prunesTasks(s store.Store) store.Store {
	pruned := new(bool)
	return txs(func(tx store.Tx) store.Tx { return gone{tx, pruned} })(s)
}

type gone struct {
	store.Tx
	pruned *bool
}

func (g gone) Prune(before core.Instant, limit int) (int, error) {
	*g.pruned = true
	return g.Tx.Prune(before, limit)
}

func (g gone) Attempts(taskID string, after, limit int) ([]core.Attempt, error) {
	if *g.pruned {
		return nil, nil
	}
	return g.Tx.Attempts(taskID, after, limit)
}

// remembersTokens finds an attempt under every token that it was ever put with.
func remembersTokens(s store.Store) store.Store {
	ids := map[string]string{}
	return txs(func(tx store.Tx) store.Tx { return tokenMemory{tx, ids} })(s)
}

type tokenMemory struct {
	store.Tx
	ids map[string]string
}

func (m tokenMemory) PutAttempt(a core.Attempt) error {
	m.ids[a.Token()] = a.ID
	return m.Tx.PutAttempt(a)
}

func (m tokenMemory) AttemptUnder(token string) (core.Attempt, bool, error) {
	return m.Attempt(m.ids[token])
}

// asksForTasks gives a saboteur that changes the queries.
func asksForTasks(change func(*store.TaskQuery)) sabotage {
	return txs(func(tx store.Tx) store.Tx { return asksOtherTasks{tx, change} })
}

type asksOtherTasks struct {
	store.Tx
	change func(*store.TaskQuery)
}

func (a asksOtherTasks) Tasks(q store.TaskQuery) ([]core.Task, error) {
	a.change(&q)
	return a.Tx.Tasks(q)
}

// turnsPages turns each page around instead of the list.
type turnsPages struct{ store.Tx }

func (p turnsPages) Tasks(q store.TaskQuery) ([]core.Task, error) {
	newest := q.Newest
	q.Newest = false
	page, err := p.Tx.Tasks(q)
	if newest {
		slices.Reverse(page)
	}
	return page, err
}

type countsTaskPage struct{ store.Tx }

func (c countsTaskPage) CountTasks(q store.TaskQuery) (int, error) {
	page, err := c.Tasks(q)
	return len(page), err
}

type readyAgain struct{ store.Tx }

func (r readyAgain) NextReady(after core.Instant) (core.Instant, error) {
	return r.Tx.NextReady(after - 1)
}

type lenientReplies struct{ store.Tx }

func (l lenientReplies) AddReply(r store.Reply) error {
	_ = l.Tx.AddReply(r)
	return nil
}

type allReplies struct{ store.Tx }

func (a allReplies) Replies(taskID string, _, limit int) ([]store.Reply, error) {
	return a.Tx.Replies(taskID, 0, limit)
}

type keepsBreakers struct{ store.Tx }

func (k keepsBreakers) PutBreaker(b core.Breaker) error {
	if _, ok, _ := k.Breaker(b.Key); ok {
		return nil
	}
	return k.Tx.PutBreaker(b)
}

// staleTasks goes on showing a task as it was when somebody first asked for it or for what is ready,
// and lets nobody notice that he came too late.
func staleTasks(s store.Store) store.Store {
	m := &memories{tasks: make(map[string]core.Task)}
	return txs(func(tx store.Tx) store.Tx { return remembers{tx, m} })(s)
}

type memories struct {
	mu    sync.Mutex // guards the rest
	tasks map[string]core.Task
	ready []core.Task
}

type remembers struct {
	store.Tx
	m *memories
}

func (r remembers) Task(id string) (core.Task, bool, error) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	if t, ok := r.m.tasks[id]; ok {
		return t, true, nil
	}
	t, ok, err := r.Tx.Task(id)
	r.m.tasks[id] = t
	return t, ok, err
}

func (r remembers) Tasks(q store.TaskQuery) (page []core.Task, err error) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	if len(r.m.ready) == 0 {
		r.m.ready, err = r.Tx.Tasks(q)
	}
	return r.m.ready, err
}

func (r remembers) PutAttempt(a core.Attempt) error {
	_ = r.Tx.PutAttempt(a)
	return nil
}

func (r remembers) AddReply(reply store.Reply) error {
	_ = r.Tx.AddReply(reply)
	return nil
}

// forgetsLeases shows each running attempt under the lease that the task was first claimed with.
type forgetsLeases struct{ store.Tx }

func (f forgetsLeases) Task(id string) (core.Task, bool, error) {
	t, ok, err := f.Tx.Task(id)
	if p, running := t.Current.Phase.(core.Running); running && t.Current.Number > 1 {
		p.Lease.Token = "lost"
		t.Current.Phase = p
	}
	return t, ok, err
}

type lenientAttempts struct{ store.Tx }

func (l lenientAttempts) PutAttempt(a core.Attempt) error {
	_ = l.Tx.PutAttempt(a)
	return nil
}

type sparesNobody struct{ store.Tx }

func (f sparesNobody) PutAttempt(a core.Attempt) error {
	if p, running := a.Phase.(core.Running); running {
		p.Lease.Spared = false
		a.Phase = p
	}
	return f.Tx.PutAttempt(a)
}

// staysWithTheFirst has the first attempt of a session answer for it.
type staysWithTheFirst struct{ store.Tx }

func (s staysWithTheFirst) AttemptOf(session string) (core.Attempt, bool, error) {
	a, ok, err := s.Tx.AttemptOf(session)
	all, _ := s.Attempts(a.TaskID, 0, 100)
	for _, earlier := range all {
		if ok && earlier.Session() == session {
			return earlier, ok, err
		}
	}
	return a, ok, err
}

// findsLive finds only attempts that are not over.
type findsLive struct{ store.Tx }

func (f findsLive) AttemptOf(session string) (core.Attempt, bool, error) {
	a, ok, err := f.Tx.AttemptOf(session)
	if ok && a.Finished() {
		return core.Attempt{}, false, err
	}
	return a, ok, err
}

type attemptsFromStart struct{ store.Tx }

func (a attemptsFromStart) Attempts(taskID string, _, limit int) ([]core.Attempt, error) {
	return a.Tx.Attempts(taskID, 0, limit)
}

// leasesFromEnd lists what ends at the given instant, too.
type leasesFromEnd struct{ store.Tx }

func (l leasesFromEnd) Leased(after core.Instant, limit int) ([]core.Attempt, error) {
	return l.Tx.Leased(after-1, limit)
}

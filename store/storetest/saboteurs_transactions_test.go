package storetest_test

import (
	"context"
	"strings"
	"sync"

	"waybill/core"
	"waybill/store"
	"waybill/store/memory"
)

func transactionSaboteurs() map[string]sabotage {
	return map[string]sabotage{
		"update is whole": txs(func(tx store.Tx) store.Tx { return forgetsNotices{tx} }),
		"an error of the function applies nothing": updates(func(s store.Store) do {
			return func(ctx context.Context, fn func(store.Tx) error) (err error) {
				_ = s.Update(ctx, func(tx store.Tx) error { err = fn(tx); return nil })
				return err
			}
		}),
		"a panic of the function applies nothing":         updates(commitsOnPanic),
		"effects are those of one run of the function":    updates(runsTwiceInOne),
		"a transaction sees what it put":                  updates(readsBehind),
		"writes are counted":                              txs(func(tx store.Tx) store.Tx { return noWrites{tx} }),
		"a transaction is over when its function returns": func(s store.Store) store.Store { return outlives(s) },
		"a view is one moment": func(s store.Store) store.Store {
			return &bent{Store: s, view: func(_ context.Context, fn func(store.Tx) error) error { return fn(&moments{s: s}) }}
		},
		"a view sees every update that returned": updates(appliesLater),
		"a view runs beside an update and sees nothing of it": func(s store.Store) store.Store {
			return dirty(s)
		},
		"a view cannot put": func(s store.Store) store.Store { return &bent{Store: s, view: s.Update} },
		"a cancelled call applies nothing": updates(func(s store.Store) do {
			return func(ctx context.Context, fn func(store.Tx) error) error {
				return s.Update(context.WithoutCancel(ctx), fn)
			}
		}),
		"a reserved update is an update": func(s store.Store) store.Store {
			return &bent{Store: s, reserved: func(context.Context, func(store.Tx) error) error { return nil }}
		},
		"a moment lasts until something is committed": func(s store.Store) store.Store { return timeless{s} },
	}
}

// timeless knows one moment only.
type timeless struct{ store.Store }

func (timeless) Moment() (store.Moment, bool) { return store.Moment{}, true }

type forgetsNotices struct{ store.Tx }

func (forgetsNotices) PutNotice(store.Notice) error { return nil }

func commitsOnPanic(s store.Store) do {
	return func(ctx context.Context, fn func(store.Tx) error) (err error) {
		var panicked any
		err = s.Update(ctx, func(tx store.Tx) (err error) {
			defer func() { panicked = recover() }()
			return fn(tx)
		})
		if panicked != nil {
			panic(panicked)
		}
		return err
	}
}

func runsTwiceInOne(s store.Store) do {
	return func(ctx context.Context, fn func(store.Tx) error) error {
		return s.Update(ctx, func(tx store.Tx) error {
			if err := fn(tx); err != nil {
				return err
			}
			return fn(tx)
		})
	}
}

// readsBehind gives updates that read what was there before them.
func readsBehind(s store.Store) do {
	return func(ctx context.Context, fn func(store.Tx) error) error {
		return s.View(ctx, func(before store.Tx) error {
			return s.Update(ctx, func(tx store.Tx) error { return fn(behind{tx, before}) })
		})
	}
}

type behind struct {
	store.Tx
	before store.Tx
}

func (b behind) Instruction(id string) (core.Instruction, bool, error) {
	return b.before.Instruction(id)
}

type noWrites struct{ store.Tx }

func (noWrites) Writes() int { return 0 }

// outlives gives transactions that go on as transactions of their own when they are over.
func outlives(s store.Store) store.Store {
	return &bent{Store: s, update: func(ctx context.Context, fn func(store.Tx) error) error {
		var kept *undead
		err := s.Update(ctx, func(tx store.Tx) error { kept = &undead{Tx: tx, s: s}; return fn(kept) })
		kept.over = true
		return err
	}}
}

type undead struct {
	store.Tx
	s    store.Store
	over bool
}

func (u *undead) PutInstruction(in core.Instruction) error {
	if !u.over {
		return u.Tx.PutInstruction(in)
	}
	return u.s.Update(context.Background(), func(tx store.Tx) error { return tx.PutInstruction(in) })
}

// moments looks anew for each verb that the law asks.
type moments struct {
	store.Tx
	s store.Store
}

func (m *moments) anew(fn func(store.Tx) error) { _ = m.s.View(context.Background(), fn) }

func (m *moments) CountInstructions(q store.InstructionQuery) (n int, err error) {
	m.anew(func(tx store.Tx) error { n, err = tx.CountInstructions(q); return nil })
	return n, err
}

func (m *moments) RunCounts() (n map[core.RunState]int, err error) {
	m.anew(func(tx store.Tx) error { n, err = tx.RunCounts(); return nil })
	return n, err
}

func (m *moments) Facts(id string) (f []store.Fact, err error) {
	m.anew(func(tx store.Tx) error { f, err = tx.Facts(id); return nil })
	return f, err
}

func (m *moments) LatestRuns(plan string) (runs []core.Run, err error) {
	m.anew(func(tx store.Tx) error { runs, err = tx.LatestRuns(plan); return nil })
	return runs, err
}

func (m *moments) Runs(q store.RunQuery) (runs []core.Run, err error) {
	m.anew(func(tx store.Tx) error { runs, err = tx.Runs(q); return nil })
	return runs, err
}

func (m *moments) Tallies(id string) (all []store.Tally, err error) {
	m.anew(func(tx store.Tx) error { all, err = tx.Tallies(id); return nil })
	return all, err
}

func (m *moments) Prompt(id string, role core.Role) (p store.Prompt, ok bool, err error) {
	m.anew(func(tx store.Tx) error { p, ok, err = tx.Prompt(id, role); return nil })
	return p, ok, err
}

func (m *moments) CountNotices() (n int, err error) {
	m.anew(func(tx store.Tx) error { n, err = tx.CountNotices(); return nil })
	return n, err
}

func (m *moments) Answered(key string) (a store.Answer, ok bool, err error) {
	m.anew(func(tx store.Tx) error { a, ok, err = tx.Answered(key); return nil })
	return a, ok, err
}

func (m *moments) Events(after int64, limit int, types []core.EventType) (evs []store.Event, err error) {
	m.anew(func(tx store.Tx) error { evs, err = tx.Events(after, limit, types); return nil })
	return evs, err
}

func (m *moments) TaskCounts() (n map[core.TaskStatus]int, err error) {
	m.anew(func(tx store.Tx) error { n, err = tx.TaskCounts(); return nil })
	return n, err
}

func (m *moments) Attempts(id string, after, limit int) (all []core.Attempt, err error) {
	m.anew(func(tx store.Tx) error { all, err = tx.Attempts(id, after, limit); return nil })
	return all, err
}

func (m *moments) Dependents(on, after string, limit int) (ids []string, err error) {
	m.anew(func(tx store.Tx) error { ids, err = tx.Dependents(on, after, limit); return nil })
	return ids, err
}

func (m *moments) Replies(id string, after, limit int) (all []store.Reply, err error) {
	m.anew(func(tx store.Tx) error { all, err = tx.Replies(id, after, limit); return nil })
	return all, err
}

func (m *moments) OpenedBreakers() (all []core.Breaker, err error) {
	m.anew(func(tx store.Tx) error { all, err = tx.OpenedBreakers(); return nil })
	return all, err
}

// appliesLater applies an update when the next one comes.
func appliesLater(s store.Store) do {
	var pending func(store.Tx) error
	return func(ctx context.Context, fn func(store.Tx) error) error {
		if pending != nil {
			if err := s.Update(ctx, pending); err != nil {
				return err
			}
		}
		pending = fn
		return nil
	}
}

// dirty has views that read the update under way.
func dirty(s store.Store) store.Store {
	var mu sync.Mutex // guards newest
	var newest int64
	return &bent{
		Store: s,
		update: func(ctx context.Context, fn func(store.Tx) error) error {
			return s.Update(ctx, func(tx store.Tx) error { return fn(&leaks{tx, &mu, &newest}) })
		},
		view: func(ctx context.Context, fn func(store.Tx) error) error {
			return s.View(ctx, func(tx store.Tx) error { return fn(&leaks{tx, &mu, &newest}) })
		},
	}
}

type leaks struct {
	store.Tx
	mu     *sync.Mutex
	newest *int64
}

func (l *leaks) Append(ev store.Event) (int64, error) {
	seq, err := l.Tx.Append(ev)
	l.mu.Lock()
	*l.newest = seq
	l.mu.Unlock()
	return seq, err
}

func (l *leaks) Bounds() (int64, int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return 1, *l.newest, nil
}

func lifeSaboteurs() map[string]sabotage {
	return map[string]sabotage{
		"what was put is there after a reopening": func(store.Store) store.Store { return memory.New() },
		"numbering goes on after a reopening":     func(store.Store) store.Store { return memory.New() },
		"a closed store refuses": func(s store.Store) store.Store {
			return &bent{Store: s, close: func() error { return nil }}
		},
		"verify finds nothing in a good store": func(s store.Store) store.Store {
			return &bent{Store: s, verify: func(context.Context) ([]store.Damage, error) {
				return []store.Damage{{What: "event 1"}}, nil
			}}
		},
		"status names the kind": func(s store.Store) store.Store {
			return &bent{Store: s, status: func() store.Status { return store.Status{} }}
		},
		"status counts the commits": func(s store.Store) store.Store {
			return &bent{Store: s, status: func() store.Status { return store.Status{Kind: "forgetful"} }}
		},
		"the signal of changes stays open": func(s store.Store) store.Store {
			changed := make(chan struct{}, 1)
			return &bent{Store: s, changed: changed, close: sync.OnceValue(func() error { close(changed); return nil })}
		},
		"a commit of one handle is signalled to the other": func(s store.Store) store.Store {
			return &bent{Store: s, changed: make(chan struct{}, 1)}
		},
		"texts come back byte for byte": txs(func(tx store.Tx) store.Tx { return trims{tx} }),
	}
}

type trims struct{ store.Tx }

func (t trims) PutNotice(n store.Notice) error {
	n.Text = strings.TrimSpace(n.Text)
	return t.Tx.PutNotice(n)
}

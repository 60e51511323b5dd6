package storetest_test

import (
	"slices"

	"waybill/core"
	"waybill/store"
)

func instructionSaboteurs() map[string]sabotage {
	return map[string]sabotage{
		"an instruction comes back in every phase":     txs(func(tx store.Tx) store.Tx { return forgetsLateAck{tx} }),
		"only the phase of an instruction is replaced": txs(func(tx store.Tx) store.Tx { return lenient{tx} }),
		"no two instructions share a position":         txs(func(tx store.Tx) store.Tx { return lenient{tx} }),
		"counts by state agree with the rows": func(s store.Store) store.Store {
			puts := make(map[core.State]int)
			return txs(func(tx store.Tx) store.Tx { return countsPuts{tx, puts} })(s)
		},
		"queries select by every field":        asks(func(q *store.InstructionQuery) { q.Now = 1 << 62 }),
		"a count heeds neither page nor limit": txs(func(tx store.Tx) store.Tx { return countsPage{tx} }),

		"pages by position neither skip nor repeat": asks(func(q *store.InstructionQuery) {
			if q.After > 0 {
				q.After++
			}
			if q.After > 50 {
				q.After = 60
			}
		}),
		"by urgency, priority comes first":              asks(func(q *store.InstructionQuery) { q.Order = store.ByPosition }),
		"by last send, the longest unsent comes first":  asks(func(q *store.InstructionQuery) { q.Order = store.ByUrgency }),
		"a page is as long as its limit":                asks(func(q *store.InstructionQuery) { q.Limit = min(q.Limit, store.DefaultLimit) }),
		"a cursor goes with the order by position only": asks(func(q *store.InstructionQuery) { q.Order = store.ByPosition }),
	}
}

// asks gives a saboteur that changes the queries.
func asks(change func(*store.InstructionQuery)) sabotage {
	return txs(func(tx store.Tx) store.Tx { return asksOther{tx, change} })
}

type asksOther struct {
	store.Tx
	change func(*store.InstructionQuery)
}

func (a asksOther) Instructions(q store.InstructionQuery) ([]core.Instruction, error) {
	a.change(&q)
	return a.Tx.Instructions(q)
}

type forgetsLateAck struct{ store.Tx }

func (f forgetsLateAck) PutInstruction(in core.Instruction) error {
	if p, ok := in.Phase.(core.Failed); ok {
		p.LateAckAt = 0
		in.Phase = p
	}
	return f.Tx.PutInstruction(in)
}

type lenient struct{ store.Tx }

func (l lenient) PutInstruction(in core.Instruction) error {
	_ = l.Tx.PutInstruction(in)
	return nil
}

// countsPuts counts what was put, not what is there.
type countsPuts struct {
	store.Tx
	puts map[core.State]int
}

func (c countsPuts) PutInstruction(in core.Instruction) error {
	c.puts[in.State()]++
	return c.Tx.PutInstruction(in)
}

func (c countsPuts) InstructionCounts() (map[core.State]int, error) {
	counts := make(map[core.State]int)
	for _, state := range core.States() {
		counts[state] = c.puts[state]
	}
	return counts, nil
}

type countsPage struct{ store.Tx }

func (c countsPage) CountInstructions(q store.InstructionQuery) (int, error) {
	page, err := c.Instructions(q)
	return len(page), err
}

func otherSaboteurs() map[string]sabotage {
	return map[string]sabotage{
		"a run comes back":                                txs(func(tx store.Tx) store.Tx { return forgetsCounters{tx} }),
		"the latest run is the one first put last":        func(s store.Store) store.Store { return latestPut(s) },
		"counts of runs agree":                            txs(func(tx store.Tx) store.Tx { return sparseCounts{tx} }),
		"facts are replaced as a whole":                   txs(func(tx store.Tx) store.Tx { return mergesFacts{tx} }),
		"facts belong to a run and have one value":        txs(func(tx store.Tx) store.Tx { return lenientFacts{tx} }),
		"a notice stays until it is consumed":             txs(func(tx store.Tx) store.Tx { return prunesNotices{tx} }),
		"a notice is replaced by its id":                  txs(func(tx store.Tx) store.Tx { return keepsNotices{tx} }),
		"notices are paged by position and session":       txs(func(tx store.Tx) store.Tx { return allSessions{tx} }),
		"no two notices share a position":                 txs(func(tx store.Tx) store.Tx { return lenientNotices{tx} }),
		"the first answer stays":                          func(s store.Store) store.Store { return lastAnswers(s) },
		"prune spares what somebody waits for":            txs(func(tx store.Tx) store.Tx { return failsToAcknowledged{tx} }),
		"prune removes the oldest first, up to the limit": txs(func(tx store.Tx) store.Tx { return noPrune{tx} }),
		"numbering goes on after a prune":                 txs(func(tx store.Tx) store.Tx { return fromOne{tx} }),
	}
}

type forgetsCounters struct{ store.Tx }

func (f forgetsCounters) PutRun(run core.Run) error {
	run.Counters.InvalidResults[core.CodeQualityReviewer-1] = 0
	return f.Tx.PutRun(run)
}

// latestPut takes the run that was put last, be it for the second time.
func latestPut(s store.Store) store.Store {
	latest := make(map[string]core.Run)
	return txs(func(tx store.Tx) store.Tx { return lastPutRun{tx, latest} })(s)
}

type lastPutRun struct {
	store.Tx
	latest map[string]core.Run
}

func (l lastPutRun) PutRun(run core.Run) error {
	l.latest[run.ItemID] = run
	return l.Tx.PutRun(run)
}

func (l lastPutRun) LatestRun(_, itemID string) (core.Run, bool, error) {
	run, ok := l.latest[itemID]
	return run, ok, nil
}

type sparseCounts struct{ store.Tx }

func (c sparseCounts) RunCounts() (map[core.RunState]int, error) {
	counts, err := c.Tx.RunCounts()
	delete(counts, core.RunBlocked)
	return counts, err
}

type mergesFacts struct{ store.Tx }

func (m mergesFacts) PutFacts(runID string, facts []store.Fact) error {
	old, err := m.Facts(runID)
	if err != nil {
		return err
	}
	merged := slices.Clone(facts)
	for _, fact := range old {
		if !slices.ContainsFunc(facts, func(f store.Fact) bool { return f.Key == fact.Key }) {
			merged = append(merged, fact)
		}
	}
	return m.Tx.PutFacts(runID, merged)
}

type lenientFacts struct{ store.Tx }

func (l lenientFacts) PutFacts(runID string, facts []store.Fact) error {
	_ = l.Tx.PutFacts(runID, facts)
	return nil
}

type prunesNotices struct{ store.Tx }

func (p prunesNotices) Prune(before core.Instant, limit int) (int, error) {
	old, err := p.Notices("", 0, limit)
	for _, n := range old {
		_, err = p.ConsumeNotice(n.ID)
	}
	return len(old), err
}

type keepsNotices struct{ store.Tx }

func (k keepsNotices) PutNotice(n store.Notice) error {
	if _, ok, _ := k.Notice(n.ID); ok {
		return nil
	}
	return k.Tx.PutNotice(n)
}

type allSessions struct{ store.Tx }

func (a allSessions) Notices(_ string, after int64, limit int) ([]store.Notice, error) {
	return a.Tx.Notices("", after, limit)
}

type lenientNotices struct{ store.Tx }

func (l lenientNotices) PutNotice(n store.Notice) error {
	_ = l.Tx.PutNotice(n)
	return nil
}

// lastAnswers lets a later answer for a key win.
func lastAnswers(s store.Store) store.Store {
	given := make(map[string]store.Answer)
	return txs(func(tx store.Tx) store.Tx { return laterAnswer{tx, given} })(s)
}

type laterAnswer struct {
	store.Tx
	given map[string]store.Answer
}

func (l laterAnswer) PutAnswer(a store.Answer) error {
	l.given[a.Key] = a
	return l.Tx.PutAnswer(a)
}

func (l laterAnswer) Answered(key string) (store.Answer, bool, error) {
	a, ok := l.given[key]
	return a, ok, nil
}

// failsToAcknowledged keeps failed instructions as acknowledged ones, so that they are pruned.
type failsToAcknowledged struct{ store.Tx }

func (f failsToAcknowledged) PutInstruction(in core.Instruction) error {
	if p, ok := in.Phase.(core.Failed); ok {
		in.Phase = core.Acknowledged{Sends: p.Sends, SentAt: p.SentAt, At: p.At, By: core.ByCall}
	}
	return f.Tx.PutInstruction(in)
}

type noPrune struct{ store.Tx }

func (noPrune) Prune(core.Instant, int) (int, error) { return 0, nil }

type fromOne struct{ store.Tx }

func (f fromOne) Bounds() (int64, int64, error) {
	_, newest, err := f.Tx.Bounds()
	return 1, newest, err
}

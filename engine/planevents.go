package engine

import (
	"context"
	"slices"
	"time"

	"waybill/core"
	"waybill/ledger"
	"waybill/plan"
	planfile "waybill/plan/file"
)

// Plan reads a plan of the workspace and records in the event log that the plan changed or is gone. If the first
// reading fails because the file is still being written, Plan waits once for the write to finish.
func (e *Engine) Plan(ctx context.Context, path string) (Plan, error) {
	plan, err := e.readPlan(ctx, path, nil)
	if plan.Reading == nil && staleness(err) == StaleSettling {
		settled := time.NewTimer(settlePeriod)
		defer settled.Stop()
		select {
		case <-settled.C:
			plan, err = e.readPlan(ctx, path, nil)
		case <-ctx.Done(): // the error says that the file is being written
		}
	}
	if plan.unrecorded {
		e.recordPlanChanges(ctx, path)
	}
	return plan, err
}

// readPlan reads a plan. Before the first reading it asks the event log for the last recorded state, so that changes
// made while no process ran are noticed. facts are those of a run of the plan, or nil.
func (e *Engine) readPlan(ctx context.Context, path string, facts []ledger.Fact) (Plan, error) {
	if e.o.Plans.logKnown(path) {
		return e.o.Plans.Read(path)
	}
	logged, err := e.loggedState(ctx, path) // read first, so that no later record is missed
	plan, fault := e.o.Plans.Read(path)
	if err == nil && logged.Hash == "" {
		logged.Hash, err = e.remembered(ctx, path, plan.Reading, facts)
	}
	items := 0
	if err == nil && logged.Hash != "" && (fault != nil || logged.Hash != plan.Reading.Hash) {
		items, err = e.itemsOnRecord(ctx, path, facts)
	}
	if err == nil && e.o.Plans.noteLogState(path, logged, items, plan.Reading, fault) { // otherwise the next reading asks the log again
		return e.o.Plans.Read(path)
	}
	return plan, fault
}

// LedgerEvent is the data of ledger.changed.
type LedgerEvent struct {
	Hash    string   `json:"hash"`
	MtimeMs int64    `json:"mtime_ms"`
	Size    int64    `json:"size"`
	Changed []string `json:"changed_ids"`
	// Unseen reports that the plan changed while no process watched it. The changed items are unknown.
	Unseen bool `json:"unseen,omitempty"`
	// Gone reports that the file was removed. Hash is then that of its last content.
	Gone bool `json:"gone,omitempty"`
	// Stale is a Stale constant if the file cannot be read, also if it is gone; StaleReason says why. Hash is then
	// that of the last good reading.
	Stale       string `json:"stale,omitempty"`
	StaleReason string `json:"stale_reason,omitempty"`
}

func (ev LedgerEvent) problem() problem { return problem{ev.Stale, ev.StaleReason, ev.Gone} }

func (ev *LedgerEvent) setProblem(l problem) {
	ev.Stale, ev.StaleReason, ev.Gone = l.stale, l.reason, l.gone
}

// sameState reports whether two records describe the same state of the plan.
func (ev LedgerEvent) sameState(other LedgerEvent) bool {
	return ev.problem() == other.problem() && (ev.Stale != "" || ev.Hash == other.Hash)
}

func ledgerEvent(f plan.Fingerprint) LedgerEvent {
	return LedgerEvent{Hash: f.Hash, MtimeMs: f.MtimeMs, Size: f.Size, Changed: []string{}}
}

// recordPlanChanges records changes of a plan in the event log until none is left. After an error, the next reading
// of the plan tries again.
func (e *Engine) recordPlanChanges(ctx context.Context, path string) {
	for {
		change, ok := e.o.Plans.unrecordedChange(path)
		if !ok {
			return
		}
		known, err := e.Do(ctx, Change{Apply: func(tx *Tx) (any, error) { return tx.recordPlanChange(change) }})
		if err != nil {
			e.o.Logger.Warn("a change of a plan was not recorded; the next reading records it", "plan", path, "err", err)
			return
		}
		e.o.Plans.noteRecorded(path, known.(logState))
	}
}

// recordPlanChangesAsync is recordPlanChanges for a caller that must not wait.
func (e *Engine) recordPlanChangesAsync(path string) {
	change, ok := e.o.Plans.unrecordedChange(path)
	if !ok {
		return
	}
	apply := func(tx *Tx) (any, error) { return tx.recordPlanChange(change) }
	e.Submit(context.Background(), Change{Apply: apply}, func(known any, err error) {
		if err != nil {
			e.o.Logger.Warn("a change of a plan was not recorded; the next reading records it", "plan", path, "err", err)
			return
		}
		e.o.Plans.noteRecorded(path, known.(logState))
		e.recordPlanChangesAsync(path)
	})
}

// A planChange is a change of a plan that may be missing in the event log.
type planChange struct {
	path     string
	event    LedgerEvent
	base     *plan.Reading // the reading before the change, or nil
	next     *plan.Reading // the reading with the hash of the event, or nil
	logState logState      // the last known state of the log; a later record may already hold the change
	readNo   int64         // the number of the last good reading
}

// unrecordedChange returns the change of a plan that the event log lacks, if there is one. The caller submits it. Without one, it returns
// the known state of the log, whose path is empty if the log was never read.
func (p *Plans) unrecordedChange(rel string) (planChange, bool) {
	m, _ := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log == nil {
		return planChange{}, false
	}
	c, news := m.change(rel, *m.log, p.o.Now())
	if news && !slices.Contains(m.submitted, c.event.Hash) {
		m.submitted = append(m.submitted[max(0, len(m.submitted)-15):], c.event.Hash) // 16 at most: failed writes leave theirs
	}
	return c, news
}

// changeSince reads a plan again and returns the change since the given state of the log.
func (p *Plans) changeSince(rel string, logged logState) (planChange, bool) {
	_, _ = p.Read(rel) // an error is part of the state to record
	m, _ := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.change(rel, logged, p.o.Now())
}

// change returns the change since the given state of the log. news reports whether there is one.
func (m *planState) change(rel string, logged logState, now time.Time) (c planChange, news bool) {
	c = planChange{path: rel, event: logged.LedgerEvent, next: logged.base, logState: logged, readNo: m.readNo}
	if !m.differsFrom(logged.LedgerEvent, now) {
		return c, false
	}
	if m.unreadable(now) {
		c.event.Changed, c.event.Unseen = []string{}, false
		c.event.setProblem(m.problem)
		return c, true
	}
	c.event, c.next = ledgerEvent(m.reading.Fingerprint), m.reading
	if logged.Hash != m.reading.Hash { // otherwise the file was unreadable and is readable again
		c.base, c.event.Unseen = logged.base, logged.base == nil
	}
	return c, true
}

// eventWithItems returns the event with the ids of the changed items. The comparison is slow, so only the writer of
// the event calls it.
func (c *planChange) eventWithItems() LedgerEvent {
	event := c.event
	if c.base != nil {
		for _, change := range plan.Diff(c.base, c.next) {
			event.Changed = append(event.Changed, change.ItemID)
		}
	}
	return event
}

// logKnown reports whether the state of the plan in the event log is known.
func (p *Plans) logKnown(rel string) bool {
	m, _ := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.log != nil
}

// noteLogState stores the state that the event log had before the first reading, and the item count known from its
// runs. A plan without a record starts with its first reading. A recorded plan is remembered even if its file is
// unreadable or gone. known reports whether the plan is remembered; the caller then has to read it again.
func (p *Plans) noteLogState(rel string, logged logState, items int, first *plan.Reading, fault error) (known bool) {
	m, known := p.memory(rel)
	if !known && (first != nil || logged.Hash != "") {
		m = p.keep(rel, m)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if logged.Hash == "" && first != nil {
		logged.LedgerEvent = ledgerEvent(first.Fingerprint)
	}
	if first != nil && logged.Hash == first.Hash {
		logged.base = first
	}
	if m.log != nil || logged.Hash == "" || logged.logEpoch != p.logEpoch.Load() { // another goroutine was faster, the plan is unknown, or the log was replaced
		return m.log != nil
	}
	m.items = items
	m.log, m.aheadOfLog = &logged, first != nil && logged.Hash != first.Hash
	if first != nil && (m.emptied(first) || m.shrunk(first)) {
		m.file, m.reading, m.current = planfile.File{}, nil, false
	}
	if fault != nil && m.reading == nil {
		m.fault = fault
		m.noteProblem(p.o.Now())
	}
	return true
}

// noteRecorded stores the state of a plan that the event log is known to have.
func (p *Plans) noteRecorded(rel string, known logState) {
	m, _ := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log != nil && known.seq > m.log.seq && known.logEpoch == p.logEpoch.Load() { // otherwise a later state is known, or the log was replaced
		// A record of an unreadable plan, or of an earlier reading of this process, may be older than the reading.
		m.aheadOfLog = m.aheadOfLog && (known.Hash == m.log.Hash || known.own && m.reading != nil && known.Hash != m.reading.Hash)
		m.log = &known
		m.submitted = m.submitted[slices.Index(m.submitted, known.Hash)+1:]
		m.rebase()
	}
}

// rebase sets the reading that later readings are compared with, if it is the one that the event log holds.
func (m *planState) rebase() {
	if m.log != nil && m.current && m.log.Hash == m.reading.Hash {
		m.log.base = m.reading
	}
}

// logOutdated reports whether the event log lacks a change of the plan.
func (m *planState) logOutdated(now time.Time) bool {
	return m.log != nil && m.differsFrom(m.log.LedgerEvent, now)
}

// differsFrom reports whether the plan differs from a state of the log. An unreadable file gets time to become
// readable again, because some editors save by removing the file and writing a new one.
func (m *planState) differsFrom(logged LedgerEvent, now time.Time) bool {
	switch {
	case m.unreadable(now):
		return m.problem != logged.problem()
	case logged.Stale != "":
		return m.current
	}
	return m.reading != nil && m.reading.Hash != logged.Hash
}

// recordPlanChange records a change of a plan and returns the new state of the log. If several processes see the same
// change, the first records it. If another process recorded a different change, the file is read again inside the
// transaction, because the first reading may be outdated.
func (tx *Tx) recordPlanChange(c planChange) (logState, error) {
	era := tx.engine.o.Plans.logEpoch.Load()
	last, seq, err := lastLedger(tx.Tx, c.path, c.logState.seq)
	switch {
	case err != nil:
		return logState{}, err
	case seq > c.logState.seq && last.sameState(c.event):
		return logState{last, seq, c.next, true, era}, nil
	case seq > c.logState.seq:
		known := logState{last, seq, c.logState.base, false, era}
		now, news := tx.engine.o.Plans.changeSince(c.path, known)
		if !news {
			return known, nil
		}
		c = now
	}
	if err := tx.record(core.LedgerChanged, c.path, c.eventWithItems()); err != nil {
		return logState{}, err
	}
	seq, err = tx.Seq()
	return logState{c.event, seq, c.next, true, era}, err
}

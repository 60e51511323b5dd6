package engine

import (
	"context"
	"time"

	"waybill/core"
	"waybill/engine/planfile"
	"waybill/ledger"
)

// Plan reads a plan of the workspace. One that this process has not read yet, and that may still be being written, is
// given a moment. If it reads differently than the event log says, or is gone,
// that is recorded there.
func (e *Engine) Plan(ctx context.Context, path string) (Plan, error) {
	plan, err := e.readPlan(ctx, path, nil)
	if plan.Reading == nil && staleness(err) == StaleSettling {
		settled := time.NewTimer(settlePeriod)
		defer settled.Stop()
		select {
		case <-settled.C:
			plan, err = e.readPlan(ctx, path, nil)
		case <-ctx.Done(): // then the answer is that it is being written
		}
	}
	if plan.unannounced {
		e.announcePlan(ctx, path)
	}
	return plan, err
}

// readPlan reads a plan. The first time, the event log is asked what it says about the plan, so that
// a change is noticed which came about while no process looked. facts are those of a run of the plan,
// if the caller has them.
func (e *Engine) readPlan(ctx context.Context, path string, facts []ledger.Fact) (Plan, error) {
	if e.o.Plans.introduced(path) {
		return e.o.Plans.Read(path)
	}
	said, err := e.said(ctx, path) // before the file is read, so that no record about it is missed
	plan, fault := e.o.Plans.Read(path)
	if err == nil && said.Hash == "" {
		said.Hash, err = e.remembered(ctx, path, plan.Reading, facts)
	}
	items := 0
	if err == nil && said.Hash != "" && (fault != nil || said.Hash != plan.Reading.Hash) {
		items, err = e.itemsOnRecord(ctx, path, facts)
	}
	if err == nil && e.o.Plans.introduce(path, said, items, plan.Reading, fault) { // else the log is asked again at the next look
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
	// Unseen reports that the plan changed while no process looked. Which items did is not known.
	Unseen bool `json:"unseen,omitempty"`
	// Gone reports that the file is not there any more. What it said last has the hash.
	Gone bool `json:"gone,omitempty"`
	// Stale, if not empty, is the Stale constant for a plan that cannot be read as it is, and StaleReason says
	// what is wrong with its file. What it said last has the hash. Of a file that is gone, both are set, too.
	Stale       string `json:"stale,omitempty"`
	StaleReason string `json:"stale_reason,omitempty"`
}

func (ev LedgerEvent) lapse() lapse { return lapse{ev.Stale, ev.StaleReason, ev.Gone} }

func (ev *LedgerEvent) lapsed(l lapse) { ev.Stale, ev.StaleReason, ev.Gone = l.stale, l.reason, l.gone }

// says reports whether two records leave a host with the same picture of the plan.
func (ev LedgerEvent) says(other LedgerEvent) bool {
	return ev.lapse() == other.lapse() && (ev.Stale != "" || ev.Hash == other.Hash)
}

func ledgerEvent(f ledger.Fingerprint) LedgerEvent {
	return LedgerEvent{Hash: f.Hash, MtimeMs: f.MtimeMs, Size: f.Size, Changed: []string{}}
}

// announcePlan records what the event log does not know about a plan, also what came up while that
// was recorded. What cannot be recorded now is tried again at the next look at the plan.
func (e *Engine) announcePlan(ctx context.Context, path string) {
	for {
		change, ok := e.o.Plans.pending(path)
		if !ok {
			return
		}
		known, err := e.Do(ctx, Change{Apply: func(tx *Tx) (any, error) { return tx.announce(change) }})
		if err != nil {
			e.o.Logger.Warn("a change of a plan was not recorded", "plan", path, "err", err)
			return
		}
		e.o.Plans.announced(path, known.(logged))
	}
}

// announceLater is announcePlan for a caller that must not wait.
func (e *Engine) announceLater(path string) {
	change, ok := e.o.Plans.pending(path)
	if !ok {
		return
	}
	apply := func(tx *Tx) (any, error) { return tx.announce(change) }
	e.Submit(context.Background(), Change{Apply: apply}, func(known any, err error) {
		if err != nil {
			e.o.Logger.Warn("a change of a plan was not recorded", "plan", path, "err", err)
			return
		}
		e.o.Plans.announced(path, known.(logged))
		e.announceLater(path)
	})
}

// A planChange is something about a plan that the event log may not know.
type planChange struct {
	path  string
	event LedgerEvent
	base  *ledger.Reading // what the plan said before, or nil
	next  *ledger.Reading // has the hash of the event, or nil
	said  logged          // what the event log was known to say; a record behind it may say the same
	turn  int64           // of the last good reading
}

// pending gives what is still to be announced, if anything. Even if not, it gives what the event log is known to say;
// then the path is empty if that was never asked.
func (p *Plans) pending(rel string) (planChange, bool) {
	m, _ := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log == nil {
		return planChange{}, false
	}
	return m.change(rel, *m.log, p.o.Now())
}

// since looks at a plan once more and gives what is still to be announced if the event log says this.
func (p *Plans) since(rel string, said logged) (planChange, bool) {
	_, _ = p.Read(rel) // what is wrong is a part of what may be announced
	m, _ := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.change(rel, said, p.o.Now())
}

// change gives what the event log has to be told if it says this, if anything.
func (m *plan) change(rel string, said logged, now time.Time) (c planChange, news bool) {
	c = planChange{path: rel, event: said.LedgerEvent, next: said.base, said: said, turn: m.turn}
	if !m.newsFor(said.LedgerEvent, now) {
		return c, false
	}
	if m.lapsed(now) {
		c.event.Changed, c.event.Unseen = []string{}, false
		c.event.lapsed(m.lapse)
		return c, true
	}
	c.event, c.next = ledgerEvent(m.reading.Fingerprint), m.reading
	if said.Hash != m.reading.Hash { // else it could not be read, and can be again
		c.base, c.event.Unseen = said.base, said.base == nil
	}
	return c, true
}

// full gives the event with the items that changed. To find them takes a while, so that only who writes
// the event down does.
func (c *planChange) full() LedgerEvent {
	event := c.event
	if c.base != nil {
		for _, change := range ledger.Diff(c.base, c.next) {
			event.Changed = append(event.Changed, change.ItemID)
		}
	}
	return event
}

// introduced reports whether the event log was asked about the plan.
func (p *Plans) introduced(rel string) bool {
	m, _ := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.log != nil
}

// introduce notes what the event log said before the plan was read: that becomes the first thing
// known about it, and how many items its runs know of, or 0. A plan of which nothing is on record begins with its first reading. One that is on
// record and cannot be read is remembered, too, and may have gone. known reports whether the plan is
// remembered, and has to be looked at in the light of that.
func (p *Plans) introduce(rel string, said logged, items int, first *ledger.Reading, fault error) (known bool) {
	m, known := p.memory(rel)
	if !known && (first != nil || said.Hash != "") {
		m = p.keep(rel, m)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if said.Hash == "" && first != nil {
		said.LedgerEvent = ledgerEvent(first.Fingerprint)
	}
	if first != nil && said.Hash == first.Hash {
		said.base = first
	}
	if m.log != nil || said.Hash == "" || said.era != p.era.Load() { // somebody else was faster, nobody knows the plan, or the log is gone
		return m.log != nil
	}
	m.items = items
	m.log, m.unsaid = &said, first != nil && said.Hash != first.Hash
	if first != nil && (m.emptied(first) || m.shrunk(first)) {
		m.file, m.reading, m.current = planfile.File{}, nil, false
	}
	if fault != nil && m.reading == nil {
		m.fault = fault
		m.note(p.o.Now())
	}
	return true
}

// announced notes what the event log is known to say about a plan.
func (p *Plans) announced(rel string, known logged) {
	m, _ := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.log != nil && known.seq > m.log.seq && known.era == p.era.Load() { // else somebody noted a later one meanwhile, or it is one of another log
		// Of a plan that cannot be read, what it said last is told again, and that may be older than the reading. So may
		// be what this process has read before and recorded just now.
		m.unsaid = m.unsaid && (known.Hash == m.log.Hash || known.own && m.reading != nil && known.Hash != m.reading.Hash)
		m.log = &known
		m.rebase()
	}
}

// rebase makes the reading that the event log tells of the one that later ones are compared with.
func (m *plan) rebase() {
	if m.log != nil && m.current && m.log.Hash == m.reading.Hash {
		m.log.base = m.reading
	}
}

// news reports whether the event log has to be told something.
func (m *plan) news(now time.Time) bool { return m.log != nil && m.newsFor(m.log.LedgerEvent, now) }

// newsFor reports whether an event log that says this has to be told something. What cannot be read is given time to
// become readable again: there are editors that save by removing a file and writing it anew.
func (m *plan) newsFor(said LedgerEvent, now time.Time) bool {
	switch {
	case m.lapsed(now):
		return m.lapse != said.lapse()
	case said.Stale != "":
		return m.current
	}
	return m.reading != nil && m.reading.Hash != said.Hash
}

// announce records a change of a plan, and gives what the log says then. Of several processes that see the same
// change, the first one records it. If another one has recorded something else meanwhile, what this one saw may be no
// more so: then it looks again, while nobody else can record anything.
func (tx *Tx) announce(c planChange) (logged, error) {
	era := tx.engine.o.Plans.era.Load()
	last, seq, err := lastLedger(tx.Tx, c.path, c.said.seq)
	switch {
	case err != nil:
		return logged{}, err
	case seq > c.said.seq && last.says(c.event):
		return logged{last, seq, c.next, true, era}, nil
	case seq > c.said.seq:
		known := logged{last, seq, c.said.base, false, era}
		now, news := tx.engine.o.Plans.since(c.path, known)
		if !news {
			return known, nil
		}
		c = now
	}
	if err := tx.record(core.LedgerChanged, c.path, c.full()); err != nil {
		return logged{}, err
	}
	seq, err = tx.Seq()
	return logged{c.event, seq, c.next, true, era}, err
}

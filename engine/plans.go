package engine

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"waybill/engine/planfile"
	"waybill/ledger"
)

// Plans reads the plan files of one workspace and remembers what it read. Every Read looks at the
// file itself; only if the file has provably not changed is the memory used. All methods may be
// called from any goroutine.
type Plans struct {
	root *planfile.Root
	o    PlanOptions
	era  atomic.Int64 // counts the event logs that took the place of another

	mu     sync.Mutex // guards what follows, not what the plans hold
	plans  map[string]*plan
	others map[string]other // what lies beside plans and is none
	rules  ruleFile         // what DialectFile said
	// criteria are those of the files that say what is to be done, by their paths.
	criteria map[string]criteriaFile
}

// PlanOptions configures Plans. Every zero value works.
type PlanOptions struct {
	// Watch is told each path once, when a plan was read from it first, or is known to have been there.
	Watch func(path string)
	// Expect is told each path, again and again, at which a plan may appear, or something that is a part of
	// one: when it has changed, List may give other plans than before.
	Expect func(path string)
	// Dialects sets what some plans are read in. The first rule that fits a path counts.
	Dialects []DialectRule
	// DialectFile, if not empty, is the file that all processes of a workspace take these rules from; see
	// WriteDialects. Dialects then does not count. What it says is heeded as soon as it says so.
	DialectFile string
	// Now is the clock; by default time.Now.
	Now func() time.Time
}

// plan is the memory of one file.
type plan struct {
	mu      sync.Mutex // guards what follows; held while the file is read
	file    planfile.File
	placing ledger.Placing  // that file was read with
	reading *ledger.Reading // the last good one, or nil
	turn    int64           // counts the good readings
	current bool            // whether reading is what file says
	fault   error           // why it is not; nil until it was read
	lapse   lapse           // why it is not, in the words of hosts
	turned  time.Time       // since when for that reason
	since   time.Time       // when it was first found that it is not; zero while it is
	log     *logged         // what the event log says about the plan; nil until it was asked
	unsaid  bool            // reading is newer than what log tells of
	items   int             // how many the plan had by its runs before the first reading; 0 if nobody knows
}

// NewPlans gives the plans of a workspace.
func NewPlans(root *planfile.Root, o PlanOptions) *Plans {
	if o.Watch == nil {
		o.Watch = func(string) {}
	}
	if o.Expect == nil {
		o.Expect = func(string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Plans{root: root, o: o, plans: map[string]*plan{}, others: map[string]other{}}
}

// A Plan is one plan as it was read.
type Plan struct {
	Path    string
	Reading *ledger.Reading
	// Stale, if not empty, says why Reading is the last good one and not the file as it is now.
	// Fault then is the error.
	Stale string
	Fault error
	// Reason says in one word what is wrong with the file, and Since when this process first found that the plan
	// cannot be read as it is. Both are there also without a Reading.
	Reason string
	Since  time.Time
	turn   int64  // a later reading has a higher one
	said   logged // what the event log is known to say about the plan
	// unsaid reports whether Reading is newer than that.
	unsaid bool
	// unannounced reports whether there is something about the plan that the event log does not know.
	unannounced bool
	// again reports whether the plan has to be looked at again soon, whatever a watcher says.
	again bool
}

// Known gives the paths of the plans that were read so far, or that are known to have been there, in
// ascending order, whether they are still there or not.
func (p *Plans) Known() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.plans))
}

// Read gives the plan at a path relative to the workspace. An error means that there is no reading
// at all; it is a *planfile.Error, a *ledger.ParseError or, for a plan that was emptied before this process
// read it, a *StaleError.
func (p *Plans) Read(rel string) (Plan, error) {
	m, known := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	now := p.o.Now()
	if placing := p.Placing(rel); placing != m.placing {
		m.file, m.placing, m.current = planfile.File{}, placing, false // the same text may be another plan
	}
	file, err := p.root.Read(rel, &m.file)
	switch {
	case err != nil:
		m.file, m.current, m.fault = planfile.File{}, false, err
	case !file.Unchanged:
		p.parse(m, file)
		p.expectParts(&file)
	}
	m.note(now)
	m.rebase()
	v := Plan{
		Path: rel, Reading: m.reading, turn: m.turn, Reason: m.lapse.reason, Since: m.since,
		unannounced: m.news(now), again: m.wavers(now),
	}
	if v.unsaid = m.unsaid; m.log != nil {
		v.said = *m.log
	}
	if m.reading == nil {
		return v, m.fault
	}
	if !known {
		p.keep(rel, m)
	}
	if !m.current {
		v.Stale, v.Fault = m.lapse.stale, m.fault
	}
	return v, nil
}

// memory gives what is remembered of a path, or an empty memory that nobody keeps yet.
func (p *Plans) memory(rel string) (m *plan, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, known = p.plans[rel]; known {
		return m, true
	}
	return &plan{}, false
}

// lastGood gives the last good reading of a plan, or nil.
func (p *Plans) lastGood(rel string) *ledger.Reading {
	m, _ := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reading
}

// keep remembers a path once a plan was read from it, so that what hosts misspell takes no room and
// is not watched. If two read it first at once, one of them is forgotten, and nothing is lost. It
// gives the memory that is kept.
func (p *Plans) keep(rel string, m *plan) *plan {
	p.mu.Lock()
	kept, known := p.plans[rel]
	if !known {
		kept, p.plans[rel] = m, m
	}
	p.mu.Unlock()
	if !known {
		p.o.Watch(rel)
	}
	return kept
}

// parse takes new bytes of a file in. A reading that is not good leaves the last good one in place.
func (p *Plans) parse(m *plan, file planfile.File) {
	same := m.current && file.Text == m.file.Text
	m.file = file
	if same {
		return // touched, not changed
	}
	hash := file.Hash()
	reading, err := ledger.ReadPlaced(file.Text, m.placing)
	m.fault = err
	if err == nil {
		reading.Hash, reading.MtimeMs = hash(), file.Stat.MtimeMs()
		m.fault = p.suspect(m, reading, file)
	} else if m.reading != nil && p.settling(file) {
		m.fault = &StaleError{file.Path, StaleSettling}
	}
	if m.current = m.fault == nil; !m.current {
		return
	}
	m.reading, m.unsaid = reading, m.log == nil || m.log.Hash != reading.Hash
	m.turn++
}

// suspect says why a reading that parsed is not believed yet.
func (p *Plans) suspect(m *plan, next *ledger.Reading, file planfile.File) error {
	less := m.emptied(next) || m.shrunk(next)
	if m.reading != nil {
		less = next.Len() < m.reading.Len()
	}
	switch {
	case less && p.settling(file):
		return &StaleError{file.Path, StaleSettling}
	case less && next.Len() == 0:
		return &StaleError{file.Path, StaleEmpty}
	}
	return nil
}

// emptied reports whether the first reading of a plan is blank, and the plan is known to have said something else.
func (m *plan) emptied(first *ledger.Reading) bool {
	return m.log != nil && m.log.Hash != "" && m.log.Hash != first.Hash && first.Len() == 0
}

// shrunk reports whether the first reading of a plan has fewer items than its runs know of.
func (m *plan) shrunk(first *ledger.Reading) bool {
	return first.Len() < m.items
}

// settling reports whether the file was written so recently that the rest may still be to come.
func (p *Plans) settling(file planfile.File) bool {
	age := p.o.Now().Sub(lastWritten(file))
	return file.Unstable || (age >= 0 && age < settlePeriod)
}

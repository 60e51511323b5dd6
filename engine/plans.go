package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"waybill/engine/planfile"
	"waybill/ledger"
)

// settlePeriod is how long a file that suddenly says less is given to say the rest: editors truncate
// a file before they write it. It is not shorter than the watcher's quiet period.
const settlePeriod = 150 * time.Millisecond

// Why a Plan is not what the file says now.
const (
	StaleSettling = "settling"       // the file is being written
	StaleEmpty    = "empty"          // the file was emptied
	StaleRebuild  = "rebuild_failed" // the file cannot be read, or nothing can be read from it
)

// Plans reads the plan files of one workspace and remembers what it read. Every Read looks at the
// file itself; only if the file has provably not changed is the memory used. All methods may be
// called from any goroutine.
type Plans struct {
	root *planfile.Root
	o    PlanOptions

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
	fault   error           // why it is not
	lost    time.Time       // when the file was first found to be gone; zero while it is there
	log     *logged         // what the event log says about the plan; nil until it was asked
}

func (m *plan) gone() bool { return !m.lost.IsZero() }

// noteFault notes why the file could not be read, or nil if it could.
func (m *plan) noteFault(fault error, now time.Time) {
	if fault != nil {
		m.fault = fault
	}
	switch gone := errors.Is(fault, planfile.Missing) || errors.Is(fault, planfile.SymlinkDangling); {
	case !gone:
		m.lost = time.Time{}
	case !m.gone():
		m.lost = now
	}
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
	turn  int64 // a later reading has a higher one
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
// at all; it is a *planfile.Error or a *ledger.ParseError.
func (p *Plans) Read(rel string) (Plan, error) {
	m, known := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	now := p.o.Now()
	if placing := p.Placing(rel); placing != m.placing {
		m.file, m.placing, m.current = planfile.File{}, placing, false // the same text may be another plan
	}
	file, err := p.root.Read(rel, &m.file)
	m.noteFault(err, now)
	switch {
	case err != nil:
		m.file, m.current = planfile.File{}, false
	case !file.Unchanged:
		p.parse(m, file)
		p.expectParts(&file)
	}
	v := Plan{Path: rel, Reading: m.reading, turn: m.turn, unannounced: m.news(now), again: m.wavers(now)}
	if m.reading == nil {
		return v, m.fault
	}
	if !known {
		p.keep(rel, m)
	}
	if !m.current {
		v.Stale, v.Fault = staleness(m.fault), m.fault
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

// A StaleError says why the last good reading of a plan is used although its file can be read.
type StaleError struct {
	Path   string
	Reason string // StaleSettling or StaleEmpty
}

// Error names the plan and what is wrong with its file.
func (e *StaleError) Error() string {
	what := "was emptied"
	if e.Reason == StaleSettling {
		what = "was written just now and says less than before"
	}
	return fmt.Sprintf("the file of plan %q %s; its last good reading is used", e.Path, what)
}

func staleness(fault error) string {
	if stale, ok := errors.AsType[*StaleError](fault); ok {
		return stale.Reason
	}
	return StaleRebuild
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
	m.current = err == nil
	if err == nil && m.reading != nil {
		m.fault = p.suspect(m.reading, reading, file)
		m.current = m.fault == nil
	} else if err != nil && m.reading != nil && p.settling(file) {
		m.fault = &StaleError{file.Path, StaleSettling}
	}
	if !m.current {
		return
	}
	reading.Hash, reading.MtimeMs = hash(), file.Stat.MtimeMs()
	m.reading = reading
	m.turn++
}

// suspect says why a reading that parsed is not believed yet.
func (p *Plans) suspect(last, next *ledger.Reading, file planfile.File) error {
	switch {
	case next.Len() < last.Len() && p.settling(file):
		return &StaleError{file.Path, StaleSettling}
	case next.Len() == 0 && last.Len() > 0:
		return &StaleError{file.Path, StaleEmpty}
	}
	return nil
}

// settling reports whether the file was written so recently that the rest may still be to come.
func (p *Plans) settling(file planfile.File) bool {
	age := p.o.Now().Sub(time.Unix(0, max(file.Stat.MtimeNs, file.ListedNs)))
	return file.Unstable || (age >= 0 && age < settlePeriod)
}

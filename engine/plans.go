package engine

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"waybill/plan"
	planfile "waybill/plan/file"
	"waybill/plan/read"
)

// Plans reads the plan files of one workspace and caches the readings. Every Read checks the file; the cache is used
// only if the file did not change. All methods may be called from any goroutine.
type Plans struct {
	root     *planfile.Root
	o        PlanOptions
	logEpoch atomic.Int64 // incremented when the event log is replaced

	mu     sync.Mutex // guards the fields below, but not the contents of plans
	plans  map[string]*planState
	others map[string]other // files that are not plans
	rules  ruleFile         // the cached DialectFile
	// criteria caches the criteria files by path.
	criteria map[string]criteriaFile
}

// PlanOptions configures Plans. Every zero value works.
type PlanOptions struct {
	// Watch is called once with each path that a plan was read from or was recorded at.
	Watch func(path string)
	// Expect is called, also repeatedly, with each path at which a plan or a part of one may appear. When that path
	// changes, List may return other plans.
	Expect func(path string)
	// Dialects sets the dialects of some plans. The first matching rule counts.
	Dialects []DialectRule
	// DialectFile, if not empty, is a file with the dialect rules of the workspace; see WriteDialects. It replaces
	// Dialects, and a change takes effect at once.
	DialectFile string
	// Now is the clock; by default time.Now.
	Now func() time.Time
}

// planState is the cache of one plan.
type planState struct {
	mu           sync.Mutex // guards the fields below; held while the file is read
	file         planfile.File
	placing      plan.Hints    // used for the reading
	reading      *plan.Reading // the last good reading, or nil
	readNo       int64         // the number of good readings
	current      bool          // reading matches file
	fault        error         // why reading does not match; nil before the first Read
	problem      problem       // fault in wire words
	problemSince time.Time     // the start of problem
	since        time.Time     // when the plan was first found unreadable; zero if readable
	log          *logState     // the recorded state; nil until it was read
	aheadOfLog   bool          // reading is newer than log
	submitted    []string      // the hashes that this process submitted to the log since it noted log
	items        int           // the item count known from runs before the first reading; 0 if unknown
}

// NewPlans returns the plans of a workspace.
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
	return &Plans{root: root, o: o, plans: map[string]*planState{}, others: map[string]other{}}
}

// A Plan is a reading of a plan file.
type Plan struct {
	Path    string
	Reading *plan.Reading
	// Stale, if not empty, says why Reading is the last good reading instead of the current file. Fault is the error.
	Stale string
	Fault error
	// Reason is the problem of the file in one word, and Since is when this process first found it unreadable. Both
	// are set even without a Reading.
	Reason     string
	Since      time.Time
	readNo     int64    // increases with each reading
	logState   logState // the recorded state of the plan
	aheadOfLog bool     // Reading is newer than logState
	ours       []string // the hash of logState, and those that this process submitted since
	// unrecorded reports whether the event log lacks a change of the plan.
	unrecorded bool
	// recheck reports whether the plan must be read again soon, even if the watcher reports no change.
	recheck bool
}

// Known returns the paths of all plans that were read or recorded, in ascending order, even if they are gone.
func (p *Plans) Known() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.plans))
}

// Read returns the plan at a path relative to the workspace. An error means that there is no good reading. It is a
// *planfile.Error, a *plan.ParseError or, for a plan that was emptied before the first reading, a *StaleError.
func (p *Plans) Read(rel string) (Plan, error) {
	m, known := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	now := p.o.Now()
	if placing := p.Placing(rel); placing != m.placing {
		m.file, m.placing, m.current = planfile.File{}, placing, false // another dialect reads the same text differently
	}
	file, err := p.root.Read(rel, &m.file)
	switch {
	case err != nil:
		m.file, m.current, m.fault = planfile.File{}, false, err
	case !file.Unchanged:
		p.parse(m, file)
		p.expectParts(&file)
	}
	m.noteProblem(now)
	m.rebase()
	v := Plan{
		Path: rel, Reading: m.reading, readNo: m.readNo, Reason: m.problem.reason, Since: m.since,
		unrecorded: m.logOutdated(now), recheck: m.needsRecheck(now),
	}
	if v.aheadOfLog = m.aheadOfLog; m.log != nil {
		v.logState, v.ours = *m.log, append([]string{m.log.Hash}, m.submitted...)
	}
	if m.reading == nil {
		return v, m.fault
	}
	if !known {
		p.keep(rel, m)
	}
	if !m.current {
		v.Stale, v.Fault = m.problem.stale, m.fault
	}
	return v, nil
}

// memory returns the cache of a path, or an empty one that is not kept yet.
func (p *Plans) memory(rel string) (m *planState, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m, known = p.plans[rel]; known {
		return m, true
	}
	return &planState{}, false
}

// lastGood returns the last good reading of a plan, or nil.
func (p *Plans) lastGood(rel string) *plan.Reading {
	m, _ := p.memory(rel)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reading
}

// keep caches a path once a plan was read from it, so that misspelt paths are neither cached nor watched. If two
// callers read it at once, the first wins. keep returns the winner.
func (p *Plans) keep(rel string, m *planState) *planState {
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

// parse reads new bytes of a file. A bad reading leaves the last good one in place.
func (p *Plans) parse(m *planState, file planfile.File) {
	same := m.current && file.Text == m.file.Text
	m.file = file
	if same {
		return // touched, not changed
	}
	hash := file.Hash()
	reading, err := read.Read(file.Text, m.placing)
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
	m.reading, m.aheadOfLog = reading, m.log == nil || m.log.Hash != reading.Hash
	m.readNo++
}

// suspect returns why a reading that parsed is not used yet, or nil.
func (p *Plans) suspect(m *planState, next *plan.Reading, file planfile.File) error {
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

// emptied reports whether the first reading is blank although the event log recorded another content.
func (m *planState) emptied(first *plan.Reading) bool {
	return m.log != nil && m.log.Hash != "" && m.log.Hash != first.Hash && first.Len() == 0
}

// shrunk reports whether the first reading has fewer items than its runs know.
func (m *planState) shrunk(first *plan.Reading) bool {
	return first.Len() < m.items
}

// settling reports whether the file was written so recently that more may follow.
func (p *Plans) settling(file planfile.File) bool {
	age := p.o.Now().Sub(lastWritten(file))
	return file.Unstable || (age >= 0 && age < settlePeriod)
}

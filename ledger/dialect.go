package ledger

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	specContext  = "spec-context"
	specWorkflow = "spec-workflow"
	kiro         = "kiro"
	specKit      = "spec-kit"
	openSpec     = "openspec"
	ccSDD        = "cc-sdd"
	aiDev        = "ai-dev-tasks"
	superpowers  = "superpowers"
	tina         = "tina"
	agentOS      = "agent-os"
	conductor    = "conductor"
	bmad         = "bmad"
	ccpm         = "ccpm"
	loose        = "loose"
	tabular      = "table"
	backlog      = "backlog"
	taskMaster   = "task-master"
	epicFiles    = "ccpm-files"
	gsd          = "gsd"
)

// Parse reads a plan. The result depends on src alone. The error is a
// *ParseError: the bytes are no UTF-8 text, or a file that is not blank has no
// item in any dialect. A blank file is a reading without items.
func Parse(src []byte) (*Reading, error) {
	r, err := Read(string(src))
	if err != nil {
		return nil, err
	}
	r.Hash = Hash(src)
	return r, nil
}

// Read is Parse without the hash of the source, for a caller who finds it out
// at the same time. The reading shares the memory of the text.
func Read(text string) (*Reading, error) { return ReadPlaced(text, Placing{}) }

// ReadPlaced is Read for a plan of which more is known than its text.
func ReadPlaced(text string, p Placing) (*Reading, error) {
	if strings.HasPrefix(text, joinedFiles) {
		return readFolder(text, p)
	}
	if err := checkText(text); err != nil {
		return nil, err
	}
	var fault error
	if beginsRecord(text) {
		r, err := readRecord(text, p)
		if r != nil {
			return r, nil
		}
		fault = err
	}
	return readList(text, p, fault)
}

// readList reads a plan of one file line by line. The fault says why it is not
// what it looked like at first; a text without any item is no more than that.
func readList(text string, p Placing, fault error) (*Reading, error) {
	n := readAs(text, &numberedGrammar, &sightings{placing: p})
	g := n.choose()
	if g.records != nil {
		return readRecord(text, p)
	}
	if g != n.g {
		n = readAs(text, g, &n.seen)
	} else if g := n.hinted(); g != nil {
		n = n.orAs(g)
	}
	switch {
	case n.r.Len() > 0 || isBlank(text):
		return n.sealed(), nil
	case fault != nil:
		return nil, fault
	case strings.Contains(text, "<task"):
		if r, _ := readRecord(text, p); r != nil {
			return r, nil
		}
	}
	return readAny(text, n)
}

func (n *numbered) sealed() *Reading {
	n.r.text, n.r.grammar, n.r.Size, n.r.placing = n.src, n.g, int64(len(n.src)), n.seen.placing
	return n.r
}

// readAny tries every grammar on a text in which the first choice has found
// nothing, unless the text itself made that choice.
func readAny(text string, first *numbered) (*Reading, error) {
	tried := first.attempts(nil)
	last := first
	for _, g := range first.seen.placing.first(grammars[:]) {
		if g == first.g || first.dictated() != nil {
			continue
		}
		if !g.anywhere {
			tried = append(tried, Attempt{Dialect: g.dialects[0], Reason: g.missing})
			continue
		}
		n := readAs(text, g, &first.seen)
		if n.r.Len() > 0 {
			return n.sealed(), nil
		}
		tried, last = n.attempts(tried), n
	}
	return nil, &ParseError{
		Reason:     ReasonNoItems,
		Message:    `no task was found: a task is a line such as "- [ ] 1.2 Write the report"`,
		Checkboxes: last.r.Checkboxes, Tried: tried, Diagnostics: last.r.Diagnostics,
	}
}

func (n *numbered) attempts(tried []Attempt) []Attempt {
	for _, name := range n.g.dialects {
		tried = append(tried, Attempt{Dialect: name, Reason: n.none()})
	}
	return tried
}

func isBlank(text string) bool {
	c := newCursor(text)
	for {
		start, end, ok := c.next()
		if !ok {
			return true
		}
		if skipBlanks(text[:end], start) < end {
			return false
		}
	}
}

// signal is something in a numbered plan that points to one of its dialects.
type signal uint8

const (
	signalBlocked signal = iota
	signalPrompt
	signalLeverage
	signalStar
	signalGraph
	signalProperty
	signalHeading
	signalTask
	signalTag
	signalGroup
	signalParallel
	signalBoundary
	signalStruck
	signalZero
	signalRelevant
	signalTaskGroup
	signalTaskHeading
	signalStep
	signalNumbered
	signalAnew
	signalReview
	signalTrack
	signalCheckpoint
	signalTaskWord
	signalSubtasks
	signalCriteria
	signalTaskNumber
	signalEpic
	signalFlag
	signalRow
	signals
)

// signalTable is in the order of strength: the first signal that a file has decides.
var signalTable = [signals]struct{ dialect, text string }{
	signalBlocked:  {specWorkflow, "_Blocked: field"},
	signalPrompt:   {specContext, "_Prompt: field"},
	signalLeverage: {specContext, "_Leverage: field"},
	signalStar:     {kiro, "star behind a box"},
	signalGraph:    {kiro, "heading Task Dependency Graph"},
	signalProperty: {kiro, "**Property detail"},
	signalHeading:  {kiro, "heading Implementation Plan"},
	signalTask:     {specKit, "id such as T001"},
	signalTag:      {specKit, "tag [P] or [US1]"},
	signalGroup:    {openSpec, "heading with the number of the boxes below"},
	signalParallel: {ccSDD, "(P) beside a title"},
	signalBoundary: {ccSDD, "_Boundary: field"},
	signalStruck:   {ccSDD, "task that is struck through"},
	signalZero:     {aiDev, "id such as 1.0"},
	signalRelevant: {aiDev, "heading Relevant Files"},

	signalTaskGroup:   {agentOS, "heading such as Task Group 1"},
	signalTaskHeading: {superpowers, "heading such as Task 1"},
	signalStep:        {superpowers, "step below a heading such as Task 1"},
	signalNumbered:    {superpowers, "heading such as Task 1 with 1.1 below it"},
	signalAnew:        {superpowers, "number 1 below a heading such as Task 1"},
	signalReview:      {tina, "**Model:**, **review:** or **Depends on:** below a heading such as Task 1"},
	signalTrack:       {conductor, "Track: behind a box"},
	signalCheckpoint:  {conductor, "[checkpoint: …] behind a heading"},
	signalTaskWord:    {conductor, "Task: behind a box"},
	signalSubtasks:    {bmad, "heading Tasks / Subtasks"},
	signalCriteria:    {bmad, "(AC: …) beside a title"},
	signalTaskNumber:  {bmad, "Task and a number behind a box"},
	signalEpic:        {ccpm, "file such as 001.md behind a box"},
	signalFlag:        {ccpm, "(parallel: …) behind a title"},
	signalRow:         {tabular, "row of a table with an id and a status"},
}

// sightings holds the first line of each signal, 0 for none, and how often it was seen, and what is known
// besides the text.
type sightings struct {
	first, count [signals]int
	titled       map[string]bool // the ids of all rows that have a title
	placing      Placing
	legend       *legend // nil before something asks for it
	tops         int     // how many headings are of the first level
}

func (s *sightings) see(sig signal, line int) { s.seeAll(sig, line, 1) }

// seeAll sees a signal several times, at this line and further down.
func (s *sightings) seeAll(sig signal, line, times int) {
	s.count[sig] += times
	if s.first[sig] == 0 {
		s.first[sig] = line
	}
}

// numberedSignals are those that tell the dialects of numbered plans apart.
const numberedSignals = signalHeading + 1

// decide names the dialect of a numbered plan. One without any signal is read
// as the plainest of the three; all agree about every mark but "~".
func (s *sightings) decide() (dialect string) {
	dialect = specContext
	told := false
	for sig := numberedSignals; sig > 0; sig-- {
		if s.first[sig-1] > 0 {
			dialect, told = signalTable[sig-1].dialect, true
		}
	}
	return s.placing.among(dialect, told)
}

// evidence gives the reasons for a dialect, and those for others.
func (s *sightings) evidence(first Evidence) []Evidence {
	const often = 4
	all := append(make([]Evidence, 0, often), first)
	all = append(all, s.placing.evidence(first)...)
	for sig, line := range s.first {
		e := Evidence{Line: line, Dialect: s.placing.shared(signalTable[sig].dialect), Signal: signalTable[sig].text}
		if line > 0 && e != first {
			all = append(all, e)
		}
	}
	return all
}

// tilde is what the mark "~" means in a dialect, and the warning that goes with it.
func tilde(dialect string) (Status, string) {
	if dialect == specWorkflow {
		return Blocked, ""
	}
	if dialect == kiro {
		return Pending, `the mark "~" is queued or partial work in kiro, so the item is open`
	}
	return Pending, fmt.Sprintf(`the mark "~" means nothing in %s and blocked in %s, so the item is open: `+
		"add a _Blocked: reason_ line or use another mark", specContext, specWorkflow)
}

// diagnose describes the place at the index in the line.
func diagnose(ln *line, index int, severity Severity, code, message string) Diagnostic {
	column := utf8.RuneCountInString(ln.text[:index]) + 1
	return Diagnostic{Line: ln.number, Column: column, Severity: severity, Code: code, Message: message}
}

package plan

import (
	"errors"
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

// Read reads a plan. p may contain facts that are not in the text. The result depends only on both. The error is a
// *ParseError: the bytes are not UTF-8 text, or a file that is not blank has no item in any dialect. A blank file is a
// reading without items. The caller sets Hash. The reading shares the memory of the text.
func Read(text string, p Hints) (*Reading, error) {
	r, err := read(text, p)
	if e, ok := errors.AsType[*ParseError](err); ok {
		e.Path = p.Path
	}
	return r, err
}

func read(text string, p Hints) (*Reading, error) {
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

// readList reads a plan of one file line by line. fault explains why the text is not a record file. It is the error if
// the text has no items.
func readList(text string, p Hints, fault error) (*Reading, error) {
	n := readAs(text, &numberedGrammar, &dialectEvidence{hints: p})
	g := n.choose()
	if g.records != nil {
		return readRecord(text, p)
	}
	if g != n.g {
		n = readAs(text, g, &n.evidence)
	} else if g := n.hintedGrammar(); g != nil {
		n = n.orReadAs(g)
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
	n.r.Totals.addUnread(n.r.Diagnostics)
	n.r.text, n.r.grammar, n.r.Size, n.r.hints = n.src, n.g, int64(len(n.src)), n.evidence.hints
	return n.r
}

// readAny tries every grammar on a text in which the first choice found no item. It tries none if a setting or a comment
// chose the dialect.
func readAny(text string, first *numbered) (*Reading, error) {
	last := first
	for _, g := range first.evidence.hints.first(grammars[:]) {
		if g == first.g || !g.anywhere || first.configured() != nil {
			continue
		}
		n := readAs(text, g, &first.evidence)
		if n.r.Len() > 0 {
			return n.sealed(), nil
		}
		last = n
	}
	missing := `a task is a line such as "- [ ] 1.2 Write the report"`
	if first.configured() != nil {
		missing = first.none()
	}
	return nil, noItems(last.r.Checkboxes, last.r.Diagnostics, missing)
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

// signal is a kind of evidence for one of the dialects of a numbered plan.
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

// signalTable is in order of strength: the first signal in a file decides.
var signalTable = [signals]struct{ dialect, text string }{
	signalBlocked:  {specWorkflow, "_Blocked: field"},
	signalPrompt:   {specContext, "_Prompt: field"},
	signalLeverage: {specContext, "_Leverage: field"},
	signalStar:     {kiro, "star after a box"},
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
	signalTrack:       {conductor, "Track: after a box"},
	signalCheckpoint:  {conductor, "[checkpoint: …] after a heading"},
	signalTaskWord:    {conductor, "Task: after a box"},
	signalSubtasks:    {bmad, "heading Tasks / Subtasks"},
	signalCriteria:    {bmad, "(AC: …) beside a title"},
	signalTaskNumber:  {bmad, "Task and a number after a box"},
	signalEpic:        {ccpm, "file name such as 001.md after a box"},
	signalFlag:        {ccpm, "(parallel: …) after a title"},
	signalRow:         {tabular, "row of a table with an id and a status"},
}

// dialectEvidence holds the first line of each signal, or 0, and the number of its occurrences. It also holds evidence
// from outside the text.
type dialectEvidence struct {
	first, count [signals]int
	titled       map[string]bool // the ids of all rows that have a title
	hints        Hints
	legend       *legend      // read on demand
	signLists    map[int]bool // the lines in lists of signs, read on demand
	tops         int          // how many headings are of the first level
}

func (s *dialectEvidence) add(sig signal, line int) { s.addAll(sig, line, 1) }

// addAll counts a signal several times, at this line and after it.
func (s *dialectEvidence) addAll(sig signal, line, times int) {
	s.count[sig] += times
	if s.first[sig] == 0 {
		s.first[sig] = line
	}
}

// numberedSignals are the signals that distinguish the dialects of numbered plans.
const numberedSignals = signalHeading + 1

// decide returns the dialect of a numbered plan. A plan without a signal is read as the plainest dialect. All of them
// agree about every mark except "~".
func (s *dialectEvidence) decide() (dialect string) {
	dialect = specContext
	explicit := false
	for sig := numberedSignals; sig > 0; sig-- {
		if s.first[sig-1] > 0 {
			dialect, explicit = signalTable[sig-1].dialect, true
		}
	}
	return s.hints.resolve(dialect, explicit)
}

// evidence returns the evidence for a dialect, followed by the evidence for others.
func (s *dialectEvidence) evidence(first Evidence) []Evidence {
	const often = 4
	all := append(make([]Evidence, 0, often), first)
	all = append(all, s.hints.evidence(first)...)
	for sig, line := range s.first {
		e := Evidence{Line: line, Dialect: s.hints.shared(signalTable[sig].dialect), Signal: signalTable[sig].text}
		if line > 0 && e != first {
			all = append(all, e)
		}
	}
	return all
}

// tilde returns the meaning of the mark "~" in a dialect, and a warning about it.
func tilde(dialect string) (Status, string) {
	if dialect == specWorkflow {
		return Blocked, ""
	}
	if dialect == kiro {
		return Pending, `the mark "~" means queued or partial work in kiro, so the item is open`
	}
	return Pending, fmt.Sprintf(`the mark "~" has no meaning in %s and means blocked in %s, so the item is open: `+
		"add a _Blocked: reason_ line or use another mark", specContext, specWorkflow)
}

// diagnose returns a diagnostic for the position at the index in the line.
func diagnose(ln *line, index int, severity Severity, code, message string) Diagnostic {
	column := utf8.RuneCountInString(ln.text[:index]) + 1
	return Diagnostic{Line: ln.number, Column: column, Severity: severity, Code: code, Message: message}
}

package engine

import (
	"errors"
	"fmt"
	"time"

	"waybill/plan"
	planfile "waybill/plan/file"
)

// settlePeriod is how long a shrunken or unreadable file may take to become complete. Editors truncate a file before
// they write it, or replace it by a new one. The period is at least the watcher's quiet period.
const settlePeriod = 150 * time.Millisecond

// The reasons why a Plan does not show the current file.
const (
	StaleSettling = "settling"       // the file is being written
	StaleEmpty    = "empty"          // the file was emptied
	StaleRebuild  = "rebuild_failed" // the file cannot be read or parsed
)

// A StaleError says that a plan file is readable, but its content is not used.
type StaleError struct {
	Path   string
	Reason string // StaleSettling or StaleEmpty
}

// Error names the plan and the problem of its file.
func (e *StaleError) Error() string {
	what := "was emptied"
	if e.Reason == StaleSettling {
		what = "was written just now and has fewer items than before"
	}
	return fmt.Sprintf("the file of plan %q %s; its last content is used", e.Path, what)
}

// A problem says why a plan cannot be read. The zero value means that it can.
type problem struct {
	stale  string // a Stale constant
	reason string // the fault of the file
	gone   bool   // the file is missing
}

func staleness(fault error) string { return problemOf(fault).stale }

func problemOf(fault error) problem {
	if stale, ok := errors.AsType[*StaleError](fault); ok {
		return problem{stale: stale.Reason, reason: stale.Reason}
	}
	if parse, ok := errors.AsType[*plan.ParseError](fault); ok {
		return problem{stale: StaleRebuild, reason: parse.Reason}
	}
	l := problem{stale: StaleRebuild, reason: string(planfile.Unreadable)}
	if file, ok := errors.AsType[*planfile.Error](fault); ok {
		l.reason = string(file.Reason)
		l.gone = file.Reason == planfile.Missing || file.Reason == planfile.SymlinkDangling
	}
	return l
}

// noteProblem updates the current problem of the plan and the times since when it exists.
func (m *planState) noteProblem(now time.Time) {
	next := problem{}
	if !m.current && m.fault != nil {
		next = problemOf(m.fault)
	}
	if next != m.problem {
		m.problem, m.problemSince = next, m.problemStart(now)
	}
	switch {
	case next == problem{}:
		m.since = time.Time{}
	case m.since.IsZero():
		m.since = now
	}
}

// problemStart returns when the current problem began: when the file was written, if known.
func (m *planState) problemStart(now time.Time) time.Time {
	written := lastWritten(m.file)
	if m.file.Path == "" || m.file.Unstable || written.After(now) {
		return now
	}
	return written
}

func lastWritten(file planfile.File) time.Time {
	return time.Unix(0, max(file.Stat.MtimeNs, file.ListedNs))
}

// unreadable reports whether the plan has a problem for longer than an editor needs to save a file.
func (m *planState) unreadable(now time.Time) bool {
	return m.problem != problem{} && m.problem.stale != StaleSettling && now.Sub(m.problemSince) >= settlePeriod
}

// needsRecheck reports whether the plan must be read again soon, because the passing of time alone may change its
// state.
func (m *planState) needsRecheck(now time.Time) bool {
	if m.problem.stale == StaleSettling {
		return true
	}
	return m.log != nil && m.problem != problem{} && m.problem != m.log.problem() && !m.unreadable(now)
}

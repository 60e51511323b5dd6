package engine

import (
	"errors"
	"fmt"
	"time"

	"waybill/engine/planfile"
	"waybill/ledger"
)

// settlePeriod is how long a file that suddenly says less is given to say the rest, and one that cannot be
// read to become readable again: editors truncate a file before they write it, or remove it and write it
// anew. It is not shorter than the watcher's quiet period.
const settlePeriod = 150 * time.Millisecond

// Why a Plan is not what the file says now.
const (
	StaleSettling = "settling"       // the file is being written
	StaleEmpty    = "empty"          // the file was emptied
	StaleRebuild  = "rebuild_failed" // the file cannot be read, or nothing can be read from it
)

// A StaleError says why a plan is not taken for what its file says although the file can be read.
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
	return fmt.Sprintf("the file of plan %q %s; what it said before that is used", e.Path, what)
}

// A lapse is that a plan cannot be read as it is. The zero value is that it can.
type lapse struct {
	stale  string // a Stale constant
	reason string // what is wrong with the file
	gone   bool   // whether it is not there
}

func staleness(fault error) string { return lapseOf(fault).stale }

func lapseOf(fault error) lapse {
	if stale, ok := errors.AsType[*StaleError](fault); ok {
		return lapse{stale: stale.Reason, reason: stale.Reason}
	}
	if parse, ok := errors.AsType[*ledger.ParseError](fault); ok {
		return lapse{stale: StaleRebuild, reason: parse.Reason}
	}
	l := lapse{stale: StaleRebuild, reason: string(planfile.Unreadable)}
	if file, ok := errors.AsType[*planfile.Error](fault); ok {
		l.reason = string(file.Reason)
		l.gone = file.Reason == planfile.Missing || file.Reason == planfile.SymlinkDangling
	}
	return l
}

// note keeps in mind since when the plan cannot be read as it is, and since when for the reason that it has now.
func (m *plan) note(now time.Time) {
	next := lapse{}
	if !m.current && m.fault != nil {
		next = lapseOf(m.fault)
	}
	if next != m.lapse {
		m.lapse, m.turned = next, m.began(now)
	}
	switch {
	case next == lapse{}:
		m.since = time.Time{}
	case m.since.IsZero():
		m.since = now
	}
}

// began gives when that began which is so now, as far as that can be known: a file says when it was written.
func (m *plan) began(now time.Time) time.Time {
	written := lastWritten(m.file)
	if m.file.Path == "" || m.file.Unstable || written.After(now) {
		return now
	}
	return written
}

func lastWritten(file planfile.File) time.Time {
	return time.Unix(0, max(file.Stat.MtimeNs, file.ListedNs))
}

// lapsed reports whether the plan cannot be read as it is, and not just because somebody is saving it.
func (m *plan) lapsed(now time.Time) bool {
	return m.lapse != lapse{} && m.lapse.stale != StaleSettling && now.Sub(m.turned) >= settlePeriod
}

// wavers reports whether the plan has to be looked at once more soon, because time alone will make
// something of what it is now.
func (m *plan) wavers(now time.Time) bool {
	if m.lapse.stale == StaleSettling {
		return true
	}
	return m.log != nil && m.lapse != lapse{} && m.lapse != m.log.lapse() && !m.lapsed(now)
}

package work

import (
	"fmt"
	"strings"
	"time"

	"waybill/internal/lazyregexp"
)

// minUsefulTime is the longest duration of a command that cannot have worked on anything.
const minUsefulTime = 5 * time.Second

// A streak counts the items of a plan, or the tasks of a queue, that end the same way in a row. It stops the work of
// an agent that cannot work at all, before every item is blocked. It reads only events, so that it counts what a
// person sees.
type streak struct {
	most     int                // limit; 0 means none
	outcomes map[string]outcome // by item of a plan: outcome of its last attempt
	last     outcome
	count    int
	subject  string // the last counted item or task
}

// An outcome describes a fruitless attempt. The zero outcome is that of a useful one.
type outcome struct {
	kind   string // Failed, or "invalid" for an unreadable result
	reason string // without parts that differ between attempts
	said   string // the unchanged reason
}

// outcomeOf returns the outcome of an event. A command that failed after atOnce may have worked. An unreadable result
// counts however long it took.
func outcomeOf(e Event) outcome {
	switch {
	case e.Kind == Failed && e.TookMS < minUsefulTime.Milliseconds():
		return outcome{Failed, alike(e.Message), e.Message}
	case e.Kind == Completed && e.Verdict == "invalid":
		return outcome{e.Verdict, alike(e.Message), e.Message}
	}
	return outcome{}
}

// see adds an event and reports whether the work must stop now.
func (s *streak) see(e Event) (stop bool) {
	switch e.Kind {
	case Asked:
		s.last, s.count = outcome{}, 0
		delete(s.outcomes, e.ItemID)
	case Failed, Completed, Cancelled, Lost:
		switch {
		case e.ItemID != "":
			s.outcomes[e.ItemID] = outcomeOf(e)
		case e.Status != "QUEUED": // such a task is tried again
			return s.add(e.TaskID, outcomeOf(e))
		}
	case Halted, Approved:
		how := s.outcomes[e.ItemID]
		if e.Kind == Approved {
			how = outcome{}
		}
		return s.add(e.ItemID, how)
	}
	return false
}

// add counts a subject that has ended.
func (s *streak) add(subject string, how outcome) (stop bool) {
	switch {
	case how == outcome{}:
		s.last, s.count = how, 0
		return false
	case s.count == 0 || how.kind != s.last.kind || how.reason != s.last.reason:
		s.count = 0
	case subject == s.subject:
		return false
	}
	s.last, s.subject = how, subject
	s.count++
	return s.count == s.most
}

// A GaveUpError says that the work stopped because items or tasks kept ending the same way.
type GaveUpError struct {
	Count  int
	Plan   bool   // the streak counts items of a plan, not tasks of the queue
	Failed bool   // the command failed; otherwise its results are unreadable
	Reason string // last reason
}

func (e *GaveUpError) Error() string {
	noun, how := "task", "the result cannot be read"
	if e.Plan {
		noun = "item"
	}
	if e.Count > 1 {
		noun += "s"
	}
	if e.Failed {
		how = "the command failed at once"
	}
	return fmt.Sprintf("stopped, because %d %s in a row ended the same way: %s: %s", e.Count, noun, how, beginning(e.Reason, 400))
}

// gaveUp returns the error for the event that ends the work.
func (s *streak) gaveUp(e Event) error {
	return &GaveUpError{Count: s.count, Plan: e.ItemID != "", Failed: s.last.kind == Failed, Reason: s.last.said}
}

// Parts of a reason that differ between attempts: quotations, and words with digits, such as numbers, times and ids.
var (
	quotations = lazyregexp.New("\"[^\"\n]*\"|`[^`\n]*`")
	numbered   = lazyregexp.New(`[\pL_./:#+-]*\pN[\pL\pN_./:#+-]*`)
)

// alike returns a reason in its form for comparison.
func alike(reason string) string {
	reason = quotations.Compiled().ReplaceAllString(reason, "…")
	return strings.ToLower(strings.Join(strings.Fields(numbered.Compiled().ReplaceAllString(reason, "#")), " "))
}

package ledger

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// OutcomeKind says what came of sending somebody to work. The zero value is no kind.
type OutcomeKind uint8

const (
	// OutcomeCompleted means that the worker did what was asked.
	OutcomeCompleted OutcomeKind = iota + 1
	// OutcomeStuck means that the worker cannot go on.
	OutcomeStuck
	// OutcomeFailed means that the worker tried and could not.
	OutcomeFailed
	// OutcomeCrashed means that an attempt ended without a result.
	OutcomeCrashed
	// OutcomeApproved means that the reviewer has nothing against the work.
	OutcomeApproved
	// OutcomeChangesNeeded means that the reviewer wants something changed.
	OutcomeChangesNeeded
	// OutcomeGaveUp means that the reviewer cannot judge.
	OutcomeGaveUp
	// OutcomeUnusable means that the result is none that was asked for.
	OutcomeUnusable
)

var outcomeNames = [...]string{
	OutcomeCompleted:     "completed",
	OutcomeStuck:         "stuck",
	OutcomeFailed:        "failed",
	OutcomeCrashed:       "crashed",
	OutcomeApproved:      "approved",
	OutcomeChangesNeeded: "changes_needed",
	OutcomeGaveUp:        "gave_up",
	OutcomeUnusable:      "unusable",
}

// String returns the name of k, and "" for a value that is no kind.
func (k OutcomeKind) String() string {
	if int(k) >= len(outcomeNames) {
		return ""
	}
	return outcomeNames[k]
}

// mustBeOne panics for a value that is no kind.
func (k OutcomeKind) mustBeOne() {
	if k.String() == "" {
		panic(fmt.Sprintf("ledger: outcome kind %d is none", k))
	}
}

// Outcome is what a role reported, as far as the ledger cares.
type Outcome struct {
	Role    Role
	Kind    OutcomeKind
	Summary string
	Issues  []ReviewIssue
	// RequiredFixes are a reviewer's. FollowUps and FilesChanged are a worker's: what has to happen before
	// the work can go on, and what it touched.
	RequiredFixes, FollowUps, FilesChanged []string
	// GitRange is a worker's, too: the commits of its work as <base>..<head>, "" if it named none.
	GitRange string
	Lost     Lost
	// Origin says who reported, as far as that is known.
	Origin Origin
}

// Lost counts the entries of a result that are not in an Outcome, or not whole: there is a bound to what a result may
// hold.
type Lost struct{ Issues, RequiredFixes, FollowUps int }

// After gives the ledger after an outcome. It shares no slice with t or o.
//
// Every turn of a worker is one of the Attempts, however it ended, and every turn of a reviewer one of its
// ReviewAttempts. A worker that names no commits leaves those that one named before. A reviewer's report
// replaces what the same reviewer said before and nothing else, and stands until that reviewer reports again,
// since only it can tell whether the work does it justice now. A result that cannot be used, and a crash,
// say nothing about the item.
//
// A worker that approves, a reviewer that completes, and a kind or role that is none are a mistake of the
// caller and panic.
func (t TaskLedger) After(o Outcome) TaskLedger {
	t = t.clone()
	switch o.Role {
	case RoleWorker:
		t.worked(&o)
		return t
	case RoleSpecReviewer:
		t.reviewed(0, &o)
		return t
	case RoleCodeQualityReviewer:
		t.reviewed(1, &o)
		return t
	}
	panic(fmt.Sprintf("ledger: outcome of role %d, which is none", o.Role))
}

func (t *TaskLedger) worked(o *Outcome) {
	o.Kind.mustBeOne()
	t.Attempts++
	switch o.Kind {
	case OutcomeCompleted:
		t.summarised(o)
		t.Blockers, t.LostBlockers = nil, 0
		t.FilesChanged = union(t.FilesChanged, o.FilesChanged)
	case OutcomeStuck, OutcomeFailed:
		t.summarised(o)
		t.Blockers = union(t.Blockers, orMessages(o.FollowUps, o.Issues))
		t.LostBlockers += o.Lost.FollowUps + o.Lost.Issues
	case OutcomeCrashed, OutcomeUnusable:
		return
	case OutcomeApproved, OutcomeChangesNeeded, OutcomeGaveUp:
		panic("ledger: a worker cannot report " + o.Kind.String())
	}
	if o.GitRange != "" {
		t.GitRange = o.GitRange
	}
}

// summarised takes the summary of a worker, and whose it is.
func (t *TaskLedger) summarised(o *Outcome) {
	t.Summary, t.Origins.Summary = clipSummary(o.Summary), o.Origin
	if t.Summary == "" {
		t.Origins.Summary = Origin{}
	}
}

// reviewed takes the report of the reviewer whose review is the i-th.
func (t *TaskLedger) reviewed(i int, o *Outcome) {
	o.Kind.mustBeOne()
	t.ReviewAttempts[i]++
	switch o.Kind {
	case OutcomeApproved:
		t.assess(i, o, Review{Assessment: assessedApproved, Issues: o.Issues})
		if !t.Reviews[0].rejects() && !t.Reviews[1].rejects() {
			t.Blockers, t.LostBlockers = nil, 0
		}
	case OutcomeChangesNeeded:
		t.assess(i, o, Review{Assessment: assessedChanges, Issues: o.Issues, RequiredFixes: o.RequiredFixes})
	case OutcomeGaveUp:
		t.assess(i, o, Review{Assessment: assessedBlocked, Issues: o.Issues, RequiredFixes: o.RequiredFixes})
		t.Blockers = union(t.Blockers, orMessages(o.RequiredFixes, o.Issues))
		t.LostBlockers += o.Lost.RequiredFixes + o.Lost.Issues
	case OutcomeCrashed, OutcomeUnusable:
	case OutcomeCompleted, OutcomeStuck, OutcomeFailed:
		panic("ledger: a reviewer cannot report " + o.Kind.String())
	}
}

func (t *TaskLedger) assess(i int, o *Outcome, said Review) {
	t.Reviews[i] = Review{
		Assessment: said.Assessment, Issues: cloned(said.Issues), RequiredFixes: union(nil, said.RequiredFixes),
		LostIssues: o.Lost.Issues, LostFixes: o.Lost.RequiredFixes,
	}
	t.ReviewerAssessment, t.Origins.Reviews[i] = said.Assessment, o.Origin
	if other := &t.Reviews[1-i]; !t.Reviews[i].rejects() && other.rejects() {
		t.ReviewerAssessment = other.Assessment
	}
}

// orMessages gives what is demanded, or where nothing is, what was found.
func orMessages(demands []string, issues []ReviewIssue) []string {
	if demands = union(nil, demands); demands != nil {
		return demands
	}
	var messages []string
	for _, issue := range issues {
		messages = append(messages, issue.Message)
	}
	return messages
}

// longestSummary is in characters.
const longestSummary = 2000

// clipSummary keeps an agent that reports at length from filling the next prompt with it. A summary is no
// fact that a prompt must have: what was found and what is demanded stands elsewhere, whole. The mark at the
// end shows that something is missing.
func clipSummary(s string) string {
	s = strings.TrimSpace(s)
	n, last := 0, 0
	for i := range s {
		if n++; n == longestSummary {
			last = i
		}
		if n > longestSummary {
			return s[:last] + "…"
		}
	}
	return s
}

// clipped reports whether clipSummary left something out.
func clipped(s string) bool {
	return len(s) > longestSummary && strings.HasSuffix(s, "…") && utf8.RuneCountInString(s) == longestSummary
}

// clone gives a ledger that shares no slice with t.
func (t TaskLedger) clone() TaskLedger {
	for i := range t.Reviews {
		r := &t.Reviews[i]
		r.Issues, r.RequiredFixes = cloned(r.Issues), cloned(r.RequiredFixes)
	}
	t.Blockers, t.PlanItems, t.FilesChanged = cloned(t.Blockers), cloned(t.PlanItems), cloned(t.FilesChanged)
	return t
}

// cloned copies a list; an empty one is nil, as it is when a ledger is read back.
func cloned[T any](list []T) []T { return append([]T(nil), list...) }

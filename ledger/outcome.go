package ledger

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// OutcomeKind says how one turn of an agent ended. The zero value is invalid.
type OutcomeKind uint8

const (
	// OutcomeCompleted means that the worker finished its task.
	OutcomeCompleted OutcomeKind = iota + 1
	// OutcomeStuck means that the worker cannot continue.
	OutcomeStuck
	// OutcomeFailed means that the worker tried and failed.
	OutcomeFailed
	// OutcomeCrashed means that an attempt ended without a result.
	OutcomeCrashed
	// OutcomeApproved means that the reviewer approved the work.
	OutcomeApproved
	// OutcomeChangesNeeded means that the reviewer asked for changes.
	OutcomeChangesNeeded
	// OutcomeGaveUp means that the reviewer cannot judge.
	OutcomeGaveUp
	// OutcomeUnusable means that the result is invalid.
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

// String returns the name of k, "" for an invalid kind.
func (k OutcomeKind) String() string {
	if int(k) >= len(outcomeNames) {
		return ""
	}
	return outcomeNames[k]
}

// mustBeOne panics for an invalid kind.
func (k OutcomeKind) mustBeOne() {
	if k.String() == "" {
		panic(fmt.Sprintf("ledger: outcome kind %d is none", k))
	}
}

// Outcome is one report of a worker or reviewer, with the fields that the ledger needs.
type Outcome struct {
	Role    Role
	Kind    OutcomeKind
	Summary string
	Issues  []ReviewIssue
	// RequiredFixes come from a reviewer. FollowUps and FilesChanged come from a worker: the steps that must happen
	// before the work can continue, and the files that it changed.
	RequiredFixes, FollowUps, FilesChanged []string
	// GitRange comes from a worker: the commits of its work as <base>..<head>, or "" if it reported none.
	GitRange string
	Lost     Lost
	// Origin is the task and the attempt that reported, as far as known.
	Origin Origin
}

// Lost counts the entries that were dropped from a result or cut, because the size of a result is limited.
type Lost struct{ Issues, RequiredFixes, FollowUps int }

// After returns the ledger after an outcome. It shares no slice with t or o.
//
// Every turn of a worker adds to Attempts, and every turn of a reviewer to its ReviewAttempts, whatever its outcome. A
// worker that reports no commits keeps the GitRange of an earlier worker. A reviewer's report replaces the previous
// report of the same reviewer only. Crashes and unusable results change nothing else.
//
// After panics if a worker approves, a reviewer completes, or the kind or role is invalid.
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
		t.Reviews[checks] = Review{}
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

// summarised stores the summary of a worker and its origin. An empty summary has no origin.
func (t *TaskLedger) summarised(o *Outcome) {
	t.Summary, t.Origins.Summary = clipSummary(o.Summary), o.Origin
	if t.Summary == "" {
		t.Origins.Summary = Origin{}
	}
}

// reviewed stores the i-th reviewer's report.
func (t *TaskLedger) reviewed(i int, o *Outcome) {
	o.Kind.mustBeOne()
	t.ReviewAttempts[i]++
	switch o.Kind {
	case OutcomeApproved:
		t.assess(i, o, Review{Assessment: assessedApproved, Issues: o.Issues})
		if !t.Reviews[0].Rejects() && !t.Reviews[1].Rejects() {
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
	if other := &t.Reviews[1-i]; !t.Reviews[i].Rejects() && other.Rejects() {
		t.ReviewerAssessment = other.Assessment
	}
}

// checks is the place of the failed checks among the reviews.
const checks = 2

// longestOutput bounds the output of a check in a demand, in bytes.
const longestOutput = 2 << 10

// Demand returns the demand of a check that failed: its command, how it failed, and the end of its output.
func Demand(command, how, output string) string {
	output = strings.TrimSpace(output)
	if cut := len(output) - longestOutput; cut > 0 {
		output = "…" + strings.ToValidUTF8(output[cut:], "")
	}
	return strings.TrimSpace(fmt.Sprintf("%s (%s)\n%s", command, how, output))
}

// Checked returns the ledger after a check. fix is its Demand if the check failed, and "" otherwise. The next
// completed work of a worker ends all demands of checks.
func (t TaskLedger) Checked(check, fix string) TaskLedger {
	t = t.clone()
	demand := fmt.Sprintf("Make check %q pass: ", check)
	fixes := slices.DeleteFunc(t.Reviews[checks].RequiredFixes, func(fix string) bool { return strings.HasPrefix(fix, demand) })
	if fix != "" {
		fixes = append(fixes, demand+fix)
	}
	t.Reviews[checks] = Review{}
	if len(fixes) > 0 {
		t.Reviews[checks] = Review{Assessment: assessedChanges, RequiredFixes: fixes}
	}
	return t
}

// orMessages returns the demands without duplicates, or the messages of the issues if there are no demands.
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

// longestSummary is the limit of a summary in characters.
const longestSummary = 2000

// clipSummary limits the length of a summary, so that it cannot fill the next prompt. An ellipsis marks the cut.
// Findings and demands are not affected, because they have fields of their own.
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

// SummaryClipped reports whether clipSummary cut the summary.
func SummaryClipped(s string) bool {
	return len(s) > longestSummary && strings.HasSuffix(s, "…") && utf8.RuneCountInString(s) == longestSummary
}

// clone returns a ledger that shares no slice with t.
func (t TaskLedger) clone() TaskLedger {
	for i := range t.Reviews {
		r := &t.Reviews[i]
		r.Issues, r.RequiredFixes = cloned(r.Issues), cloned(r.RequiredFixes)
	}
	t.Blockers, t.PlanItems, t.FilesChanged = cloned(t.Blockers), cloned(t.PlanItems), cloned(t.FilesChanged)
	return t
}

// cloned copies a list. An empty list becomes nil, as it does when a ledger is read back.
func cloned[T any](list []T) []T { return append([]T(nil), list...) }

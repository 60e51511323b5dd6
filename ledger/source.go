package ledger

import (
	"encoding/json"
	"slices"
)

// SourceHash gives the hash of the plan file that stored facts were read from, or "" if they do not
// have it.
func SourceHash(facts []Fact) string {
	i := slices.IndexFunc(facts, func(f Fact) bool { return f.Key == factFingerprint })
	if i < 0 {
		return ""
	}
	var source fingerprintFact
	if json.Unmarshal([]byte(facts[i].Value), &source) != nil {
		return "" // damaged: whoever asks reads the file again, and that heals it
	}
	return source.Hash
}

// Renew gives stored facts with those of the plan file replaced by new ones. None of them that has no value
// any more stays behind. Facts that nobody here knows are kept.
func Renew(facts, progress []Fact) []Fact {
	return append(without(facts, aboutProgress, len(progress)), progress...)
}

// RenewTask gives stored facts with those of the task ledger replaced by those of t, in the same way.
func RenewTask(facts []Fact, t TaskLedger) []Fact {
	task := TaskFacts(t)
	return append(without(facts, aboutTask, len(task)), task...)
}

// without gives the facts that are not about one ledger, with room for more.
func without(facts []Fact, what about, more int) []Fact {
	kept := make([]Fact, 0, len(facts)+more)
	for _, f := range facts {
		if aboutOf(f.Key) != what {
			kept = append(kept, f)
		}
	}
	return kept
}

// about says which ledger a fact is about.
type about uint8

const (
	aboutNeither about = iota // a key that nobody here knows
	aboutProgress
	aboutTask
)

// aboutOf knows every key that this package writes or ever wrote: a key that is given up must stay here, or
// its last value stays in the store for good.
func aboutOf(key string) about {
	switch key {
	case factPlan, factItemID, factSourcePath, factTotals, factActive, factFingerprint, factCurrent, factDialect,
		foreignActive, foreignCurrent, foreignSpec, foreignTask:
		return aboutProgress
	case factPlanVersion, factSummary, factAssessment, factIssues, factBlockers, factFixes, factStalled,
		factReviewLoop, factRejections, factReplanHint, factAttempts,
		factReviews, factPlanSummary, factPlanItems, factFilesChanged, factReviewAttempts, factGitRange, factOrigins,
		foreignStalled, foreignStalledThreshold, foreignStalledFlagged,
		foreignLoop, foreignLoopThreshold, foreignLoopFlagged, foreignLoopFingerprint:
		return aboutTask
	}
	return aboutNeither
}

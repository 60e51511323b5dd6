package ledger

import (
	"encoding/json"
	"slices"
)

// SourceHash returns the hash of the plan file that stored facts were read from, "" if they lack it.
func SourceHash(facts []Fact) string {
	i := slices.IndexFunc(facts, func(f Fact) bool { return f.Key == factFingerprint })
	if i < 0 {
		return ""
	}
	var source fingerprintFact
	if json.Unmarshal([]byte(facts[i].Value), &source) != nil {
		return "" // a damaged hash: the caller reads the file again, which repairs it
	}
	return source.Hash
}

// Renew returns stored facts with those of the plan file replaced by new ones. Old facts without a new value
// disappear; unknown facts stay.
func Renew(facts, progress []Fact) []Fact {
	return append(without(facts, aboutProgress, len(progress)), progress...)
}

// RenewTask returns stored facts with those of the task ledger replaced by those of t, in the same way.
func RenewTask(facts []Fact, t TaskLedger) []Fact {
	task := TaskFacts(t)
	return append(without(facts, aboutTask, len(task)), task...)
}

// without returns the facts that do not belong to the ledger what, with capacity for more.
func without(facts []Fact, what about, more int) []Fact {
	kept := make([]Fact, 0, len(facts)+more)
	for _, f := range facts {
		if aboutOf(f.Key) != what {
			kept = append(kept, f)
		}
	}
	return kept
}

// about says which ledger a fact belongs to.
type about uint8

const (
	aboutNeither about = iota // an unknown key
	aboutProgress
	aboutTask
)

// aboutOf returns the ledger of a key. It must list every key that this package ever wrote. A retired key that is
// missing here would keep its last value in the store forever.
func aboutOf(key string) about {
	switch key {
	case FactPlan, FactItemID, FactSourcePath, FactTotals, FactActive, factFingerprint, factCurrent, factDialect,
		foreignActive, foreignCurrent, foreignSpec, foreignTask:
		return aboutProgress
	case FactPlanVersion, FactSummary, FactAssessment, FactIssues, FactBlockers, FactFixes, FactStalled,
		FactReviewLoop, FactRejections, FactReplanHint, FactAttempts,
		factReviews, FactPlanSummary, FactPlanItems, FactFilesChanged, FactReviewAttempts, FactGitRange, factOrigins,
		foreignStalled, foreignStalledThreshold, foreignStalledFlagged,
		foreignLoop, foreignLoopThreshold, foreignLoopFlagged, foreignLoopFingerprint:
		return aboutTask
	}
	return aboutNeither
}

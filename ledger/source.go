package ledger

import (
	"encoding/json"
	"slices"
	"strings"
)

// progressSpace begins the keys of the facts that come from the plan file.
const progressSpace = "ledger.progress."

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

// Renew gives stored facts with those of the plan file replaced by new ones. Facts that nobody here
// knows are kept.
func Renew(facts, progress []Fact) []Fact {
	kept := make([]Fact, 0, len(facts)+len(progress))
	for _, f := range facts {
		if !strings.HasPrefix(f.Key, progressSpace) {
			kept = append(kept, f)
		}
	}
	return append(kept, progress...)
}

package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/ledger"
)

// What was wrong with the last result of a role is kept with the facts of its run until a better one comes, so
// that the retry prompt can be given by whoever asks what has to be done next, also after a crash.

// problemKey begins the keys of these facts; the name of the role follows.
const problemKey = "ledger.task.invalid_result."

// A problemFact is how a problem is stored.
type problemFact struct {
	Fault    verdict.Fault `json:"code"`
	Field    string        `json:"field"`
	Expected string        `json:"expected,omitempty"`
	Found    string        `json:"found,omitempty"`
	Line     int           `json:"line,omitempty"`
	Message  string        `json:"message"`
}

// problemsIn reads them. What cannot be read is no problem: the retry prompt then does without it.
func problemsIn(facts []ledger.Fact) (problems [core.Roles][]verdict.Problem) {
	for _, f := range facts {
		name, ours := strings.CutPrefix(f.Key, problemKey)
		role, known := core.ParseRole(name)
		var list []problemFact
		if !ours || !known || json.Unmarshal([]byte(f.Value), &list) != nil {
			continue
		}
		for _, p := range list {
			problems[role-1] = append(problems[role-1], verdict.Problem(p))
		}
	}
	return problems
}

// withProblems gives facts with these in place of those that were there.
func withProblems(facts []ledger.Fact, problems [core.Roles][]verdict.Problem) ([]ledger.Fact, error) {
	facts = slices.DeleteFunc(facts, func(f ledger.Fact) bool { return strings.HasPrefix(f.Key, problemKey) })
	for i, list := range problems {
		if len(list) == 0 {
			continue
		}
		kept := make([]problemFact, len(list))
		for i, p := range list {
			kept[i] = problemFact(p)
		}
		text, err := json.Marshal(kept)
		if err != nil {
			return nil, fmt.Errorf("encode the problems of a result: %w", err)
		}
		facts = append(facts, ledger.Fact{Key: problemKey + core.Role(i+1).String(), Value: string(text)})
	}
	return facts, nil
}

package engine

import (
	"slices"

	"waybill/core"
	"waybill/core/task"
	"waybill/core/verdict"
	"waybill/ledger"
)

// Rounds counts the valid results of each role of a run. The result key of a role changes only with this count, so a
// retry after an invalid result asks for the same key.
type Rounds [core.Roles]int

// parseRounds reads the rounds from the facts of a run.
func parseRounds(facts []ledger.Fact) (Rounds, error) {
	m, err := parseMemory(facts)
	return m.accepted.Counts, err
}

// Key returns the result key of a role's current round.
func (r Rounds) Key(run string, role core.Role) string { return verdict.Key(run, role, r[role-1]+1) }

// Keys returns the accepted keys of a role's current round. With generic, the host said only "reviewer", and the keys
// of both reviewers are accepted.
func (r Rounds) Keys(run string, role core.Role, generic bool) []string {
	keys := []string{r.Key(run, role)}
	if generic {
		for _, other := range []core.Role{core.SpecReviewer, core.CodeQualityReviewer} {
			if other != role {
				keys = append(keys, r.Key(run, other))
			}
		}
	}
	return keys
}

// former returns the keys of a role's earlier rounds. Texts of rounds before the last maxTaken are forgotten.
func (r Rounds) former(run string, role core.Role) (keys []string) {
	for round := max(1, r[role-1]-maxTaken); round <= r[role-1]; round++ {
		keys = append(keys, verdict.Key(run, role, round))
	}
	return keys
}

// judgeInTurn returns the judgement of a result inside the transaction, because others may have been taken since it
// was judged. again reports that this result was taken before.
func (tx *Tx) judgeInTurn(r Result, a task.Attempt, before Standing) (j verdict.Judgement, again bool, err error) {
	if r.Token != "" {
		if a, _, err = tx.AttemptUnder(r.Token); err != nil {
			return j, false, err
		}
	}
	m, rounds := before.memory, before.Rounds()
	by, known := m.acceptedAs(r.Role, r.Digest)
	if again = m.hasResult(a.ID, r.Output); again || known && by == r.Role && a.ID == "" {
		former := r.Asked
		former.Keys = append(rounds.former(r.RunID, r.Role), r.Asked.Keys...)
		if j = verdict.Judge(r.Output, former); again || j.Key != "" && !slices.Contains(r.Asked.Keys, j.Key) {
			return j, true, nil
		}
	}
	switch j = r.Judgement; {
	case j.Verdict == verdict.Invalid:
	case j.Key != "" && !slices.Contains(rounds.Keys(r.RunID, r.Role, r.Generic), j.Key):
		j = j.Outdated()
	case known && by != r.Role:
		j = j.Repeated(by)
	}
	return j, false, nil
}

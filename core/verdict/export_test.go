package verdict

import (
	"slices"

	"waybill/core"
)

// A Rule is a row of the acceptance matrix: which fields a result of this role with this status must
// have, and which it may have besides. Judge follows the same data.
type Rule struct {
	Grammar  Grammar
	Role     core.Role
	Status   string
	Verdict  Verdict
	Required []string
	Optional []string
}

// Matrix returns the acceptance matrix. A legacy statement has no fields and no row.
func Matrix() []Rule {
	var rules []Rule
	for _, word := range words {
		for i := range core.Roles {
			if rule, ok := ruleFor(word, core.Role(i+1)); ok {
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

// ruleFor returns the row of a status word for a role; not every role has every word.
func ruleFor(word Word, role core.Role) (Rule, bool) {
	rule := Rule{Role: role, Status: word.Word, Verdict: word.Means}
	worker := role == core.Worker
	switch word.In {
	case V2Status:
		rule.Grammar, rule.Required = V2, slices.Clone(requiredHeaders(rule.Verdict, worker))
		rule.Optional = without(headerKeys(worker), rule.Required)
		return rule, true
	case WorkerBlock:
		rule.Grammar, rule.Required = JSONBlock, names(workerContract(&Result{}), false)
		rule.Optional = names(workerContract(&Result{}), true)
		return rule, worker
	case ReviewerBlock:
		rule.Grammar, rule.Required = JSONBlock, names(reviewerContract(&Result{}), false)
		rule.Optional = names(reviewerContract(&Result{}), true)
		return rule, !worker
	}
	return Rule{}, false
}

// headerKeys returns the v2 headers that a result of a role may have. They do not depend on its status, so that issues on
// a pass are a remark and not an error.
func headerKeys(worker bool) []string {
	if worker {
		return slices.DeleteFunc(slices.Clone(reviewerKeys), func(key string) bool { return key == "confidence" })
	}
	return reviewerKeys
}

// names returns the keys of a contract that must be there, or those that may be.
func names(contract []key, optional bool) (list []string) {
	for _, k := range contract {
		if k.optional == optional {
			list = append(list, k.name)
		}
	}
	return list
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

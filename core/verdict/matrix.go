package verdict

import (
	"slices"
	"strings"

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

// What v2 headers of a role must and may have. Every status has the same optional ones, so that
// issues on a pass are a remark and not an error.
var (
	passed         = []string{"role", "task_id", "status"}
	passedByWorker = []string{"role", "task_id", "status", "git_range"}
	lacking        = []string{"role", "task_id", "status", "issues"}
	workerKeys     = []string{"role", "task_id", "status", "git_range", "issues", "files_changed"}
	reviewerKeys   = []string{"role", "task_id", "status", "git_range", "issues", "files_changed", "confidence"}
)

// Matrix gives the acceptance matrix. A legacy statement has no fields and no row.
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

// ruleFor gives the row of a status word for a role; not every role has every word.
func ruleFor(word Word, role core.Role) (Rule, bool) {
	rule := Rule{Role: role, Status: word.Word, Verdict: Verdict(word.Means)}
	worker := role == core.Worker
	switch word.In {
	case V2Status:
		rule.Grammar, rule.Required = V2, slices.Clone(requiredHeaders(rule.Verdict, worker))
		rule.Optional = without(headerKeys(worker), rule.Required)
		return rule, true
	case WorkerBlock:
		rule.Grammar, rule.Required = JSONBlock, names(workerContract(&Result{}))
		return rule, worker
	case ReviewerBlock:
		rule.Grammar, rule.Required = JSONBlock, names(reviewerContract(&Result{}))
		return rule, !worker
	case AttemptStatus, QueueStatus, SnapshotStatus: // not said in results
	}
	return Rule{}, false
}

// requiredHeaders gives what v2 headers must have. Headers without a status that can be read must have
// what those of every status must.
func requiredHeaders(v Verdict, worker bool) []string {
	switch v {
	case Pass:
		if worker {
			return passedByWorker
		}
		return passed
	case Gaps, Error:
		return lacking
	case Invalid:
	}
	return passed
}

func headerKeys(worker bool) []string {
	if worker {
		return workerKeys
	}
	return reviewerKeys
}

// names gives the keys of a contract that must be there.
func names(contract []key) []string {
	var required []string
	for _, k := range contract {
		if !k.optional {
			required = append(required, k.name)
		}
	}
	return required
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

// roleNames is what is expected of a role.
const roleNames = "worker, spec-reviewer or code-quality-reviewer"

// roleNamed reads a role whatever its case. "reviewer" can be any reviewer, so it is taken for the
// one who was asked.
func roleNamed(name string, asked core.Role) (core.Role, bool) {
	if len(name) > maxKey {
		return 0, false
	}
	name = strings.ToLower(name)
	if name == "reviewer" && asked != core.Worker {
		return asked, true
	}
	return core.ParseRole(name)
}

// ownRole reads a role from its own name alone: any other, such as "reviewer", leaves open who speaks.
func ownRole(name string) core.Role {
	for i := range core.Roles {
		if role := core.Role(i + 1); strings.EqualFold(name, role.String()) {
			return role
		}
	}
	return 0
}

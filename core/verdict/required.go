package verdict

import (
	"strings"

	"waybill/core"
)

// Required and optional v2 headers, by status and role.
var (
	passed         = []string{"role", "task_id", "status"}
	passedByWorker = []string{"role", "task_id", "status", "git_range"}
	lacking        = []string{"role", "task_id", "status", "issues"}
	reviewerKeys   = []string{"role", "task_id", "key", "status", "git_range", "issues", "files_changed", "confidence"}
)

// requiredHeaders returns the headers that a result must have. If the status is unreadable, these are the headers of
// every status.
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

// roleNames lists the roles for a message.
const roleNames = "worker, spec-reviewer or code-quality-reviewer"

// roleNamed returns the role of a name, in any case. "reviewer" stands for the asked reviewer.
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

// ownRole returns the role that a name alone identifies, and 0 for names such as "reviewer".
func ownRole(name string) core.Role {
	for i := range core.Roles {
		if role := core.Role(i + 1); strings.EqualFold(name, role.String()) {
			return role
		}
	}
	return 0
}

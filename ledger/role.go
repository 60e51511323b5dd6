package ledger

// Role is what an agent is asked to be. The zero value is no role.
type Role uint8

const (
	// RoleWorker does the work.
	RoleWorker Role = iota + 1
	// RoleSpecReviewer judges whether the work is what was asked for.
	RoleSpecReviewer
	// RoleCodeQualityReviewer judges how well the work is done.
	RoleCodeQualityReviewer
)

var roleNames = [...]string{
	RoleWorker:              "worker",
	RoleSpecReviewer:        "spec-reviewer",
	RoleCodeQualityReviewer: "code-quality-reviewer",
}

// String returns the word for r on the wire, and "" for a value that is no role.
func (r Role) String() string {
	if int(r) >= len(roleNames) {
		return ""
	}
	return roleNames[r]
}

// ParseRole returns the role that word names. It knows the words of String,
// "implementer" for the worker and "reviewer" for the spec reviewer.
func ParseRole(word string) (Role, bool) {
	switch word {
	case "implementer":
		return RoleWorker, true
	case "reviewer":
		return RoleSpecReviewer, true
	}
	for r := RoleWorker; r <= RoleCodeQualityReviewer; r++ {
		if roleNames[r] == word {
			return r, true
		}
	}
	return 0, false
}

// inputTokens is what the model of a role is given at most, where nobody says otherwise.
func (r Role) inputTokens() int {
	if r == RoleWorker {
		return 4800
	}
	return 4000
}

package core

import "fmt"

// A Role names the work of an agent in a run.
type Role uint8

// The roles.
const (
	Worker Role = iota + 1
	SpecReviewer
	CodeQualityReviewer
)

// Roles is the number of roles; an array of that length is indexed by Role-1.
const Roles = 3

// String returns the role's name on the wire.
func (r Role) String() string {
	switch r {
	case Worker:
		return "worker"
	case SpecReviewer:
		return "spec-reviewer"
	case CodeQualityReviewer:
		return "code-quality-reviewer"
	}
	return fmt.Sprintf("role(%d)", uint8(r))
}

// ParseRole returns the role of a name. "implementer" means worker, and "reviewer" means spec-reviewer.
func ParseRole(name string) (Role, bool) {
	switch name {
	case "worker", "implementer":
		return Worker, true
	case "spec-reviewer", "reviewer":
		return SpecReviewer, true
	case "code-quality-reviewer":
		return CodeQualityReviewer, true
	}
	return 0, false
}

// A RoleSet is a set of roles.
type RoleSet uint8

// RolesOf returns the set of the roles.
func RolesOf(roles ...Role) RoleSet {
	var s RoleSet
	for _, r := range roles {
		s |= 1 << (r - 1)
	}
	return s
}

// Has reports whether the role is in the set.
func (s RoleSet) Has(r Role) bool { return s&RolesOf(r) != 0 }

// Reviewer reports whether the role reviews the work of a worker.
func (r Role) Reviewer() bool { return r == SpecReviewer || r == CodeQualityReviewer }

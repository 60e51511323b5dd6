package ledger

// Role is the kind of agent that a prompt addresses. The zero value is invalid.
type Role uint8

const (
	// RoleWorker does the work.
	RoleWorker Role = iota + 1
	// RoleSpecReviewer judges whether the work meets the request.
	RoleSpecReviewer
	// RoleCodeQualityReviewer judges the quality of the work.
	RoleCodeQualityReviewer
)

// Known reports whether the role is one of the roles above.
func (r Role) Known() bool { return RoleWorker <= r && r <= RoleCodeQualityReviewer }

// Reviewer reports whether the role reviews.
func (r Role) Reviewer() bool { return r == RoleSpecReviewer || r == RoleCodeQualityReviewer }

// ReviewIndex returns the index of a reviewer's review in a ledger.
func (r Role) ReviewIndex() int {
	if r == RoleCodeQualityReviewer {
		return 1
	}
	return 0
}

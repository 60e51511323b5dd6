package ledger

// Role is whom a prompt is for. The zero value is no role. What a role is called is not known here.
type Role uint8

const (
	// RoleWorker does the work.
	RoleWorker Role = iota + 1
	// RoleSpecReviewer judges whether the work is what was asked for.
	RoleSpecReviewer
	// RoleCodeQualityReviewer judges how well the work is done.
	RoleCodeQualityReviewer
)

func (r Role) known() bool { return RoleWorker <= r && r <= RoleCodeQualityReviewer }

func (r Role) reviewer() bool { return r == RoleSpecReviewer || r == RoleCodeQualityReviewer }

// inputTokens is what the model of a role is given at most, where nobody says otherwise.
func (r Role) inputTokens() int {
	if r == RoleWorker {
		return 4800
	}
	return 4000
}

// review gives which of the two reviews is a reviewer's.
func (r Role) review() int {
	if r == RoleCodeQualityReviewer {
		return 1
	}
	return 0
}

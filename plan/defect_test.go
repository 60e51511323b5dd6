package plan_test

import (
	"waybill/plan"
)

// These tests are named for what went wrong in tools of this kind before.

func ids(changes []plan.Change) []string {
	var found []string
	for _, c := range changes {
		found = append(found, c.ItemID)
	}
	return found
}

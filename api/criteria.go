package api

import (
	"errors"
	"fmt"
	"strings"

	"waybill/core"
	"waybill/engine"
	"waybill/engine/planfile"
	"waybill/ledger"
)

// criteriaOf gives what is to be true when all of a plan is done, as far as that is said somewhere.
func criteriaOf(plans *engine.Plans, plan string, reading *ledger.Reading) []ledger.Criterion {
	if reading == nil {
		return nil // the dialect says where they stand
	}
	all, _ := plans.Criteria(plan, reading.Dialect) // of what cannot be read nothing is known, as of what is not there
	return all.List
}

// forReviewer gives the prompt of a reviewer the criteria that its item names, or the reason why it has none.
func forReviewer(in *ledger.CompileInput, role core.Role, plans *engine.Plans, view engine.RunView) {
	it := in.Progress.CurrentItem
	if !role.Reviewer() || it == nil || ledger.NamesNoCriteria(*it) {
		return
	}
	dialect := view.Progress.Dialect
	if dialect == "" {
		in.CriteriaMissing = "the plan cannot be read, and where its criteria stand was not stored with what is known of it"
		return
	}
	all, err := plans.Criteria(view.Run.Plan, dialect)
	if err != nil {
		in.CriteriaMissing = fmt.Sprintf("%s cannot be read: %s", all.Path, whyUnread(err))
		return
	}
	var unmet []string
	in.Criteria, unmet = ledger.CriteriaOf(*it, all.List)
	if in.CriteriaSource = all.Path; all.Path == "" {
		return
	}
	var missing []string
	if len(unmet) > 0 {
		missing = append(missing, fmt.Sprintf("%s has none that the item names: %s", all.Path, clipped(strings.Join(unmet, ", "))))
	}
	if len(all.List) == ledger.MostCriteria {
		missing = append(missing, fmt.Sprintf("of %s no more than %d criteria are read", all.Path, ledger.MostCriteria))
	}
	in.CriteriaMissing = strings.Join(missing, "; ")
}

// whyUnread says in a few words why a file cannot be read.
func whyUnread(err error) string {
	if file, ok := errors.AsType[*planfile.Error](err); ok {
		return string(file.Reason)
	}
	return engine.ErrUnsteady.Error()
}

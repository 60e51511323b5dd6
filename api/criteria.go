package api

import (
	"errors"
	"fmt"
	"strings"

	"waybill/core"
	"waybill/engine"
	"waybill/internal/safetext"
	"waybill/plan"
	"waybill/plan/criteria"
	planfile "waybill/plan/file"
	"waybill/prompt"
)

// criteriaOf returns the acceptance criteria of a plan, as far as they can be read.
func criteriaOf(plans *engine.Plans, plan string, reading *plan.Reading) []criteria.Criterion {
	if reading == nil {
		return nil // the dialect, which locates them, is unknown
	}
	all, _ := plans.Criteria(plan, reading.Dialect) // unreadable criteria count as missing
	return all.List
}

// addCriteria adds to a reviewer's prompt the criteria that its item names, or the reason why they are missing.
func addCriteria(in *prompt.CompileInput, role core.Role, plans *engine.Plans, view engine.RunView) {
	it := in.Progress.CurrentItem
	if !role.Reviewer() || it == nil || criteria.NamesNone(it.Requirements) {
		return
	}
	all, err := plans.Criteria(view.Run.Plan, view.Progress.Dialect)
	if err != nil {
		in.Criteria.Missing = fmt.Sprintf("%s cannot be read: %s", all.Path, readFault(err))
		return
	}
	var unmet []string
	in.Criteria.List, unmet = criteria.Named(it.Requirements, all.List)
	if in.Criteria.Source = all.Path; all.Path == "" {
		return
	}
	var missing []string
	if len(unmet) > 0 {
		missing = append(missing, fmt.Sprintf("%s lacks criteria that the item names: %s", all.Path, safetext.Truncate(strings.Join(unmet, ", "), shownCharacters)))
	}
	if len(all.List) == criteria.Most {
		missing = append(missing, fmt.Sprintf("only the first %d criteria of %s are read", criteria.Most, all.Path))
	}
	in.Criteria.Missing = strings.Join(missing, "; ")
}

// readFault returns in a few words why a file cannot be read.
func readFault(err error) string {
	if file, ok := errors.AsType[*planfile.Error](err); ok {
		return string(file.Reason)
	}
	return engine.ErrUnsteady.Error()
}

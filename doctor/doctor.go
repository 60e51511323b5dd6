// Package doctor judges whether waybill can work. It turns facts from the caller into findings, by a table with one
// row for each check.
//
// It refuses to collect facts: it reads no file and no clock, and repairs nothing. Each kind of store reports itself
// in Facts, with findings of its own for facts that only it can judge.
package doctor

import "slices"

// Table returns all checks, in the order of their output.
func Table() []Check {
	var all []Check
	for _, rows := range [][]Check{programChecks(), workspaceChecks(), storeChecks(), doorChecks(), planChecks(), workChecks()} {
		all = append(all, rows...)
	}
	return all
}

// Examine returns at least one finding for each check that applies to the store.
func Examine(f *Facts) []Finding {
	var all []Finding
	for _, check := range Table() {
		if !check.of.on(f.Store) {
			continue
		}
		c := chart{name: check.Name}
		check.judge(f, &c)
		if len(c.found) == 0 {
			c.skip(whyNotRun(all))
		}
		all = append(all, c.found...)
	}
	return all
}

// whyNotRun returns why a check without a finding did not run, from the findings before it.
func whyNotRun(before []Finding) string {
	if slices.ContainsFunc(before, func(f Finding) bool { return f.Level == Fail }) {
		return "this check did not run because an earlier one failed"
	}
	return "this check did not run: what it looks at is not there yet"
}

// Failed reports whether a check of the part failed.
func Failed(found []Finding, part Part) bool {
	parts := map[string]Part{}
	for _, check := range Table() {
		parts[check.Name] = check.Part
	}
	for _, f := range found {
		if f.Level == Fail && parts[f.Check] == part {
			return true
		}
	}
	return false
}

package core_test

import (
	"slices"

	"waybill/core"
)

// A runMachine is what moves runs and says what is next, or a copy of it that somebody broke.
type runMachine struct {
	step func(core.Run, core.RunEvent) (core.Run, []core.Effect, error)
	next func(core.Run, core.Outlook) core.Next
}

var soundRuns = runMachine{core.Run.Step, core.Run.Next}

// A runWitness watches one run and keeps its own account of it, from what was reported alone.
type runWitness struct {
	run       core.Run
	counters  core.Counters
	standing  [core.Roles]core.Standing
	findings  [4]string // the newest first
	reviewed  bool      // by a reviewer, in whatever way
	forWhom   string    // the frontier of the plan
	planCount int
}

func watchRun(run core.Run) runWitness {
	return runWitness{run: run, forWhom: run.Frontier, planCount: 1}
}

// A runSight is one step as the witness saw it.
type runSight struct {
	machine runMachine
	event   core.RunEvent
	before  core.Run
	after   core.Run
	effects []core.Effect
	err     error
	role    core.Role // who reported, or was lost; zero for a new plan
	said    core.Said
}

// A runLaw looks at a step with the accounts before and after it.
type runLaw struct {
	name   string
	broken func(was, is runWitness, s runSight) bool
}

// advance puts one event to the run and gives the laws that are broken.
func (w *runWitness) advance(machine runMachine, event core.RunEvent) []string {
	s := runSight{machine: machine, event: event, before: w.run}
	s.role, s.said = w.hears(event)
	s.after, s.effects, s.err = machine.step(w.run, event)
	was := *w
	if w.run.Live() {
		w.account(s)
	}
	w.run = s.after
	var broken []string
	for _, law := range runLaws {
		if law.broken(was, *w, s) {
			broken = append(broken, law.name)
		}
	}
	return broken
}

// hears gives who says what with an event. A reviewer of whom no more is said is the next who has to approve.
func (w *runWitness) hears(event core.RunEvent) (core.Role, core.Said) {
	switch e := event.(type) {
	case core.LoseWorker:
		return core.Worker, core.SaidError
	case core.Replan:
		return 0, 0
	case core.TakeResult:
		if !e.Generic {
			return e.Role, e.Said
		}
		for _, role := range []core.Role{core.SpecReviewer, core.CodeQualityReviewer} {
			if wantedOf(w.run).Has(role) && w.standing[role-1] != core.Approved {
				return role, e.Said
			}
		}
		return core.SpecReviewer, e.Said
	}
	panic("unknown event")
}

// account brings the account up to date.
func (w *runWitness) account(s runSight) {
	if e, isReplan := s.event.(core.Replan); isReplan {
		w.planCount++
		if e.Frontier != w.forWhom {
			w.forWhom, w.findings = e.Frontier, [4]string{}
			w.counters.Stalled, w.counters.ReviewLoop = 0, 0
			for i, standing := range w.standing {
				if standing != core.Rejected {
					w.standing[i] = core.Awaited
				}
			}
		}
		return
	}
	w.reviewed = w.reviewed || s.role.Reviewer()
	w.count(s)
	w.stand(s)
}

func (w *runWitness) count(s runSight) {
	c := &w.counters
	switch s.said {
	case core.SaidInvalid:
		c.InvalidResults[s.role-1]++
	case core.SaidPass:
		c.Stalled = 0
		if s.role.Reviewer() {
			c.ReviewLoop, w.findings = 0, [4]string{}
		}
	case core.SaidError:
		c.Stalled++
		if s.role == core.Worker {
			c.WorkerFailures++
		} else {
			c.ReviewLoop, w.findings = 0, [4]string{}
		}
	case core.SaidGaps:
		if s.role == core.Worker {
			c.Stalled++
			return
		}
		issues := s.event.(core.TakeResult).Issues
		c.ReviewRejections++
		if issues != w.findings[0] {
			c.ReviewLoop = 0
		}
		c.ReviewLoop++
		w.findings = [4]string(append([]string{issues}, w.findings[:3]...))
	}
}

func (w *runWitness) stand(s runSight) {
	var now core.Standing
	switch {
	case s.said == core.SaidInvalid:
		count, limit := w.invalid(s.role)
		switch {
		case count < limit && count > w.run.Policy.InvalidRetries:
			now = core.Replaced
		case count < limit:
			now = core.Unusable
		}
	case s.role == core.Worker:
		now = map[core.Said]core.Standing{
			core.SaidPass: core.Submitted, core.SaidGaps: core.Stuck, core.SaidError: core.Broken,
		}[s.said]
	default:
		now = map[core.Said]core.Standing{core.SaidPass: core.Approved, core.SaidGaps: core.Rejected}[s.said]
	}
	w.standing[s.role-1] = now
	if now != core.Submitted {
		return
	}
	for i := range w.standing {
		if w.standing[i] == core.Rejected {
			w.standing[i] = core.Awaited
		}
	}
}

// invalid gives the invalid results of a role, and how many of them block the run.
func (w *runWitness) invalid(role core.Role) (count, limit int) {
	limit = w.run.Policy.InvalidRetries + 1
	if role.Reviewer() {
		limit += w.run.Policy.ReviewerFreshRuns
	}
	return w.counters.InvalidResults[role-1], limit
}

// flags gives the halt that the account flags for as long as nothing changes.
func (w *runWitness) flags() core.Halt {
	f, p := w.findings, w.run.Policy
	switch {
	case w.counters.Stalled >= p.StalledThreshold:
		return core.HaltStalled
	case w.counters.ReviewLoop >= p.ReviewLoopThreshold:
		return core.HaltReviewLoop
	case f[3] != "" && f[0] == f[2] && f[1] == f[3] && f[0] != f[1]:
		return core.HaltAlternation
	}
	return ""
}

// reached gives the halt whose number the report has reached, of those that last.
func (w *runWitness) reached(s runSight) core.Halt {
	switch s.said {
	case core.SaidInvalid:
		if count, limit := w.invalid(s.role); count >= limit {
			return core.HaltInvalid
		}
	case core.SaidError:
		if s.role.Reviewer() {
			return core.HaltGaveUp
		}
		if w.counters.WorkerFailures > w.run.Policy.WorkerFailures {
			return core.HaltFailures
		}
	case core.SaidGaps:
		if s.role.Reviewer() && w.counters.ReviewRejections >= w.run.Policy.ReviewRejections {
			return core.HaltRejections
		}
	case core.SaidPass:
	}
	return ""
}

// lasts reports whether only a new plan ends the halt, or the approval of everybody.
func lasts(halt core.Halt) bool {
	return slices.Contains([]core.Halt{core.HaltInvalid, core.HaltFailures, core.HaltRejections, core.HaltGaveUp}, halt)
}

// approvals counts who has approved of those who have to.
func (w *runWitness) approvals() (given, wanted int) {
	for _, role := range []core.Role{core.SpecReviewer, core.CodeQualityReviewer} {
		if wantedOf(w.run).Has(role) {
			wanted++
			if w.standing[role-1] == core.Approved {
				given++
			}
		}
	}
	return given, wanted
}

// decides gives the decision that the account leads to.
func (w *runWitness) decides(s runSight) core.Decision {
	c, p := w.counters, w.run.Policy
	switch {
	case s.said == core.SaidInvalid:
		count, limit := w.invalid(s.role)
		return core.Decision{Rule: core.RuleInvalid, Role: s.role, Count: count, Limit: limit}
	case s.role == core.Worker:
		return w.decidesOfWorker(s)
	case s.said == core.SaidPass:
		given, wanted := w.approvals()
		return core.Decision{Rule: core.RuleApproval, Role: s.role, Count: given, Limit: wanted}
	case s.said == core.SaidError:
		return core.Decision{Rule: core.RuleGaveUp, Role: s.role}
	}
	rejections := core.Decision{Rule: core.RuleRejections, Role: s.role, Count: c.ReviewRejections, Limit: p.ReviewRejections}
	calm := runWitness{run: w.run, counters: core.Counters{ReviewLoop: c.ReviewLoop}, findings: w.findings}
	switch {
	case c.ReviewRejections >= p.ReviewRejections:
		return rejections
	case calm.flags() == core.HaltReviewLoop:
		return core.Decision{Rule: core.RuleReviewLoop, Role: s.role, Count: c.ReviewLoop, Limit: p.ReviewLoopThreshold}
	case calm.flags() == core.HaltAlternation:
		return core.Decision{Rule: core.RuleAlternation, Role: s.role, Count: 4, Limit: 4}
	}
	return rejections
}

func (w *runWitness) decidesOfWorker(s runSight) core.Decision {
	c, p := w.counters, w.run.Policy
	stalled := core.Decision{Rule: core.RuleStalled, Role: core.Worker, Count: c.Stalled, Limit: p.StalledThreshold}
	switch {
	case s.said == core.SaidPass:
		return core.Decision{Rule: core.RuleSubmitted, Role: core.Worker}
	case s.said == core.SaidGaps, c.Stalled >= p.StalledThreshold && c.WorkerFailures <= p.WorkerFailures:
		return stalled
	}
	return core.Decision{Rule: core.RuleFailures, Role: core.Worker, Count: c.WorkerFailures, Limit: p.WorkerFailures + 1}
}

package core_test

import (
	"cmp"
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
	found     [2]submissions // of the spec reviewer and the code quality reviewer
	reviewed  bool           // by a reviewer, in whatever way
	forWhom   string         // the frontier of the plan
	planCount int
}

func watchRun(run core.Run) runWitness {
	return runWitness{run: run, forWhom: run.Frontier, planCount: 1}
}

// findings gives what both reviewers come to.
func (w *runWitness) findings() [2]core.Findings {
	return [2]core.Findings{w.found[0].findings(), w.found[1].findings()}
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
	late    bool // a worker was lost for whom nobody waits
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
	_, lost := event.(core.LoseWorker)
	s.late = lost && !w.workerIsNeeded()
	s.after, s.effects, s.err = machine.step(w.run, event)
	was := *w
	if s.taken() {
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
		sole := w.run.Sole || w.run.Policy.Reviewers == 0 && !w.reviewed
		if !e.Generic || !sole && e.Role != 0 {
			return e.Role, e.Said
		}
		wanted := wantedOf(core.Run{Policy: w.run.Policy, Sole: sole})
		for _, role := range []core.Role{core.SpecReviewer, core.CodeQualityReviewer} {
			if wanted.Has(role) && w.standing[role-1] != core.Approved {
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
			w.forWhom, w.found = e.Frontier, [2]submissions{}
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
	if e, lost := s.event.(core.LoseWorker); !lost || !e.Requeued {
		w.stand(s)
	}
	if given, wanted := w.approvalsIn(s.after); given == wanted {
		e, _ := s.event.(core.TakeResult)
		w.forWhom = cmp.Or(e.Frontier, w.forWhom)
	}
}

func (w *runWitness) count(s runSight) {
	c := &w.counters
	switch s.said {
	case core.SaidInvalid:
		c.InvalidResults[s.role-1]++
	case core.SaidPass:
		c.Stalled = 0
		w.forget(s.role)
	case core.SaidError:
		c.Stalled++
		w.forget(s.role)
		if s.role == core.Worker {
			c.WorkerFailures++
		}
	case core.SaidGaps:
		if s.role == core.Worker {
			c.Stalled++
			return
		}
		c.ReviewRejections++
		found := &w.found[s.role-core.SpecReviewer]
		*found = found.add(s.event.(core.TakeResult).Issues, w.standing[s.role-1] == core.Rejected)
	}
	both := w.findings()
	c.ReviewLoop = max(both[0].Same, both[1].Same)
}

// forget ends what a reviewer found, and nothing if it is a worker.
func (w *runWitness) forget(role core.Role) {
	if role.Reviewer() {
		w.found[role-core.SpecReviewer] = submissions{}
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
	p, both := w.run.Policy, w.findings()
	switch {
	case w.counters.Stalled >= p.StalledThreshold:
		return core.HaltStalled
	case max(both[0].Same, both[1].Same) >= p.ReviewLoopThreshold:
		return core.HaltReviewLoop
	case max(both[0].Swaps, both[1].Swaps) > swapsAllowed(p):
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
func (w *runWitness) approvals() (given, wanted int) { return w.approvalsIn(w.run) }

// approvalsIn counts them where a run may have become one with a single reviewer.
func (w *runWitness) approvalsIn(run core.Run) (given, wanted int) {
	for _, role := range []core.Role{core.SpecReviewer, core.CodeQualityReviewer} {
		if wantedOf(run).Has(role) {
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
	own := w.findings()[s.role-core.SpecReviewer]
	switch {
	case c.ReviewRejections >= p.ReviewRejections:
		return rejections
	case own.Same >= p.ReviewLoopThreshold:
		return core.Decision{Rule: core.RuleReviewLoop, Role: s.role, Count: own.Same, Limit: p.ReviewLoopThreshold}
	case own.Swaps > swapsAllowed(p):
		return core.Decision{Rule: core.RuleAlternation, Role: s.role, Count: own.Swaps, Limit: swapsAllowed(p) + 1}
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

package run_test

import (
	"cmp"
	"slices"

	"waybill/core"
	"waybill/core/proof"
	"waybill/core/run"
)

// A runModel computes the expected state of a run from its events alone.
type runModel struct {
	run       run.Run
	counters  run.Counters
	standing  [core.Roles]run.Standing
	found     [2]submissions // of the spec reviewer and the code quality reviewer
	reviewed  bool           // by a reviewer, in whatever way
	forWhom   string         // the frontier of the plan
	proof     proof.Proof
	red       bool // the last event was a red check that counts
	planCount int
}

func newRunModel(run run.Run) runModel {
	return runModel{run: run, forWhom: run.Frontier, proof: run.Proof, planCount: 1}
}

// findings returns the findings of both reviewers.
func (w *runModel) findings() [2]run.Findings {
	return [2]run.Findings{w.found[0].findings(), w.found[1].findings()}
}

// A runStep is one step with its effects.
type runStep struct {
	event   run.Event
	before  run.Run
	after   run.Run
	effects []core.Effect
	err     error
	role    core.Role // who reported, or was lost; zero for a new plan
	said    run.Said
	late    bool // a worker was lost for whom nobody waits, a receipt says nothing new, or a run is unblocked that is not blocked
}

// A runLaw looks at a step with the accounts before and after it.
type runLaw struct {
	name   string
	broken func(was, is runModel, s runStep) bool
}

// advance puts one event to the run and returns the laws that are broken.
func (w *runModel) advance(event run.Event) []string {
	s := runStep{event: event, before: w.run}
	s.role, s.said = w.hears(event)
	_, lost := event.(run.LoseWorker)
	s.late = lost && !w.workerIsNeeded() || isUnblock(event) && w.run.State != run.Blocked
	if e, ok := event.(run.TakeReceipt); ok {
		s.late = w.proved(proof.Take{Receipt: e.Receipt}) == w.proof
	}
	s.after, s.effects, s.err = w.run.Step(event)
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

// hears returns who says what with an event. A reviewer of whom no more is said is the next who has to approve.
func (w *runModel) hears(event run.Event) (core.Role, run.Said) {
	switch e := event.(type) {
	case run.LoseWorker:
		return core.Worker, run.SaidError
	case run.Replan, run.Unblock, run.TakeReceipt:
		return 0, 0
	case run.TakeResult:
		sole := w.run.Naming == run.OneReviewer || w.run.Policy.Reviewers == 0 && !w.reviewed
		if !e.Generic || !sole && e.Role != 0 {
			return e.Role, e.Said
		}
		wanted := wantedOf(run.Run{Policy: w.run.Policy})
		if sole && w.run.Policy.Reviewers == 0 {
			wanted = core.RolesOf(core.SpecReviewer)
		}
		for _, role := range []core.Role{core.SpecReviewer, core.CodeQualityReviewer} {
			if wanted.Has(role) && w.standing[role-1] != run.Approved {
				return role, e.Said
			}
		}
		return core.SpecReviewer, e.Said
	}
	panic("unknown event")
}

// proved returns the proof after an event.
func (w *runModel) proved(event proof.Event) proof.Proof {
	next, effects, err := w.proof.Step(event)
	if err != nil {
		panic(err)
	}
	w.red = len(effects) > 0
	return next
}

// account brings the account up to date.
func (w *runModel) account(s runStep) {
	w.red = false
	if isUnblock(s.event) {
		w.counters, w.found, w.proof = run.Counters{}, [2]submissions{}, w.proved(proof.Accept{})
		return
	}
	if e, ok := s.event.(run.TakeReceipt); ok {
		w.proof = w.proved(proof.Take{Receipt: e.Receipt})
		if w.red {
			w.counters.CheckFailures++
		}
		return
	}
	if e, isReplan := s.event.(run.Replan); isReplan {
		w.planCount++
		if e.Frontier != w.forWhom {
			w.forWhom, w.found, w.proof = e.Frontier, [2]submissions{}, w.proved(proof.Submit{})
			w.counters.Stalled, w.counters.ReviewLoop = 0, 0
			for i, standing := range w.standing {
				if standing != run.Rejected {
					w.standing[i] = run.Awaited
				}
			}
		}
		return
	}
	w.reviewed = w.reviewed || s.role.Reviewer()
	w.count(s)
	if e, lost := s.event.(run.LoseWorker); !lost || !e.Requeued {
		w.stand(s)
	}
	if e, ok := s.event.(run.TakeResult); ok && s.said == run.SaidPass {
		given, wanted := w.approvalsIn(s.after)
		switch {
		case s.role == core.Worker:
			w.proof = w.proved(proof.Submit{})
		case e.Tree != "" || given == wanted:
			w.proof = w.proved(proof.Look{Tree: e.Tree})
		}
	}
	if w.endsIn(s.after) {
		e, _ := s.event.(run.TakeResult)
		w.forWhom = cmp.Or(e.Frontier, w.forWhom)
	}
}

func (w *runModel) count(s runStep) {
	c := &w.counters
	switch s.said {
	case run.SaidInvalid:
		c.InvalidResults[s.role-1]++
	case run.SaidPass:
		c.Stalled = 0
		w.forget(s.role)
	case run.SaidError:
		c.Stalled++
		w.forget(s.role)
		if s.role == core.Worker {
			c.WorkerFailures++
		}
	case run.SaidGaps:
		if s.role == core.Worker {
			c.Stalled++
			return
		}
		c.ReviewRejections++
		found := &w.found[s.role-core.SpecReviewer]
		*found = found.add(s.event.(run.TakeResult).Issues, w.standing[s.role-1] == run.Rejected)
	}
	both := w.findings()
	c.ReviewLoop = max(both[0].Same, both[1].Same)
}

// forget ends what a reviewer found, and nothing if it is a worker.
func (w *runModel) forget(role core.Role) {
	if role.Reviewer() {
		w.found[role-core.SpecReviewer] = submissions{}
	}
}

func (w *runModel) stand(s runStep) {
	var now run.Standing
	switch {
	case s.said == run.SaidInvalid:
		count, limit := w.invalid(s.role)
		switch {
		case count < limit && count > w.run.Policy.InvalidRetries:
			now = run.Replaced
		case count < limit:
			now = run.Unusable
		}
	case s.role == core.Worker:
		now = map[run.Said]run.Standing{
			run.SaidPass: run.Submitted, run.SaidGaps: run.Stuck, run.SaidError: run.Broken,
		}[s.said]
	default:
		now = map[run.Said]run.Standing{run.SaidPass: run.Approved, run.SaidGaps: run.Rejected}[s.said]
	}
	w.standing[s.role-1] = now
	if now != run.Submitted {
		return
	}
	for i := range w.standing {
		if w.standing[i] == run.Rejected {
			w.standing[i] = run.Awaited
		}
	}
}

// invalid returns the invalid results of a role, and how many of them block the run.
func (w *runModel) invalid(role core.Role) (count, limit int) {
	limit = w.run.Policy.InvalidRetries + 1
	if role.Reviewer() {
		limit += w.run.Policy.ReviewerFreshRuns
	}
	return w.counters.InvalidResults[role-1], limit
}

// flags returns the halt that the account flags for as long as nothing changes.
func (w *runModel) flags() run.Halt {
	p, both := w.run.Policy, w.findings()
	switch {
	case w.proof.State() == proof.Untrusted:
		return run.HaltUntrusted
	case w.counters.Stalled >= p.StalledThreshold:
		return run.HaltStalled
	case max(both[0].Same, both[1].Same) >= p.ReviewLoopThreshold:
		return run.HaltReviewLoop
	case max(both[0].Swaps, both[1].Swaps) > swapsAllowed(p):
		return run.HaltAlternation
	}
	return ""
}

// reached returns the halt whose number the report has reached, of those that last.
func (w *runModel) reached(s runStep) run.Halt {
	if w.red && w.counters.CheckFailures >= w.run.Policy.CheckFailures {
		return run.HaltChecks
	}
	switch s.said {
	case run.SaidInvalid:
		if count, limit := w.invalid(s.role); count >= limit {
			return run.HaltInvalid
		}
	case run.SaidError:
		if s.role.Reviewer() {
			return run.HaltGaveUp
		}
		if w.counters.WorkerFailures > w.run.Policy.WorkerFailures {
			return run.HaltFailures
		}
	case run.SaidGaps:
		if s.role.Reviewer() && w.counters.ReviewRejections >= w.run.Policy.ReviewRejections {
			return run.HaltRejections
		}
	case run.SaidPass:
	}
	return ""
}

// lasts reports whether only a new plan ends the halt, or the approval of everybody.
func lasts(halt run.Halt) bool {
	return slices.Contains([]run.Halt{run.HaltInvalid, run.HaltFailures, run.HaltRejections, run.HaltGaveUp, run.HaltChecks}, halt)
}

// approvals counts who has approved of those who have to.
func (w *runModel) approvals() (given, wanted int) { return w.approvalsIn(w.run) }

// approvalsIn counts them where a run may have become one with a single reviewer.
func (w *runModel) approvalsIn(r run.Run) (given, wanted int) {
	for _, role := range []core.Role{core.SpecReviewer, core.CodeQualityReviewer} {
		if wantedOf(r).Has(role) {
			wanted++
			if w.standing[role-1] == run.Approved {
				given++
			}
		}
	}
	return given, wanted
}

// endsIn reports whether all required approvals are there and all checks hold. Without reviewers, the worker decides.
func (w *runModel) endsIn(r run.Run) bool {
	given, wanted := w.approvalsIn(r)
	return given == wanted && (wanted > 0 || w.standing[core.Worker-1] == run.Submitted) && w.proof.Holds()
}

// decides returns the decision that the account leads to.
func (w *runModel) decides(s runStep) run.Decision {
	c, p := w.counters, w.run.Policy
	required := len(w.proof.Required.List())
	switch {
	case w.red:
		return run.Decision{Rule: run.RuleCheckFailed, Count: c.CheckFailures, Limit: p.CheckFailures}
	case isReceipt(s.event):
		return run.Decision{Rule: run.RuleChecked, Count: required - len(w.proof.Due().List()), Limit: required}
	case s.said == run.SaidInvalid:
		count, limit := w.invalid(s.role)
		return run.Decision{Rule: run.RuleInvalid, Role: s.role, Count: count, Limit: limit}
	case s.role == core.Worker:
		return w.decidesOfWorker(s)
	case s.said == run.SaidPass:
		given, wanted := w.approvals()
		return run.Decision{Rule: run.RuleApproval, Role: s.role, Count: given, Limit: wanted}
	case s.said == run.SaidError:
		return run.Decision{Rule: run.RuleGaveUp, Role: s.role}
	}
	rejections := run.Decision{Rule: run.RuleRejections, Role: s.role, Count: c.ReviewRejections, Limit: p.ReviewRejections}
	own := w.findings()[s.role-core.SpecReviewer]
	switch {
	case c.ReviewRejections >= p.ReviewRejections:
		return rejections
	case own.Same >= p.ReviewLoopThreshold:
		return run.Decision{Rule: run.RuleReviewLoop, Role: s.role, Count: own.Same, Limit: p.ReviewLoopThreshold}
	case own.Swaps > swapsAllowed(p):
		return run.Decision{Rule: run.RuleAlternation, Role: s.role, Count: own.Swaps, Limit: swapsAllowed(p) + 1}
	}
	return rejections
}

func (w *runModel) decidesOfWorker(s runStep) run.Decision {
	c, p := w.counters, w.run.Policy
	stalled := run.Decision{Rule: run.RuleStalled, Role: core.Worker, Count: c.Stalled, Limit: p.StalledThreshold}
	switch {
	case s.said == run.SaidPass:
		return run.Decision{Rule: run.RuleSubmitted, Role: core.Worker}
	case s.said == run.SaidGaps, c.Stalled >= p.StalledThreshold && c.WorkerFailures <= p.WorkerFailures:
		return stalled
	}
	return run.Decision{Rule: run.RuleFailures, Role: core.Worker, Count: c.WorkerFailures, Limit: p.WorkerFailures + 1}
}

func isReceipt(event run.Event) bool {
	_, ok := event.(run.TakeReceipt)
	return ok
}

func isUnblock(event run.Event) bool {
	_, ok := event.(run.Unblock)
	return ok
}

package run_test

import (
	"cmp"
	"slices"

	"waybill/core"
	"waybill/core/proof"
	"waybill/core/run"
)

// A model computes the expected state of a run from its events alone.
type model struct {
	run      run.Run
	counters run.Counters
	standing [core.Roles]run.Standing
	found    [2]submissions // of the spec reviewer and the code quality reviewer
	reviewed bool           // there was a review
	frontier string
	proof    proof.Proof
	red      bool // the last event was a red check that counts
	plans    int
}

func newModel(run run.Run) model {
	return model{run: run, frontier: run.Frontier, proof: run.Proof, plans: 1}
}

// findings returns the findings of both reviewers.
func (w *model) findings() [2]run.Findings {
	return [2]run.Findings{w.found[0].findings(), w.found[1].findings()}
}

// A step is one event with its effects.
type step struct {
	event   run.Event
	at      core.Instant
	before  run.Run
	after   run.Run
	effects []core.Effect
	err     error
	role    core.Role // the role that reported or was lost; zero for other events
	said    run.Said
	late    bool // the run does not wait for the lost worker, the receipt says nothing new, or the run to unblock is not blocked
}

// A law compares a step with the models before and after it.
type law struct {
	name   string
	broken func(was, is model, s step) bool
}

// advance puts one event to the run and returns the laws that are broken.
func (w *model) advance(event run.Event, at core.Instant) []string {
	s := step{event: event, at: at, before: w.run}
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
	for _, law := range laws {
		if law.broken(was, *w, s) {
			broken = append(broken, law.name)
		}
	}
	return broken
}

// hears returns the role of an event and its statement. A reviewer without a name is the next one that must approve.
func (w *model) hears(event run.Event) (core.Role, run.Said) {
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
func (w *model) proved(event proof.Event) proof.Proof {
	next, effects, err := w.proof.Step(event)
	if err != nil {
		panic(err)
	}
	w.red = len(effects) > 0
	return next
}

// account brings the model up to date.
func (w *model) account(s step) {
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
		w.plans++
		if e.Frontier != w.frontier {
			w.frontier, w.found, w.proof = e.Frontier, [2]submissions{}, w.proved(proof.Submit{})
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
		w.frontier = cmp.Or(e.Frontier, w.frontier)
	}
}

func (w *model) count(s step) {
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

// forget removes the findings of a reviewer. A worker has none.
func (w *model) forget(role core.Role) {
	if role.Reviewer() {
		w.found[role-core.SpecReviewer] = submissions{}
	}
}

func (w *model) stand(s step) {
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

// invalid returns the number of invalid results of a role, and the number that blocks the run.
func (w *model) invalid(role core.Role) (count, limit int) {
	limit = w.run.Policy.InvalidRetries + 1
	if role.Reviewer() {
		limit += w.run.Policy.ReviewerFreshRuns
	}
	return w.counters.InvalidResults[role-1], limit
}

// flags returns the halt that lasts as long as its cause.
func (w *model) flags() run.Halt {
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

// reached returns the lasting halt whose limit the event has reached.
func (w *model) reached(s step) run.Halt {
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

// lasts reports whether only a new plan, a person or approval ends the halt.
func lasts(halt run.Halt) bool {
	return slices.Contains([]run.Halt{run.HaltInvalid, run.HaltFailures, run.HaltRejections, run.HaltGaveUp, run.HaltChecks}, halt)
}

// approvalsIn returns how many of the required reviewers have approved, and how many are required. The run says whether
// it has a single reviewer.
func (w *model) approvalsIn(r run.Run) (given, wanted int) {
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
func (w *model) endsIn(r run.Run) bool {
	given, wanted := w.approvalsIn(r)
	return given == wanted && (wanted > 0 || w.standing[core.Worker-1] == run.Submitted) && w.proof.Holds()
}

func isReceipt(event run.Event) bool {
	_, ok := event.(run.TakeReceipt)
	return ok
}

func isUnblock(event run.Event) bool {
	_, ok := event.(run.Unblock)
	return ok
}

// submissions are the sets of issues that one reviewer found, one for each submission of the work.
type submissions struct {
	sets  []string
	since int // the index of the last corrected set; nothing is counted beyond it
}

// add adds a set of issues, or corrects the last one if the reviewer has already rejected this submission.
func (s submissions) add(issues string, again bool) submissions {
	n := len(s.sets)
	switch {
	case !again || n == 0:
		s.sets = slices.Concat(s.sets, []string{issues})
	case s.sets[n-1] != issues:
		s.sets = slices.Concat(s.sets[:n-1], []string{issues})
		s.since = n - 1
	}
	return s
}

func (s submissions) findings() run.Findings {
	n := len(s.sets)
	if n == 0 {
		return run.Findings{}
	}
	f := run.Findings{Last: s.sets[n-1], Same: 1}
	if n > 1 {
		f.Before = s.sets[n-2]
	}
	for i := n - 2; i >= s.since && s.sets[i] == f.Last; i-- {
		f.Same++
	}
	for i := n - 1; i > max(1, s.since) && s.sets[i] == s.sets[i-2] && s.sets[i] != s.sets[i-1]; i-- {
		f.Swaps++
	}
	return f
}

// swapsAllowed returns how often two sets may alternate: until each was found as often as makes a loop of a single one,
// which is a, b, a, b for a threshold of 2.
func swapsAllowed(p run.Policy) int {
	turns := 2 * p.ReviewLoopThreshold
	return max(0, turns-len("ab")-1)
}

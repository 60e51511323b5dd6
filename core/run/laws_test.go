package run_test

import (
	"errors"
	"slices"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/proof"
	"waybill/core/run"
)

// taken reports whether the event was one that the run takes.
func (s runStep) taken() bool { return s.before.Live() && !s.late }

// newFrontier reports whether the event is a plan that wants something else done next.
func (s runStep) newFrontier() bool {
	e, isReplan := s.event.(run.Replan)
	return isReplan && e.Frontier != s.before.Frontier
}

func (s runStep) posts() []core.NoticeKind { return coretest.Notices(s.effects) }

func (s runStep) decisions() []run.Decide {
	var all []run.Decide
	for _, effect := range s.effects {
		if d, ok := effect.(run.Decide); ok {
			all = append(all, d)
		}
	}
	return all
}

// next returns what is next for each outlook, and whether all of them could be told.
func (s runStep) next() (all []run.Next, ok bool) {
	defer func() { ok = recover() == nil }()
	for _, o := range outlooks() {
		all = append(all, s.after.Next(o))
	}
	return all, true
}

// runLaws hold for every step of every run.
var runLaws = []runLaw{
	{"a live run refuses nothing", func(_, _ runModel, s runStep) bool {
		return s.taken() && s.err != nil
	}},
	{"what is not taken changes nothing and is refused, but for a lost worker and a receipt", func(_, _ runModel, s runStep) bool {
		if s.taken() {
			return false
		}
		refusal, refused := errors.AsType[*core.Refusal](s.err)
		_, lost := s.event.(run.LoseWorker)
		lost = lost || isReceipt(s.event)
		return s.after != s.before || len(s.effects) > 0 || refused == lost || refused && refusal.Kind != core.InvalidState
	}},
	{"exactly one decision for each event", func(_, _ runModel, s runStep) bool {
		want := core.RunOutcome
		switch s.event.(type) {
		case run.TakeReceipt:
			want = core.ProofChanged
		case run.Replan:
			want = core.RunReplanned
		case run.Unblock:
			want = core.RunUnblocked
		}
		got := s.decisions()
		return s.taken() && (len(got) != 1 || got[0].Type != want)
	}},
	{"the decision says by which rule, about whom and at which count", func(_, is runModel, s runStep) bool {
		if !s.taken() || len(s.decisions()) == 0 {
			return false
		}
		want := run.Decision{Rule: run.RuleSamePlan}
		switch {
		case s.newFrontier():
			want.Rule = run.RuleReplanned
		case isUnblock(s.event):
			want.Rule = run.RuleUnblocked
		}
		if s.role != 0 || isReceipt(s.event) {
			want = is.decides(s)
		}
		return s.decisions()[0].Decision != want
	}},
	{"the revision moves by one", func(_, _ runModel, s runStep) bool {
		return s.taken() && s.after.Revision != s.before.Revision+1
	}},
	{"what a run was started with never changes", func(_, _ runModel, s runStep) bool {
		b, a := s.before, s.after
		return a.ID != b.ID || a.Plan != b.Plan || a.ItemID != b.ItemID || a.Policy != b.Policy || a.CreatedAt != b.CreatedAt
	}},
	{"an invalid result counts for its role and for nothing else", func(was, is runModel, s runStep) bool {
		if !s.taken() || isUnblock(s.event) {
			return false
		}
		want := was.counters
		want.CheckFailures = is.counters.CheckFailures
		if s.said != run.SaidInvalid {
			want.InvalidResults = was.counters.InvalidResults
			return s.after.Counters.InvalidResults != want.InvalidResults
		}
		want.InvalidResults[s.role-1]++
		return s.after.Counters != want || s.after.Findings != s.before.Findings
	}},
	{"failures count the workers that failed or were lost", func(_, is runModel, s runStep) bool {
		return s.after.Counters.WorkerFailures != is.counters.WorkerFailures
	}},
	{"rejections count the reviews that want changes", func(_, is runModel, s runStep) bool {
		return s.after.Counters.ReviewRejections != is.counters.ReviewRejections
	}},
	{"submissions with a red check are counted, each once", func(_, is runModel, s runStep) bool {
		return s.after.Counters.CheckFailures != is.counters.CheckFailures
	}},
	{"a receipt moves nothing but the proof and the counter of the checks", func(was, _ runModel, s runStep) bool {
		got := s.after.Counters
		got.CheckFailures = was.counters.CheckFailures
		return isReceipt(s.event) && (got != was.counters || s.after.Standing != was.standing || s.after.Findings != was.findings())
	}},
	{"the proof is what the receipts since the last submission say", func(_, is runModel, s runStep) bool {
		return s.after.Proof != is.proof || s.after.Proof.Required != s.after.Policy.RequireChecks
	}},
	{"no run is done with a required check that is not green on the tree of the last approval", func(_, _ runModel, s runStep) bool {
		if s.before.State == run.Done || s.after.State != run.Done {
			return false
		}
		e, approval := s.event.(run.TakeResult)
		p := s.after.Proof
		for _, check := range p.Required.List() {
			if !p.Green.Has(check) || p.Red != "" || p.Stale.Has(check) || approval && (e.Tree == "" || p.Tree != e.Tree) {
				return true
			}
		}
		return false
	}},
	{"stalled outcomes are counted until the work moves on", func(_, is runModel, s runStep) bool {
		return s.after.Counters.Stalled != is.counters.Stalled
	}},
	{"identical findings of one reviewer are counted in a row", func(_, is runModel, s runStep) bool {
		return s.after.Counters.ReviewLoop != is.counters.ReviewLoop
	}},
	{"each reviewer's findings are remembered until its approval or another plan", func(_, is runModel, s runStep) bool {
		return s.after.Findings != is.findings()
	}},
	{"each role stands as it last reported", func(_, is runModel, s runStep) bool {
		return s.after.Standing != is.standing
	}},
	{"one reviewer is enough if the first review came from one of whom no more was said", func(was, _ runModel, s runStep) bool {
		e, _ := s.event.(run.TakeResult)
		first := s.taken() && e.Generic && s.before.Policy.Reviewers == 0
		switch {
		case s.before.Naming == run.OneReviewer:
			return s.after.Naming != run.OneReviewer
		case first && !was.reviewed:
			return s.after.Naming != run.OneReviewer
		}
		return s.after.Naming == run.OneReviewer
	}},
	{"a run is done exactly if every reviewer that has to has approved and the checks hold", func(_, is runModel, s runStep) bool {
		return s.taken() && (s.after.State == run.Done) != is.endsIn(s.after)
	}},
	{"a run is blocked exactly if it has a halt", func(_, _ runModel, s runStep) bool {
		return (s.after.State == run.Blocked) != (s.after.Halt != "")
	}},
	{"no report fails a run", func(_, _ runModel, s runStep) bool {
		return s.taken() && s.after.State == run.Failed
	}},
	{"what lasts is ended by another plan, by a person or by approval alone", func(_, _ runModel, s runStep) bool {
		return lasts(s.before.Halt) && s.after.Halt != s.before.Halt && !s.newFrontier() && !isUnblock(s.event) && s.after.State != run.Done
	}},
	{"another plan ends every halt", func(_, _ runModel, s runStep) bool {
		return s.taken() && s.newFrontier() && s.after.State != run.Running
	}},
	{"a person ends every halt, and all counters start again at zero", func(_, _ runModel, s runStep) bool {
		return s.taken() && isUnblock(s.event) && (s.after.State == run.Blocked || s.after.Counters != run.Counters{})
	}},
	{"a run halts for long at the number of its policy", func(_, is runModel, s runStep) bool {
		if !s.taken() || lasts(s.before.Halt) || s.role == 0 && !isReceipt(s.event) {
			return false
		}
		got := s.after.Halt
		if !lasts(got) {
			got = ""
		}
		return got != is.reached(s)
	}},
	{"a stall or a loop blocks while it is flagged, and no longer", func(_, is runModel, s runStep) bool {
		return s.after.Live() && !lasts(s.after.Halt) && s.after.Halt != is.flags()
	}},
	{"each block leaves its notice", func(_, _ runModel, s runStep) bool {
		var want []core.NoticeKind
		worse := lasts(s.after.Halt) && !lasts(s.before.Halt)
		if s.taken() && s.after.State == run.Blocked && (s.before.State != run.Blocked || worse) {
			want = []core.NoticeKind{core.NoticeRunStalled}
			if lasts(s.after.Halt) || s.after.Halt == run.HaltUntrusted {
				want[0] = core.NoticeRunBlocked
			}
		}
		return !slices.Equal(s.posts(), want)
	}},
	{"nothing follows but a decision and a notice", func(_, _ runModel, s runStep) bool {
		return len(s.effects) != len(s.posts())+len(s.decisions())
	}},
	{"the version of the plan counts plans", func(_, is runModel, s runStep) bool {
		return s.after.PlanVersion != is.planCount
	}},
	{"the frontier is that of the last plan, or of the approved item", func(_, is runModel, s runStep) bool {
		return s.after.Frontier != is.forWhom
	}},
	{"a run whose item is gone sends nobody", func(_, _ runModel, s runStep) bool {
		return s.after.State == run.Running && s.after.Next(run.Outlook{Gone: true}).Action != run.HaltAndEscalate
	}},
	{"what is next can always be told", func(_, _ runModel, s runStep) bool {
		_, ok := s.next()
		return !ok
	}},
	{"next names a role exactly if one is to be sent", func(_, _ runModel, s runStep) bool {
		all, _ := s.next()
		return slices.ContainsFunc(all, func(n run.Next) bool {
			switch n.Action {
			case run.DispatchWorker, run.DispatchFixes, run.RetryWorker:
				return n.Role != core.Worker
			case run.DispatchReviewer, run.SpawnFreshReviewer:
				return !n.Role.Reviewer()
			case run.RetryWithPreamble:
				return n.Role != core.Worker && !n.Role.Reviewer()
			case run.RunChecks:
				return n.Role != 0 || n.Checks == ""
			case run.AdvanceToNextItem, run.PlanCompleted, run.HaltAndEscalate:
				return n.Role != 0
			}
			return true
		})
	}},
	{"who runs sends somebody, and nobody else does", func(_, _ runModel, s runStep) bool {
		all, _ := s.next()
		return slices.ContainsFunc(all, func(n run.Next) bool {
			advances := n.Action == run.AdvanceToNextItem || n.Action == run.PlanCompleted
			switch s.after.State {
			case run.Running:
				return n.Role == 0 && n.Action != run.RunChecks
			case run.Blocked, run.Failed:
				return n.Action != run.HaltAndEscalate
			case run.Done:
				return !advances && n.Action != run.HaltAndEscalate
			}
			return true
		})
	}},
	{"who is sent has something to do", func(_, is runModel, s runStep) bool {
		all, _ := s.next()
		return slices.ContainsFunc(all, func(n run.Next) bool { return n.Role != 0 && is.idle(n) })
	}},
	{"a worker's turn comes before checks, checks before a review, and the spec before the quality", func(_, is runModel, s runStep) bool {
		all, _ := s.next()
		return slices.ContainsFunc(all, func(n run.Next) bool {
			spec := is.standing[core.SpecReviewer-1]
			first := wantedOf(s.after).Has(core.SpecReviewer) && spec != run.Approved
			return n.Role.Reviewer() && (is.workerIsNeeded() || !is.proof.Holds()) || n.Action == run.RunChecks && is.workerIsNeeded() || n.Role == core.CodeQualityReviewer && first
		})
	}},
}

// workerIsNeeded reports whether a worker has to do something before anybody can review.
func (w *runModel) workerIsNeeded() bool {
	wanting := []run.Standing{run.Unusable, run.Stuck, run.Broken}
	return w.proof.State() == proof.Refuted || slices.Contains(wanting, w.standing[core.Worker-1]) || slices.Contains(w.standing[:], run.Rejected) ||
		w.standing == [core.Roles]run.Standing{} ||
		w.run.Policy.Reviewers == run.NoReviewers && w.standing[core.Worker-1] == run.Awaited
}

// idle reports whether the next action names a role without work.
func (w *runModel) idle(n run.Next) bool {
	stands := w.standing[n.Role-1]
	switch n.Action {
	case run.DispatchWorker:
		return stands != run.Awaited || slices.Contains(w.standing[:], run.Rejected)
	case run.DispatchFixes:
		return !slices.Contains(w.standing[:], run.Rejected) && w.proof.State() != proof.Refuted
	case run.RetryWorker:
		return stands != run.Stuck && stands != run.Broken
	case run.RetryWithPreamble:
		return stands != run.Unusable
	case run.SpawnFreshReviewer:
		return stands != run.Replaced || !wantedOf(w.run).Has(n.Role)
	case run.DispatchReviewer:
		return stands != run.Awaited || !wantedOf(w.run).Has(n.Role)
	case run.RunChecks, run.AdvanceToNextItem, run.PlanCompleted, run.HaltAndEscalate:
	}
	return true
}

package core_test

import (
	"errors"
	"slices"

	"waybill/core"
)

// taken reports whether the event was one that the run takes.
func (s runSight) taken() bool { return s.before.Live() && !s.late }

// newFrontier reports whether the event is a plan that wants something else done next.
func (s runSight) newFrontier() bool {
	e, isReplan := s.event.(core.Replan)
	return isReplan && e.Frontier != s.before.Frontier
}

func (s runSight) posts() []core.NoticeKind { return notices(s.effects) }

func (s runSight) decisions() []core.Decide {
	var all []core.Decide
	for _, effect := range s.effects {
		if d, ok := effect.(core.Decide); ok {
			all = append(all, d)
		}
	}
	return all
}

// next gives what is next for each outlook, and whether all of them could be told.
func (s runSight) next() (all []core.Next, ok bool) {
	defer func() { ok = recover() == nil }()
	for _, o := range outlooks() {
		all = append(all, s.machine.next(s.after, o))
	}
	return all, true
}

// runLaws hold for every step of every run.
var runLaws = []runLaw{
	{"a live run refuses nothing", func(_, _ runWitness, s runSight) bool {
		return s.taken() && s.err != nil
	}},
	{"what is not taken changes nothing and is refused, but for a lost worker", func(_, _ runWitness, s runSight) bool {
		if s.taken() {
			return false
		}
		refusal, refused := errors.AsType[*core.Refusal](s.err)
		_, lost := s.event.(core.LoseWorker)
		return s.after != s.before || len(s.effects) > 0 || refused == lost || refused && refusal.Kind != core.InvalidState
	}},
	{"exactly one decision for each event", func(_, _ runWitness, s runSight) bool {
		want := core.RunOutcome
		if _, isReplan := s.event.(core.Replan); isReplan {
			want = core.RunReplanned
		}
		got := s.decisions()
		return s.taken() && (len(got) != 1 || got[0].Type != want)
	}},
	{"the decision says by which rule, about whom and at which count", func(_, is runWitness, s runSight) bool {
		if !s.taken() || len(s.decisions()) == 0 {
			return false
		}
		want := core.Decision{Rule: core.RuleSamePlan}
		if s.newFrontier() {
			want.Rule = core.RuleReplanned
		}
		if s.role != 0 {
			want = is.decides(s)
		}
		return s.decisions()[0].Decision != want
	}},
	{"the revision moves by one", func(_, _ runWitness, s runSight) bool {
		return s.taken() && s.after.Revision != s.before.Revision+1
	}},
	{"what a run was started with never changes", func(_, _ runWitness, s runSight) bool {
		b, a := s.before, s.after
		return a.ID != b.ID || a.Plan != b.Plan || a.ItemID != b.ItemID || a.Policy != b.Policy || a.CreatedAt != b.CreatedAt
	}},
	{"an invalid result counts for its role and for nothing else", func(was, _ runWitness, s runSight) bool {
		if !s.taken() {
			return false
		}
		want := was.counters
		if s.said != core.SaidInvalid {
			want.InvalidResults = was.counters.InvalidResults
			return s.after.Counters.InvalidResults != want.InvalidResults
		}
		want.InvalidResults[s.role-1]++
		return s.after.Counters != want || s.after.Findings != s.before.Findings
	}},
	{"failures count the workers that failed or were lost", func(_, is runWitness, s runSight) bool {
		return s.after.Counters.WorkerFailures != is.counters.WorkerFailures
	}},
	{"rejections count the reviews that want changes", func(_, is runWitness, s runSight) bool {
		return s.after.Counters.ReviewRejections != is.counters.ReviewRejections
	}},
	{"stalled outcomes are counted until the work moves on", func(_, is runWitness, s runSight) bool {
		return s.after.Counters.Stalled != is.counters.Stalled
	}},
	{"identical findings of one reviewer are counted in a row", func(_, is runWitness, s runSight) bool {
		return s.after.Counters.ReviewLoop != is.counters.ReviewLoop
	}},
	{"each reviewer's findings are remembered until its approval or another plan", func(_, is runWitness, s runSight) bool {
		return s.after.Findings != is.findings()
	}},
	{"each role stands as it last reported", func(_, is runWitness, s runSight) bool {
		return s.after.Standing != is.standing
	}},
	{"one reviewer is enough if the first review came from one of whom no more was said", func(was, _ runWitness, s runSight) bool {
		e, _ := s.event.(core.TakeResult)
		first := s.taken() && e.Generic && s.before.Policy.Reviewers == 0
		switch {
		case s.before.Sole:
			return !s.after.Sole
		case first && !was.reviewed:
			return !s.after.Sole
		}
		return s.after.Sole
	}},
	{"a run is done exactly if every reviewer that has to has approved", func(_, is runWitness, s runSight) bool {
		given, wanted := is.approvals()
		return s.taken() && (s.after.State == core.RunDone) != (given == wanted)
	}},
	{"a run is blocked exactly if it has a halt", func(_, _ runWitness, s runSight) bool {
		return (s.after.State == core.RunBlocked) != (s.after.Halt != "")
	}},
	{"no report fails a run", func(_, _ runWitness, s runSight) bool {
		return s.taken() && s.after.State == core.RunFailed
	}},
	{"what lasts is ended by another plan or by approval alone", func(_, _ runWitness, s runSight) bool {
		return lasts(s.before.Halt) && s.after.Halt != s.before.Halt && !s.newFrontier() && s.after.State != core.RunDone
	}},
	{"another plan ends every halt", func(_, _ runWitness, s runSight) bool {
		return s.taken() && s.newFrontier() && s.after.State != core.RunRunning
	}},
	{"a run halts for long at the number of its policy", func(_, is runWitness, s runSight) bool {
		if !s.taken() || lasts(s.before.Halt) || s.role == 0 {
			return false
		}
		got := s.after.Halt
		if !lasts(got) {
			got = ""
		}
		return got != is.reached(s)
	}},
	{"a stall or a loop blocks while it is flagged, and no longer", func(_, is runWitness, s runSight) bool {
		return s.after.Live() && !lasts(s.after.Halt) && s.after.Halt != is.flags()
	}},
	{"each block leaves its notice", func(_, _ runWitness, s runSight) bool {
		var want []core.NoticeKind
		worse := lasts(s.after.Halt) && !lasts(s.before.Halt)
		if s.taken() && s.after.State == core.RunBlocked && (s.before.State != core.RunBlocked || worse) {
			want = []core.NoticeKind{core.NoticeRunStalled}
			if lasts(s.after.Halt) {
				want[0] = core.NoticeRunBlocked
			}
		}
		return !slices.Equal(s.posts(), want)
	}},
	{"nothing follows but a decision and a notice", func(_, _ runWitness, s runSight) bool {
		return len(s.effects) != len(s.posts())+len(s.decisions())
	}},
	{"the version of the plan counts plans", func(_, is runWitness, s runSight) bool {
		return s.after.PlanVersion != is.planCount
	}},
	{"the frontier is that of the last plan, or of the approved item", func(_, is runWitness, s runSight) bool {
		return s.after.Frontier != is.forWhom
	}},
	{"a run whose item is gone sends nobody", func(_, _ runWitness, s runSight) bool {
		return s.after.State == core.RunRunning && s.machine.next(s.after, core.Outlook{Gone: true}).Action != core.HaltAndEscalate
	}},
	{"what is next can always be told", func(_, _ runWitness, s runSight) bool {
		_, ok := s.next()
		return !ok
	}},
	{"next names a role exactly if one is to be sent", func(_, _ runWitness, s runSight) bool {
		all, _ := s.next()
		return slices.ContainsFunc(all, func(n core.Next) bool {
			switch n.Action {
			case core.DispatchWorker, core.DispatchFixes, core.RetryWorker:
				return n.Role != core.Worker
			case core.DispatchReviewer, core.SpawnFreshReviewer:
				return !n.Role.Reviewer()
			case core.RetryWithPreamble:
				return n.Role != core.Worker && !n.Role.Reviewer()
			case core.AdvanceToNextItem, core.PlanCompleted, core.HaltAndEscalate:
				return n.Role != 0
			}
			return true
		})
	}},
	{"who runs sends somebody, and nobody else does", func(_, _ runWitness, s runSight) bool {
		all, _ := s.next()
		return slices.ContainsFunc(all, func(n core.Next) bool {
			advances := n.Action == core.AdvanceToNextItem || n.Action == core.PlanCompleted
			switch s.after.State {
			case core.RunRunning:
				return n.Role == 0
			case core.RunBlocked, core.RunFailed:
				return n.Action != core.HaltAndEscalate
			case core.RunDone:
				return !advances && n.Action != core.HaltAndEscalate
			}
			return true
		})
	}},
	{"who is sent has something to do", func(_, is runWitness, s runSight) bool {
		all, _ := s.next()
		return slices.ContainsFunc(all, func(n core.Next) bool { return n.Role != 0 && is.idle(n) })
	}},
	{"a worker's turn comes before a review, and the spec before the quality", func(_, is runWitness, s runSight) bool {
		all, _ := s.next()
		return slices.ContainsFunc(all, func(n core.Next) bool {
			spec := is.standing[core.SpecReviewer-1]
			first := wantedOf(s.after).Has(core.SpecReviewer) && spec != core.Approved
			return n.Role.Reviewer() && is.workerIsNeeded() || n.Role == core.CodeQualityReviewer && first
		})
	}},
}

// workerIsNeeded reports whether a worker has to do something before anybody can review.
func (w *runWitness) workerIsNeeded() bool {
	wanting := []core.Standing{core.Unusable, core.Stuck, core.Broken}
	return slices.Contains(wanting, w.standing[core.Worker-1]) || slices.Contains(w.standing[:], core.Rejected) ||
		w.standing == [core.Roles]core.Standing{}
}

// idle reports whether somebody would be sent who has nothing of the kind to do.
func (w *runWitness) idle(n core.Next) bool {
	stands := w.standing[n.Role-1]
	switch n.Action {
	case core.DispatchWorker:
		return stands != core.Awaited || slices.Contains(w.standing[:], core.Rejected)
	case core.DispatchFixes:
		return !slices.Contains(w.standing[:], core.Rejected)
	case core.RetryWorker:
		return stands != core.Stuck && stands != core.Broken
	case core.RetryWithPreamble:
		return stands != core.Unusable
	case core.SpawnFreshReviewer:
		return stands != core.Replaced || !wantedOf(w.run).Has(n.Role)
	case core.DispatchReviewer:
		return stands != core.Awaited || !wantedOf(w.run).Has(n.Role)
	case core.AdvanceToNextItem, core.PlanCompleted, core.HaltAndEscalate:
	}
	return true
}

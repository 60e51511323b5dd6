package run_test

import (
	"errors"
	"slices"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/proof"
	"waybill/core/run"
)

// taken reports whether the run accepts the event.
func (s step) taken() bool { return s.before.Live() && !s.late }

// newFrontier reports whether the event is a plan with other next items.
func (s step) newFrontier() bool {
	e, isReplan := s.event.(run.Replan)
	return isReplan && e.Frontier != s.before.Frontier
}

func (s step) posts() []core.NoticeKind { return coretest.Notices(s.effects) }

func (s step) decisions() []run.Decide {
	var all []run.Decide
	for _, effect := range s.effects {
		if d, ok := effect.(run.Decide); ok {
			all = append(all, d)
		}
	}
	return all
}

// laws hold for every step of every run.
var laws = []law{
	{"a live run refuses nothing", func(_, _ model, s step) bool {
		return s.taken() && s.err != nil
	}},
	{"an event that is not taken changes nothing and is refused, except a lost worker and a receipt", func(_, _ model, s step) bool {
		if s.taken() {
			return false
		}
		refusal, refused := errors.AsType[*core.Refusal](s.err)
		_, lost := s.event.(run.LoseWorker)
		return s.after != s.before || len(s.effects) > 0 || refused == (lost || isReceipt(s.event)) ||
			refused && (refusal.Kind != core.InvalidState || refusal.Noun != "run" || refusal.Subject != s.before.ID || refusal.State != string(s.before.State))
	}},
	{"exactly one decision for each event", func(_, _ model, s step) bool {
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
	{"the revision moves by one, at the time of the event", func(_, _ model, s step) bool {
		return s.taken() && (s.after.Revision != s.before.Revision+1 || s.after.UpdatedAt != s.at)
	}},
	{"the facts of the start never change", func(_, _ model, s step) bool {
		b, a := s.before, s.after
		return a.ID != b.ID || a.Plan != b.Plan || a.ItemID != b.ItemID || a.Policy != b.Policy || a.CreatedAt != b.CreatedAt
	}},
	{"the run is that of the model", func(_, is model, s step) bool {
		a := s.after
		return a.Counters != is.counters || a.Findings != is.findings() || a.Standing != is.standing || a.Proof != is.proof ||
			a.Proof.Required != a.Policy.RequireChecks || a.PlanVersion != is.plans || a.Frontier != is.frontier
	}},
	{"no run is done with a required check that is not green on the tree of the last approval", func(_, _ model, s step) bool {
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
	{"one reviewer is enough if the first review came from a reviewer without a name", func(was, _ model, s step) bool {
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
	{"a run is done exactly if every required reviewer has approved and the checks hold", func(_, is model, s step) bool {
		return s.taken() && (s.after.State == run.Done) != is.endsIn(s.after)
	}},
	{"a run is blocked exactly if it has a halt", func(_, _ model, s step) bool {
		return (s.after.State == run.Blocked) != (s.after.Halt != "")
	}},
	{"no report fails a run", func(_, _ model, s step) bool {
		return s.taken() && s.after.State == run.Failed
	}},
	{"a lasting halt is ended only by another plan, a person or approval", func(_, _ model, s step) bool {
		return lasts(s.before.Halt) && s.after.Halt != s.before.Halt && !s.newFrontier() && !isUnblock(s.event) && s.after.State != run.Done
	}},
	{"another plan ends every halt", func(_, _ model, s step) bool {
		return s.taken() && s.newFrontier() && s.after.State != run.Running
	}},
	{"a person ends every halt, and all counters start again at zero", func(_, _ model, s step) bool {
		return s.taken() && isUnblock(s.event) && (s.after.State == run.Blocked || s.after.Counters != run.Counters{})
	}},
	{"a lasting halt begins at the limit of the policy", func(_, is model, s step) bool {
		if !s.taken() || lasts(s.before.Halt) || s.role == 0 && !isReceipt(s.event) {
			return false
		}
		got := s.after.Halt
		if !lasts(got) {
			got = ""
		}
		return got != is.reached(s)
	}},
	{"another halt blocks as long as its cause, and no longer", func(_, is model, s step) bool {
		return s.after.Live() && !lasts(s.after.Halt) && s.after.Halt != is.flags()
	}},
	{"each block leaves its notice", func(_, _ model, s step) bool {
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
	{"the notices of a block go with the block, and only then", func(_, _ model, s step) bool {
		ended := s.before.State == run.Blocked && s.after.State != run.Blocked
		return ended != slices.Contains(s.effects, core.Effect(core.Withdraw{Kind: core.NoticeRunBlocked})) ||
			ended != slices.Contains(s.effects, core.Effect(core.Withdraw{Kind: core.NoticeRunStalled}))
	}},
	{"the effects are a decision and notices", func(_, _ model, s step) bool {
		rest := slices.DeleteFunc(slices.Clone(s.effects), func(e core.Effect) bool { _, gone := e.(core.Withdraw); return gone })
		return len(rest) != len(s.posts())+len(s.decisions())
	}},
	{"a run whose item is gone sends no agent, and one that is done keeps its end", func(_, _ model, s step) bool {
		gone := s.after.Next(run.Outlook{Gone: true}).Action
		return s.after.State == run.Running && gone != run.HaltAndEscalate || s.after.State == run.Done && gone != run.PlanCompleted
	}},
	{"every reachable run has a next action", func(_, _ model, s step) (broken bool) {
		defer func() { broken = recover() != nil }()
		for _, o := range outlooks() {
			s.after.Next(o)
		}
		return false
	}},
}

// workerIsNeeded reports whether it is a worker's turn.
func (w *model) workerIsNeeded() bool {
	wanting := []run.Standing{run.Unusable, run.Stuck, run.Broken}
	return w.proof.State() == proof.Refuted || slices.Contains(wanting, w.standing[core.Worker-1]) || slices.Contains(w.standing[:], run.Rejected) ||
		w.standing == [core.Roles]run.Standing{} ||
		w.run.Policy.Reviewers == run.NoReviewers && w.standing[core.Worker-1] == run.Awaited
}

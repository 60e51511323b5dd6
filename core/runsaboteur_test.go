package core_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

var runSaboteurs = []runSaboteur{
	{"wants no plan while it runs", "a live run refuses nothing", ruining(func(s *runSight) {
		if isReplan(s.event) && s.before.State == core.RunRunning {
			s.after, s.effects, s.err = s.before, nil, &core.Refusal{Kind: core.InvalidState}
		}
	})},
	{"takes a late approval", "what is not taken changes nothing and is refused, but for a lost worker", ruining(func(s *runSight) {
		if said(s.event, core.SpecReviewer, core.SaidPass) && !s.before.Live() {
			s.after.State, s.err = core.RunDone, nil
			s.after.Revision++
		}
	})},
	{"complains of a worker that is lost late", "what is not taken changes nothing and is refused, but for a lost worker", ruining(func(s *runSight) {
		if isLoss(s.event) && !s.before.Live() {
			s.err = &core.Refusal{Kind: core.InvalidState}
		}
	})},
	{"decides nothing when a worker is lost", "exactly one decision for each event", ruining(func(s *runSight) {
		if isLoss(s.event) {
			s.effects = without(s.effects, func(e core.Effect) bool { _, ok := e.(core.Decide); return ok })
		}
	})},
	{"gives the count before", "the decision says by which rule, about whom and at which count", ruining(func(s *runSight) {
		if said(s.event, core.SpecReviewer, core.SaidGaps) && s.err == nil {
			d := s.effects[0].(core.Decide)
			d.Decision.Count--
			s.effects = append([]core.Effect{d}, s.effects[1:]...)
		}
	})},
	{"keeps a loss off the record", "the revision moves by one", ruining(func(s *runSight) {
		if isLoss(s.event) {
			s.after.Revision = s.before.Revision
		}
	})},
	{"is more lenient with each plan", "what a run was started with never changes", ruining(func(s *runSight) {
		if isReplan(s.event) && s.err == nil {
			s.after.Policy.ReviewRejections++
		}
	})},
	{"takes what nobody can read for progress", "an invalid result counts for its role and for nothing else", ruining(func(s *runSight) {
		if said(s.event, core.Worker, core.SaidInvalid) && s.err == nil {
			s.after.Counters.Stalled = 0
		}
	})},
	{"takes what nobody can read for a failure", "an invalid result counts for its role and for nothing else", ruining(func(s *runSight) {
		if said(s.event, core.Worker, core.SaidInvalid) && s.err == nil {
			s.after.Counters.WorkerFailures++
		}
	})},
	{"counts invalid results per step", "an invalid result counts for its role and for nothing else", ruining(func(s *runSight) {
		if said(s.event, core.SpecReviewer, core.SaidPass) {
			s.after.Counters.InvalidResults[core.SpecReviewer-1] = 0
		}
	})},
	{"does not count who was lost", "failures count the workers that failed or were lost", ruining(func(s *runSight) {
		if isLoss(s.event) {
			s.after.Counters.WorkerFailures = s.before.Counters.WorkerFailures
		}
	})},
	{"forgives with an approval", "rejections count the reviews that want changes", ruining(func(s *runSight) {
		if said(s.event, core.SpecReviewer, core.SaidPass) {
			s.after.Counters.ReviewRejections = 0
		}
	})},
	{"takes a rejection for a standstill", "stalled outcomes are counted until the work moves on", ruining(func(s *runSight) {
		if said(s.event, core.SpecReviewer, core.SaidGaps) && s.err == nil {
			s.after.Counters.Stalled++
		}
	})},
	{"counts down when the work moves on", "stalled outcomes are counted until the work moves on", ruining(func(s *runSight) {
		if said(s.event, core.Worker, core.SaidPass) && s.err == nil {
			s.after.Counters.Stalled = max(0, s.before.Counters.Stalled-1)
		}
	})},
	{"takes all findings for the same", "identical findings of one reviewer are counted in a row", ruining(func(s *runSight) {
		if said(s.event, core.SpecReviewer, core.SaidGaps) && s.err == nil {
			s.after.Counters.ReviewLoop = s.before.Counters.ReviewLoop + 1
		}
	})},
	{"forgets with the same plan", "each reviewer's findings are remembered until its approval or another plan", ruining(func(s *runSight) {
		if isReplan(s.event) {
			s.after.Findings = [2]core.Findings{}
		}
	})},
	{"forgets what the other reviewer found", "each reviewer's findings are remembered until its approval or another plan", ruining(func(s *runSight) {
		if said(s.event, core.CodeQualityReviewer, core.SaidPass) && s.err == nil {
			s.after.Findings = [2]core.Findings{}
		}
	})},
	{"counts what is said twice of the same work", "each reviewer's findings are remembered until its approval or another plan", before(func(run *core.Run, event core.RunEvent) core.RunEvent {
		if said(event, core.SpecReviewer, core.SaidGaps) {
			run.Standing[core.SpecReviewer-1] = core.Awaited
		}
		return event
	})},
	{"lets a straggler undo what was submitted", "what is not taken changes nothing and is refused, but for a lost worker", before(func(_ *core.Run, event core.RunEvent) core.RunEvent {
		if isLoss(event) {
			return core.TakeResult{At: matrixNow, Role: core.Worker, Said: core.SaidError}
		}
		return event
	})},
	{"asks for a second worker while the queue tries again", "each role stands as it last reported", before(func(_ *core.Run, event core.RunEvent) core.RunEvent {
		if isLoss(event) {
			return core.LoseWorker{At: matrixNow}
		}
		return event
	})},
	{"lets one reviewer approve for both", "each role stands as it last reported", before(func(_ *core.Run, event core.RunEvent) core.RunEvent {
		if e, ok := event.(core.TakeResult); ok && e.Generic {
			e.Role = 0
			return e
		}
		return event
	})},
	{"forgets what was approved", "the frontier is that of the last plan, or of the approved item", ruining(func(s *runSight) {
		if s.after.State == core.RunDone {
			s.after.Frontier = s.before.Frontier
		}
	})},
	{"has an item reviewed that is gone", "a run whose item is gone sends nobody", runMachine{
		step: core.Run.Step, next: func(run core.Run, plan core.Outlook) core.Next {
			plan.Gone = false
			return run.Next(plan)
		},
	}},
	{"asks again who has approved", "each role stands as it last reported", ruining(func(s *runSight) {
		if said(s.event, core.Worker, core.SaidPass) && s.err == nil {
			s.after.Standing[core.SpecReviewer-1] = core.Awaited
		}
	})},
	{"sends no fresh reviewer", "each role stands as it last reported", ruining(func(s *runSight) {
		for i, standing := range s.after.Standing {
			if standing == core.Replaced {
				s.after.Standing[i] = core.Unusable
			}
		}
	})},
	{"takes every reviewer for the only one", "one reviewer is enough if the first review came from one of whom no more was said", ruining(func(s *runSight) {
		e, _ := s.event.(core.TakeResult)
		s.after.Sole = s.after.Sole || e.Generic && s.err == nil
	})},
	{"does not know hosts with one reviewer", "one reviewer is enough if the first review came from one of whom no more was said", ruining(func(s *runSight) {
		s.after.Sole = s.before.Sole
	})},
	{"is done with the first approval", "a run is done exactly if every reviewer that has to has approved", ruining(func(s *runSight) {
		if said(s.event, core.SpecReviewer, core.SaidPass) && s.err == nil {
			s.after.State, s.after.Halt = core.RunDone, ""
		}
	})},
	{"hears of a halt and runs", "a run is blocked exactly if it has a halt", ruining(func(s *runSight) {
		if s.after.State == core.RunBlocked {
			s.after.State = core.RunRunning
		}
	})},
	{"fails what is rejected too often", "no report fails a run", ruining(func(s *runSight) {
		if s.after.Halt == core.HaltRejections {
			s.after.State, s.after.Halt = core.RunFailed, ""
		}
	})},
	{"goes on when the work comes after all", "what lasts is ended by another plan or by approval alone", ruining(func(s *runSight) {
		if said(s.event, core.Worker, core.SaidPass) && s.before.Halt == core.HaltFailures {
			s.after.State, s.after.Halt = core.RunRunning, ""
		}
	})},
	{"goes on with the same plan", "what lasts is ended by another plan or by approval alone", ruining(func(s *runSight) {
		if isReplan(s.event) && s.err == nil {
			s.after.State, s.after.Halt = core.RunRunning, ""
		}
	})},
	{"stays blocked after the third rejection", "another plan ends every halt", ruining(func(s *runSight) {
		if isReplan(s.event) && s.before.Halt == core.HaltRejections {
			s.after.State, s.after.Halt = core.RunBlocked, core.HaltRejections
		}
	})},
	{"allows one rejection more", "a run halts for long at the number of its policy", underPolicy(func(p *core.Policy) { p.ReviewRejections++ })},
	{"allows one failure less", "a run halts for long at the number of its policy", underPolicy(func(p *core.Policy) { p.WorkerFailures = 0 })},
	{"allows one invalid result more", "a run halts for long at the number of its policy", underPolicy(func(p *core.Policy) { p.InvalidRetries++ })},
	{"asks a reviewer who gave up again", "a run halts for long at the number of its policy", ruining(func(s *runSight) {
		if s.after.Halt == core.HaltGaveUp {
			s.after.State, s.after.Halt = core.RunRunning, ""
		}
	})},
	{"fires above the threshold", "a stall or a loop blocks while it is flagged, and no longer", underPolicy(func(p *core.Policy) { p.StalledThreshold++ })},
	{"lets a stall that ended cover a loop", "a stall or a loop blocks while it is flagged, and no longer", ruining(func(s *runSight) {
		if s.before.Halt == core.HaltStalled && s.after.Halt == core.HaltReviewLoop {
			s.after.State, s.after.Halt = core.RunRunning, ""
		}
	})},
	{"stays in a loop that other findings ended", "a stall or a loop blocks while it is flagged, and no longer", ruining(func(s *runSight) {
		if s.before.Halt == core.HaltReviewLoop && said(s.event, core.SpecReviewer, core.SaidGaps) && s.after.Halt == "" {
			s.after.State, s.after.Halt = core.RunBlocked, core.HaltReviewLoop
		}
	})},
	{"does not see what takes turns", "a stall or a loop blocks while it is flagged, and no longer", ruining(func(s *runSight) {
		if s.after.Halt == core.HaltAlternation {
			s.after.State, s.after.Halt = core.RunRunning, ""
		}
	})},
	{"blocks without a word", "each block leaves its notice", ruining(func(s *runSight) {
		s.effects = without(s.effects, posted(core.NoticeRunBlocked))
	})},
	{"writes the log twice", "nothing follows but a decision and a notice", ruining(func(s *runSight) {
		if s.err == nil {
			s.effects = append(slices.Clone(s.effects), core.Record{Type: core.RunOutcome})
		}
	})},
	{"counts outcomes for plans", "the version of the plan counts plans", ruining(func(s *runSight) {
		if said(s.event, core.Worker, core.SaidPass) && s.err == nil {
			s.after.PlanVersion++
		}
	})},
	{"does not know what to do with a blocked run", "what is next can always be told", misguiding(func(run core.Run, next core.Next) core.Next {
		if run.State == core.RunBlocked {
			panic("blocked")
		}
		return next
	})},
	{"names a role when nobody is to be sent", "next names a role exactly if one is to be sent", misguiding(func(run core.Run, next core.Next) core.Next {
		if next.Role == 0 {
			next.Role = core.Worker
		}
		return next
	})},
	{"has a worker review", "next names a role exactly if one is to be sent", misguiding(func(_ core.Run, next core.Next) core.Next {
		if next.Action == core.DispatchReviewer {
			next.Role = core.Worker
		}
		return next
	})},
	{"sends a worker into a stall", "who runs sends somebody, and nobody else does", misguiding(func(run core.Run, next core.Next) core.Next {
		if run.Halt == core.HaltStalled {
			return core.Next{Action: core.RetryWorker, Role: core.Worker}
		}
		return next
	})},
	{"sends the spec reviewer for ever", "who is sent has something to do", misguiding(func(_ core.Run, next core.Next) core.Next {
		if next.Action == core.DispatchReviewer {
			next.Role = core.SpecReviewer
		}
		return next
	})},
	{"has unfinished work reviewed", "a worker's turn comes before a review, and the spec before the quality", runMachine{
		step: core.Run.Step, next: func(run core.Run, plan core.Outlook) core.Next {
			run.Standing[core.Worker-1] = core.Submitted
			return run.Next(plan)
		},
	}},
	{"has the quality reviewed first", "a worker's turn comes before a review, and the spec before the quality", misguiding(func(run core.Run, next core.Next) core.Next {
		if next.Action == core.DispatchReviewer && run.Standing[core.CodeQualityReviewer-1] == core.Awaited {
			next.Role = core.CodeQualityReviewer
		}
		return next
	})},
}

func TestEveryRunSaboteurIsCaughtByItsLaw(t *testing.T) {
	starts := runSituations(t)
	for _, s := range runSaboteurs {
		t.Run(s.name, func(t *testing.T) {
			var broken []string
			for _, start := range starts {
				for _, b := range runHunt(s.machine, start.witness, 1) {
					broken = append(broken, b.law)
				}
			}
			require.Contains(t, broken, s.law)
		})
	}
}

func TestEveryRunLawHasItsSaboteur(t *testing.T) {
	var proved, all []string
	for _, s := range runSaboteurs {
		proved = append(proved, s.law)
	}
	for _, law := range runLaws {
		all = append(all, law.name)
	}
	slices.Sort(proved)
	require.ElementsMatch(t, all, slices.Compact(proved))
}

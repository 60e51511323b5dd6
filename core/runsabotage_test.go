package core_test

import "waybill/core"

// A runSaboteur is a copy of what moves runs with one defect, and the law that must catch it.
type runSaboteur struct {
	name    string
	law     string
	machine runMachine
}

// ruining gives Step with its outcome spoiled.
func ruining(spoil func(s *runSight)) runMachine {
	return runMachine{next: core.Run.Next, step: func(run core.Run, event core.RunEvent) (core.Run, []core.Effect, error) {
		s := runSight{event: event, before: run}
		s.after, s.effects, s.err = run.Step(event)
		spoil(&s)
		return s.after, s.effects, s.err
	}}
}

// before gives Step with what it is given spoiled.
func before(spoil func(run *core.Run, event core.RunEvent) core.RunEvent) runMachine {
	return runMachine{next: core.Run.Next, step: func(run core.Run, event core.RunEvent) (core.Run, []core.Effect, error) {
		event = spoil(&run, event)
		return run.Step(event)
	}}
}

// underPolicy gives Step as it would be under another policy.
func underPolicy(change func(p *core.Policy)) runMachine {
	return runMachine{next: core.Run.Next, step: func(run core.Run, event core.RunEvent) (core.Run, []core.Effect, error) {
		policy := run.Policy
		change(&run.Policy)
		next, effects, err := run.Step(event)
		next.Policy = policy
		return next, effects, err
	}}
}

// misguiding gives Next with what it says spoiled.
func misguiding(spoil func(run core.Run, next core.Next) core.Next) runMachine {
	return runMachine{step: core.Run.Step, next: func(run core.Run, plan core.Outlook) core.Next {
		return spoil(run, run.Next(plan))
	}}
}

// said reports whether the event is a report that says so.
func said(event core.RunEvent, role core.Role, what core.Said) bool {
	e, ok := event.(core.TakeResult)
	return ok && e.Role == role && e.Said == what
}

func isReplan(event core.RunEvent) bool {
	_, ok := event.(core.Replan)
	return ok
}

func isLoss(event core.RunEvent) bool {
	_, ok := event.(core.LoseWorker)
	return ok
}

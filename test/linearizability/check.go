package linearizability

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Bound limits the time of the search for one instruction or task. If it runs out, Check reports that the order is
// unknown.
const Bound = time.Minute

// Check returns all violations in the history, or nil.
func Check(h History) error {
	return errors.Join(h.counts(), h.readers(), h.orders())
}

// enough limits the reported violations.
const enough = 3

// orders searches an order of the calls for each instruction and each task.
func (h History) orders() error {
	var all []error
	names := h.names()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if len(all) == enough {
			break
		}
		var model porcupine.Model
		if n := names[name]; n.task {
			model = modelOf(taskState{}, func(j taskState, c Call) []taskState { return j.after(name, c) })
		} else {
			model = modelOf(instructionState{}, func(l instructionState, c Call) []instructionState { return l.after(name, c) })
		}
		about := h.about(name, names[name])
		if result := porcupine.CheckOperationsTimeout(model, operations(about), Bound); result != porcupine.Ok {
			all = append(all, fmt.Errorf("%s: no order explains the answers (%s):%s", name, result, listed(name, about)))
		}
	}
	return errors.Join(all...)
}

// modelOf returns a model from a function that returns the possible states after a call.
func modelOf[T comparable](zero T, after func(T, Call) []T) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Init: func() []any { return []any{zero} },
		Step: func(state, input, _ any) []any {
			var next []any
			for _, s := range after(state.(T), input.(Call)) {
				next = append(next, s)
			}
			return next
		},
	}
	return model.ToModel()
}

func operations(calls []Call) []porcupine.Operation {
	all := make([]porcupine.Operation, 0, len(calls))
	for _, c := range calls {
		all = append(all, porcupine.Operation{ClientId: c.Client, Input: c, Call: c.Began, Return: c.Ended})
	}
	return all
}

// A named thing is an instruction of a session, or a task.
type named struct {
	task    bool
	session string
}

// names returns all instructions and tasks that a client may have created.
func (h History) names() map[string]named {
	all := map[string]named{}
	for _, c := range h.Calls {
		switch act := c.Act.(type) {
		case Queue:
			all[act.Name] = named{session: act.Session}
		case Create:
			all[act.Name] = named{task: true}
		case Pass, Ack, Look, Claim, Finish, LookTask:
		}
	}
	return all
}

// about returns the calls about the thing.
func (h History) about(name string, n named) []Call {
	return slices.DeleteFunc(slices.Clone(h.Calls), func(c Call) bool {
		switch act := c.Act.(type) {
		case Queue:
			return act.Name != name
		case Pass:
			return n.task || act.Session != n.session
		case Ack:
			return act.Name != name
		case Look:
			return act.Name != name
		case Create:
			return act.Name != name
		case Claim:
			return !n.task || act.Name != "" && act.Name != name
		case Finish:
			return act.Name != name
		case LookTask:
			return act.Name != name
		}
		return true
	})
}

// listed describes the calls by their start, and passes by their effect on the thing.
func listed(name string, calls []Call) string {
	slices.SortFunc(calls, func(a, b Call) int { return cmp.Compare(a.Began, b.Began) })
	text := ""
	for _, c := range calls {
		if act, ok := c.Act.(Pass); ok {
			act.Sent, act.Failed = maps.Clone(act.Sent), maps.Clone(act.Failed)
			maps.DeleteFunc(act.Sent, func(other string, _ int) bool { return other != name })
			maps.DeleteFunc(act.Failed, func(other string, _ bool) bool { return other != name })
			c.Act = act
		}
		text += fmt.Sprintf("\n  client %d, %d to %d, lost %v: %T%+v", c.Client, c.Began, c.Ended, c.Lost, c.Act, c.Act)
	}
	return text
}

package linear

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Bound is how long the orders of one instruction or task are searched. Who has found none by then knows nothing, and
// Check says so.
const Bound = time.Minute

// Check gives everything that is wrong with the history, or nil.
func Check(h History) error {
	return errors.Join(h.counts(), h.readers(), h.orders())
}

// enough is how many things without an order are told; more would only hide them.
const enough = 3

// orders looks for an order of the calls about each instruction and each task.
func (h History) orders() error {
	var all []error
	names := h.names()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if len(all) == enough {
			break
		}
		var model porcupine.Model
		if n := names[name]; n.task {
			model = modelOf(job{}, func(j job, c Call) []job { return j.after(name, c) })
		} else {
			model = modelOf(letter{}, func(l letter, c Call) []letter { return l.after(name, c) })
		}
		about := h.about(name, names[name])
		if result := porcupine.CheckOperationsTimeout(model, operations(about), Bound); result != porcupine.Ok {
			all = append(all, fmt.Errorf("%s: no order explains the answers (%s):%s", name, result, listed(name, about)))
		}
	}
	return errors.Join(all...)
}

// modelOf makes a model of what a thing may be after a call.
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

// names gives all instructions and tasks that somebody has made or may have made.
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

// about gives the calls that say something about the thing.
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

// listed gives the calls by their beginnings, and of passes only what they did to the thing.
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

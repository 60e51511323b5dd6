package linear_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/linear"
)

// at gives a call of a client at that moment.
func at(client int, began, ended int64, act linear.Act) linear.Call {
	return linear.Call{Client: client, Began: began, Ended: ended, Act: act}
}

func pass(session string, sent map[string]int, failed ...string) linear.Pass {
	p := linear.Pass{Session: session, Sent: sent, Failed: map[string]bool{}, Whole: true}
	for _, name := range failed {
		p.Failed[name] = true
	}
	return p
}

// honest gives a history that is right. Some calls run beside each other, and one has no answer.
func honest() linear.History {
	lost := at(2, 40, 49, linear.Ack{Name: "b"})
	lost.Lost = true
	calls := []linear.Call{
		at(0, 0, 9, linear.Queue{Name: "a", Session: "s", SendsMax: 2}),
		at(1, 5, 15, linear.Queue{Name: "b", Session: "s", SendsMax: 2}),
		at(2, 7, 8, pass("s", map[string]int{"a": 1})), // a is queued before it is answered
		at(2, 20, 29, pass("s", map[string]int{"a": 2, "b": 1})),
		at(0, 30, 39, linear.Ack{Name: "a", State: "acknowledged"}),
		lost,
		at(1, 50, 59, pass("s", map[string]int{"b": 2})),
		at(0, 60, 69, pass("s", map[string]int{}, "b")),
		at(0, 70, 71, pass("s", map[string]int{})),
		at(1, 72, 73, linear.Ack{Name: "b", State: "failed"}),
		at(0, 74, 75, linear.Ack{Name: "b", State: "failed", Already: true}),
		at(0, 100, 101, linear.Look{Name: "a", State: "acknowledged", Sends: 2}),
		at(0, 102, 103, linear.Look{Name: "b", State: "failed", Sends: 2}),

		at(0, 0, 1, linear.Claim{}),
		at(0, 2, 9, linear.Create{Name: "t", Tries: 2}),
		at(1, 3, 8, linear.Claim{Name: "t", Attempt: 1, Token: "one"}),
		at(2, 4, 9, linear.Claim{}),
		at(1, 10, 19, linear.Finish{Name: "t", Token: "one", Applied: true, Status: "QUEUED"}),
		at(2, 20, 29, linear.Claim{Name: "t", Attempt: 2, Token: "two"}),
		at(1, 25, 35, linear.Finish{Name: "t", Token: "one", Completed: true}),
		at(2, 40, 49, linear.Finish{Name: "t", Token: "two", Completed: true, Applied: true, Status: "COMPLETE"}),
		at(0, 104, 105, linear.LookTask{Name: "t", Status: "COMPLETE", Attempt: 2}),
	}
	read := []linear.Event{{Seq: 1, Text: "x"}, {Seq: 2, Text: "y"}, {Seq: 3, Text: "z"}}
	return linear.History{Calls: calls, Readers: [][]linear.Event{read, slices.Clone(read)}}
}

func TestAnHonestHistoryPasses(t *testing.T) {
	require.NoError(t, linear.Check(honest()))
	require.NoError(t, linear.Check(linear.History{}))
}

// change replaces the one call that is like the first act by one with the second.
func change(from, to linear.Act) func(h *linear.History) {
	return func(h *linear.History) {
		for i, c := range h.Calls {
			if fmt.Sprint(c.Act) == fmt.Sprint(from) {
				h.Calls[i].Act = to
				return
			}
		}
		panic(fmt.Sprintf("the history has no %+v", from))
	}
}

func add(c linear.Call) func(h *linear.History) {
	return func(h *linear.History) { h.Calls = append(h.Calls, c) }
}

// A saboteur lies about the honest history, and is refused with what Check says.
type saboteur struct {
	lie  func(h *linear.History)
	says string
}

func saboteurs() map[string]saboteur {
	return map[string]saboteur{
		"an acknowledgement is lost": {
			change(linear.Look{Name: "a", State: "acknowledged", Sends: 2}, linear.Look{Name: "a", State: "sent", Sends: 2}),
			"an acknowledgement is lost",
		},
		"an acknowledged instruction is sent": {
			add(at(1, 80, 89, pass("s", map[string]int{"a": 3}))), "a: send 3 is one too many",
		},
		"an instruction is sent twice as the same send": {
			add(at(1, 21, 28, pass("s", map[string]int{"a": 2, "b": 1}))), "a: send 2 was made 2 times",
		},
		"a send is left out": {
			change(pass("s", map[string]int{"a": 2, "b": 1}), pass("s", map[string]int{"b": 1})), "a: no order",
		},
		"a queued instruction is lost": {
			change(linear.Look{Name: "b", State: "failed", Sends: 2}, linear.Look{Name: "b"}), "b: no order",
		},
		"an instruction fails before its last send": {
			change(pass("s", map[string]int{"b": 2}), pass("s", map[string]int{}, "b")), "b: no order",
		},
		"an answer comes from the future": {
			change(pass("s", map[string]int{"a": 1}), pass("s", map[string]int{"a": 2})), "a: no order",
		},
		"an instruction acknowledges itself": {
			change(linear.Ack{Name: "a", State: "acknowledged"}, linear.Ack{Name: "a", State: "acknowledged", Already: true}), "a: no order",
		},
		"a late acknowledgement brings back what has failed": {
			change(linear.Ack{Name: "b", State: "failed"}, linear.Ack{Name: "b", State: "acknowledged"}), "b: an acknowledgement is lost",
		},
		"a lost acknowledgement took effect and did not": {
			add(at(0, 51, 52, linear.Ack{Name: "b", State: "acknowledged", Already: true})), "b: no order",
		},
		"a task is claimed twice": {
			add(at(0, 21, 28, linear.Claim{Name: "t", Attempt: 2, Token: "three"})), "t: attempt 2 was claimed 2 times",
		},
		"a task has two live attempts": {
			add(at(0, 11, 12, linear.Claim{Name: "t", Attempt: 3, Token: "three"})), "t: no order",
		},
		"a stale report is applied": {
			change(linear.Finish{Name: "t", Token: "one", Completed: true},
				linear.Finish{Name: "t", Token: "one", Completed: true, Applied: true, Status: "COMPLETE"}), "t was completed by two attempts",
		},
		"a ready task is not seen": {
			func(h *linear.History) {
				h.Calls = append(h.Calls, at(0, 106, 107, linear.Create{Name: "u", Tries: 1}), at(0, 108, 109, linear.Claim{}))
			},
			"u: no order",
		},
		"a created task is lost": {
			change(linear.Claim{Name: "t", Attempt: 2, Token: "two"}, linear.Claim{}), "t: no order",
		},
		"a report changes nothing": {
			change(linear.LookTask{Name: "t", Status: "COMPLETE", Attempt: 2}, linear.LookTask{Name: "t", Status: "RUNNING", Attempt: 2}), "t: no order",
		},
		"a number of the log is skipped":       {func(h *linear.History) { h.Readers[1] = slices.Delete(h.Readers[1], 1, 2) }, "event 3 came where 2 was due"},
		"a number of the log comes twice":      {func(h *linear.History) { h.Readers[0][2].Seq = 2 }, "event 2 came where 3 was due"},
		"two readers have read something else": {func(h *linear.History) { h.Readers[1][1].Text = "other" }, "event 2 is another one"},
		"a reader has not read the end":        {func(h *linear.History) { h.Readers[1] = h.Readers[1][:2] }, "2 events of 3"},
		"a reader has read more than there is": {func(h *linear.History) {
			h.Readers[1] = append(h.Readers[1], linear.Event{Seq: 4, Text: "ghost"})
		}, "event 4 is another one"},
	}
}

// TestLiesAreRefused: a checker that believes everything is none.
func TestLiesAreRefused(t *testing.T) {
	all := saboteurs()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			h := honest()
			all[name].lie(&h)
			err := linear.Check(h)
			require.ErrorContains(t, err, all[name].says)
		})
	}
}

// TestTheModelsNeedNoCounts: each lie about calls is refused by the search for an order, too.
func TestTheModelsNeedNoCounts(t *testing.T) {
	for name, s := range saboteurs() {
		h := honest()
		s.lie(&h)
		if reflect.DeepEqual(h.Calls, honest().Calls) {
			continue // it is one about readers
		}
		h.Readers = nil
		require.ErrorContains(t, linear.Check(h), "no order explains the answers", name)
	}
}

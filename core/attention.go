package core

import (
	"fmt"
	"strings"
)

// Attention decides for every surface whether all is well. get_status, `waybill status`, `waybill doctor` and the
// page show its answer and have no rules of their own.

// A ConcernKind names the subject of a Concern.
type ConcernKind string

// The kinds of concerns, in the order in which Attention returns them.
const (
	ConcernFault        ConcernKind = "fault"               // a fault of the store, the process or a plan
	ConcernQuestions    ConcernKind = "questions"           // tasks wait for a person's answer
	ConcernRuns         ConcernKind = "blocked_runs"        // runs wait for a person's decision
	ConcernTasks        ConcernKind = "failed_tasks"        // tasks failed and the notice is open
	ConcernInstructions ConcernKind = "failed_instructions" // instructions failed and the notice is open
)

// A Concern is one thing that needs attention.
type Concern struct {
	Kind  ConcernKind
	Text  string   // one sentence for a person
	Count int      // number of things
	IDs   []string // the first of the things; none for a fault
	// Next is a waybill command, without the program's name, that shows or helps the first thing; nil for a fault.
	Next []string
}

// Workload counts the things in a store that may need attention.
type Workload struct {
	Questions, BlockedRuns, FailedTasks, FailedInstructions Group
	Plans                                                   []string // the plans of running runs, which must be readable
}

// A Group is a number of things of one kind.
type Group struct {
	Count int
	IDs   []string // the first ids, at most MostNamed
}

// MostNamed limits the ids in one sentence or list.
const MostNamed = 5

// Add counts a thing and keeps its id while there is room.
func (g *Group) Add(id string) {
	g.Count++
	if len(g.IDs) < MostNamed {
		g.IDs = append(g.IDs, id)
	}
}

// Attention returns the concerns; all is well exactly when it returns nothing. Each fault is a
// sentence about the store, the process or a plan.
func Attention(w Workload, faults []string) []Concern {
	var found []Concern
	for _, fault := range faults {
		found = append(found, Concern{Kind: ConcernFault, Text: fault, Count: 1, IDs: []string{}})
	}
	for _, row := range []struct {
		kind      ConcernKind
		group     Group
		one, many string
		next      func(id string) []string
	}{
		{
			ConcernQuestions, w.Questions, "1 task waits for an answer", "%d tasks wait for an answer",
			func(id string) []string { return []string{"task", "reply", id, "-m", "…"} },
		},
		{ConcernRuns, w.BlockedRuns, "1 run is blocked", "%d runs are blocked", explaining},
		{ConcernTasks, w.FailedTasks, "1 task failed", "%d tasks failed", explaining},
		{ConcernInstructions, w.FailedInstructions, "1 instruction was never acknowledged", "%d instructions were never acknowledged", explaining},
	} {
		if row.group.Count == 0 {
			continue
		}
		text := row.one
		if row.group.Count > 1 {
			text = fmt.Sprintf(row.many, row.group.Count)
		}
		c := Concern{Kind: row.kind, Text: text, Count: row.group.Count, IDs: append([]string{}, row.group.IDs...)}
		if len(c.IDs) > 0 {
			c.Text += ": " + Named(c.IDs, c.Count)
			c.Next = row.next(c.IDs[0])
		}
		found = append(found, c)
	}
	return found
}

func explaining(id string) []string { return []string{"explain", id} }

// Named lists the first ids for a person, and the number of the others. It names at most MostNamed ids.
func Named(ids []string, total int) string {
	ids = ids[:min(len(ids), MostNamed)]
	text := strings.Join(ids, ", ")
	if more := total - len(ids); more > 0 && len(ids) > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

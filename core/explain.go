package core

import (
	"fmt"
	"slices"
	"time"
)

// An Occurrence is one record of the event log about an object, with the parts that an explanation needs.
type Occurrence struct {
	Seq  int64
	At   Instant
	Type EventType
	Rule string // of a decision about a run, otherwise ""
	Role Role   // the role that the decision is about, or 0
}

// An Explanation says why an object is in its state, and which step follows.
type Explanation struct {
	Subject string   // id of the object
	State   string   // its state
	Because []Reason // the reason for the state first; never empty
	Next    []Action // calls that can still change something; empty but not nil if there are none
}

// A Reason is one rule that contributes to the present state.
type Reason struct {
	Rule     string   // stable name
	Text     string   // one sentence for a person, with the counter and its limit
	EventSeq int64    // the event that made the rule apply, or zero if it is not in the history
	IDs      []string // the things that Text names, at most MostNamed
}

// An Action is a method that would change the state of a thing, and its effect.
type Action struct {
	Subject string   // the thing that the method changes: the explained one or one that it waits for
	Name    string   // the method
	Text    string   // one sentence for a person
	By      []Actor  // the callers of the method, the usual one first; never empty
	Command []string // a waybill command, without the program's name, that does the same; nil if there is none
}

// An Actor can change the state of a thing: a person, a host, a worker or time.
type Actor string

// The actors.
const (
	ActorHost    Actor = "host"    // the program that drives the agents
	ActorPerson  Actor = "person"  // a person at a terminal or at the page
	ActorWaybill Actor = "waybill" // waybill work, which claims tasks and runs a command for each
	ActorAgent   Actor = "agent"   // the agent itself
)

// actors returns the callers of a method that an explanation names, or nil.
func actors(method string) []Actor {
	switch method {
	case "acknowledge":
		return []Actor{ActorAgent, ActorHost}
	case "bind_session", "create_task", "dispatch_instructions", "queue_instruction_with_ack", "replan", "report_event":
		return []Actor{ActorHost}
	case "cancel_instruction", "cancel_task", "explain", "get_plan", "reply", "retry_task", "set_item_status", "unblock_run":
		return []Actor{ActorPerson, ActorHost}
	case "claim_task", "compile_prompt", "finish_attempt", "heartbeat", "ingest_output", "init_run", "resume_run":
		return []Actor{ActorHost, ActorWaybill}
	case "edit_plan", "trust_checks": // no methods: only a person edits the plan file, or trusts checks at a terminal
		return []Actor{ActorPerson}
	case "ready_items":
		return []Actor{ActorHost, ActorPerson}
	case "report_check":
		return []Actor{ActorWaybill, ActorHost}
	}
	return nil
}

// Act returns the action of a method on a subject. command has the words of an equal command, if there is one.
func Act(subject, method, text string, command ...string) Action {
	by := actors(method)
	if by == nil {
		panic("core: nobody is said to call " + method)
	}
	return Action{Subject: subject, Name: method, Text: text, By: by, Command: command}
}

// WorkOn returns the command that works on a plan. COMMAND stands for the command of an agent.
func WorkOn(plan string) []string { return []string{"work", "--plan", plan, "--", "COMMAND"} }

// A History holds the events of one thing, in the order of the log.
type History []Occurrence

// Last returns the latest occurrence of one of the types, or the zero Occurrence.
func (h History) Last(types ...EventType) Occurrence {
	for _, o := range slices.Backward(h) {
		if slices.Contains(types, o.Type) {
			return o
		}
	}
	return Occurrence{}
}

// Count returns the number of occurrences of the type.
func (h History) Count(t EventType) int {
	n := 0
	for _, o := range h {
		if o.Type == t {
			n++
		}
	}
	return n
}

// A ReasonRule is one possible reason for the state of a thing.
type ReasonRule[T any] struct {
	Name   string                          // stable, shown on the wire
	Text   func(thing T, h History) string // one sentence for a person, or "" if the rule does not contribute
	Events []EventType                     // the types of the events that make the rule apply
	IDs    func(thing T) []string          // the things that the text names; nil if there are none
}

// Because returns a reason for each rule that has a text.
func Because[T any](thing T, h History, rules []ReasonRule[T]) []Reason {
	reasons := []Reason{}
	for _, r := range rules {
		text := r.Text(thing, h)
		if text == "" {
			continue
		}
		reason := Reason{Rule: r.Name, Text: text, EventSeq: h.Last(r.Events...).Seq}
		if r.IDs != nil {
			reason.IDs = r.IDs(thing)
		}
		reasons = append(reasons, reason)
	}
	return reasons
}

// RFC3339 returns the instant in UTC for a person.
func (at Instant) RFC3339() string { return time.UnixMicro(int64(at)).UTC().Format(time.RFC3339Nano) }

// Counted returns a number with its noun: "1 task", "2 tasks".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

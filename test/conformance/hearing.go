package conformance

import (
	"fmt"
	"strings"
)

// A Hearing is the set of messages that a client expects at one point of a conversation. Answers may come in any
// order. Unexpected notifications are skipped.
type Hearing struct {
	c       *Conversation
	bound   Bindings
	awaited []*awaited
	skipped []string // skipped notifications, for the message of a failure
}

// awaited is one expected message.
type awaited struct {
	step    Step
	pattern any
	after   *awaited // the message that must come before, if any
	came    bool
	message any // the received message
}

// Listen returns the Hearing of steps with the verbs Expect and Then.
func (c *Conversation) Listen(steps []Step, b Bindings) (*Hearing, error) {
	h := &Hearing{c: c, bound: b}
	for _, s := range steps {
		pattern, err := Pattern(s.Text)
		if err != nil {
			return nil, c.At(s.Line, "%v", err)
		}
		a := &awaited{step: s, pattern: pattern}
		if s.Verb == Then && len(h.awaited) > 0 {
			a.after = h.awaited[len(h.awaited)-1]
		}
		h.awaited = append(h.awaited, a)
	}
	return h, nil
}

// Done reports whether every expected message has come.
func (h *Hearing) Done() bool { return h.next() == nil }

// next returns the first message that has not come.
func (h *Hearing) next() *awaited {
	for _, a := range h.awaited {
		if !a.came {
			return a
		}
	}
	return nil
}

// Missing lists the messages that have not come.
func (h *Hearing) Missing() error {
	a := h.next()
	if a == nil {
		return nil
	}
	text := "this did not come"
	if len(h.skipped) > 0 {
		text += "; what came instead:\n  " + strings.Join(h.skipped, "\n  ")
	}
	return h.c.At(a.step.Line, "%s", text)
}

// Hear takes a message, and returns an error if it is not expected.
func (h *Hearing) Hear(message []byte) error {
	v, err := decode(message)
	if err != nil {
		return h.c.At(h.line(), "heard %q: %v", message, err)
	}
	switch {
	case isNotification(v):
		return h.notification(v)
	case isAnswer(v) || isBatch(v):
		return h.answer(v)
	}
	return h.c.At(h.line(), "heard what is neither an answer nor a notification: %s", shown(v))
}

// line returns the line of the first open step.
func (h *Hearing) line() int {
	switch a := h.next(); {
	case a != nil:
		return a.step.Line
	case len(h.awaited) > 0:
		return h.awaited[len(h.awaited)-1].step.Line
	case len(h.c.Steps) > 0:
		return h.c.Steps[len(h.c.Steps)-1].Line
	}
	return 1
}

// notification returns the first open expectation of a notification.
func (h *Hearing) notification(v any) error {
	for _, a := range h.awaited {
		if !a.came && isNotification(a.pattern) && Match(a.pattern, v, h.bound) == nil {
			return h.arrive(a, v)
		}
	}
	h.skipped = append(h.skipped, shown(v))
	return nil
}

// answer returns the expectation for an answer, by its id. Answers without an id are distinguished by their content.
func (h *Hearing) answer(v any) error {
	var why error
	for _, a := range h.awaited {
		if a.came || !h.sameQuestion(a.pattern, v) {
			continue
		}
		err := h.same(a.pattern, v)
		if err == nil {
			return h.arrive(a, v)
		}
		if why == nil {
			why = h.c.At(a.step.Line, "%v\n  heard %s", err, shown(v))
		}
	}
	if why != nil {
		return why
	}
	return h.c.At(h.line(), "heard an answer that nothing expects here: %s", shown(v))
}

// arrive records a message.
func (h *Hearing) arrive(a *awaited, message any) error {
	a.came, a.message = true, message
	if a.after != nil && !a.after.came {
		return h.c.At(a.step.Line, "this came before what stands on line %d", a.after.step.Line)
	}
	return nil
}

// sameQuestion reports whether two answers are to the same request, or both to a batch.
func (h *Hearing) sameQuestion(pattern, v any) bool {
	if isBatch(pattern) || isBatch(v) {
		return isBatch(pattern) && isBatch(v)
	}
	return idOf(pattern) == idOf(v)
}

// same compares an answer with its expectation. The members of a batch may come in any order.
func (h *Hearing) same(pattern, v any) error {
	want, batch := pattern.([]any)
	if !batch {
		return Match(pattern, v, h.bound)
	}
	return Match(want, sorted(want, v.([]any)), h.bound)
}

// sorted returns the members of a batch in the order of the expectation.
func sorted(want, got []any) []any {
	rest := append([]any(nil), got...)
	ordered := make([]any, 0, len(rest))
	for _, w := range want {
		for i, g := range rest {
			if idOf(w) == idOf(g) {
				ordered = append(ordered, g)
				rest = append(rest[:i:i], rest[i+1:]...)
				break
			}
		}
	}
	return append(ordered, rest...)
}

func isBatch(v any) bool {
	_, ok := v.([]any)
	return ok
}

func isNotification(v any) bool {
	object, _ := v.(map[string]any)
	_, hasID := object["id"]
	method, _ := object["method"].(string)
	return method != "" && !hasID
}

func isAnswer(v any) bool {
	object, _ := v.(map[string]any)
	_, hasID := object["id"]
	_, hasMethod := object["method"]
	return hasID && !hasMethod
}

// idOf returns the id of a message, as JSON; a text and a number are different ids.
func idOf(v any) string {
	object, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%T %v", object["id"], object["id"])
}

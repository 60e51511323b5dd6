package task

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"waybill/core"
	"waybill/internal/safetext"
)

// The timeline of a task with many attempts has TimelineHead lines for the first attempts, one for the number left
// out, and the rest for the last ones.
const (
	TimelineLines = 14
	TimelineHead  = 3
)

// Timeline returns one line for each attempt: number, status, model, session, error, and the number of models that
// were skipped before it. Its texts are safe inside a line. more counts the attempts between head and tail.
func Timeline(head []Attempt, more int, tail []Attempt) string {
	var b strings.Builder
	lines(&b, head)
	if more > 0 {
		fmt.Fprintf(&b, "… %s more\n", thousands(more))
	}
	lines(&b, tail)
	return strings.TrimSuffix(b.String(), "\n")
}

// lines writes the lines of consecutive attempts.
func lines(b *strings.Builder, attempts []Attempt) {
	for i, a := range attempts {
		b.WriteString(a.line())
		if i > 0 {
			b.WriteString(inBrackets(a.PassedBy(attempts[i-1])))
		}
		b.WriteString("\n")
	}
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// PassedBy returns which models of the chain were skipped between the attempts, or "". Only a failure of the account
// skips models.
func (a Attempt) PassedBy(before Attempt) string {
	skipped := a.Link - before.Link - 1
	if a.Cause != CauseRetry || skipped < 1 || !before.Failure().ofAccount() {
		return ""
	}
	return fmt.Sprintf("%s of the same provider passed by, which share its account", core.Counted(skipped, "model"))
}

func (a Attempt) line() string {
	session := cmp.Or(safetext.OneLine(a.Session(), lineRunes), "unknown")
	line := fmt.Sprintf("Attempt %d — %s — %s — %s", a.Number, strings.ToUpper(string(a.Status())),
		a.Model.line(), session)
	if why := safetext.OneLine(a.Failure().Message, errorRunes); why != "" {
		line += " — " + why
	}
	return line
}

// line returns the model's name, safe inside a line.
func (m Model) line() string {
	return cmp.Or(safetext.OneLine(m.String(), lineRunes), Model{}.String())
}

const (
	lineRunes  = 128
	errorRunes = 240
)

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// span returns a duration in microseconds for a person: 1h 2m 3s, 2m 3s, 3s, or 250ms. A negative duration, after a
// clock was set back, is 0s.
func span(micros int64) string {
	seconds := max(micros, 0) / 1_000_000
	h, m, s := seconds/3600, seconds/60%60, seconds%60
	switch {
	case h > 0:
		return fmt.Sprintf("%dh %dm %ds", h, m, s)
	case m > 0:
		return fmt.Sprintf("%dm %ds", m, s)
	case s == 0 && micros > 0:
		return fmt.Sprintf("%dms", micros/1000)
	}
	return fmt.Sprintf("%ds", s)
}

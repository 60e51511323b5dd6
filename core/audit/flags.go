package audit

import (
	"fmt"
	"slices"
	"strings"

	"waybill/core"
)

// A Flag is a sign that a person should look at a result or a run.
type Flag struct {
	Kind FlagKind
	// Role, Task and Attempt are those of the result. A flag about the run has only the failed task, if any.
	Role, Task, Attempt string
	Text                string
	Events              []int64 // the evidence in the event log, in ascending order
}

// A FlagKind names the rule behind a flag.
type FlagKind string

// The kinds of flags.
const (
	NoRange         FlagKind = "no_range"         // a worker's pass names no commits or an empty range, or no file has changed
	FalseRange      FlagKind = "false_range"      // the range is not what the result says
	FilesNotChanged FlagKind = "files_not_there"  // files that the result names did not change
	NotTested       FlagKind = "not_tested"       // the result says that tests ran, and no reported tool call ran them
	NoTools         FlagKind = "no_tools"         // there is no tool call, although the host reports them
	TooFast         FlagKind = "instant"          // the attempt ended within a second
	RepeatedFailure FlagKind = "repeated_failure" // the same step failed the same way again
)

// second is the shortest time in which an agent can have worked.
const second core.Instant = 1_000_000

// Flags returns the flags of a work: those of its passes in order, and then those of the run.
func Flags(w Work) []Flag {
	var flags []Flag
	for _, p := range w.Passes {
		flag := func(kind FlagKind, events []int64, format string, args ...any) {
			events = append([]int64{p.Seq}, events...)
			slices.Sort(events)
			flags = append(flags, Flag{kind, p.Role, p.Task, p.Attempt, fmt.Sprintf(format, args...), events})
		}
		var receipt []int64
		if p.Receipt != 0 {
			receipt = []int64{p.Receipt}
		}
		// Without a receipt of the facts, only the range shows it.
		if p.Looked && p.Receipt == 0 && !p.Said.NamesCommits() {
			flag(NoRange, nil, "it names no commits, so git cannot show what it changed")
		}
		for _, f := range p.False {
			flag(f.kind(), receipt, "%s: %s", f.Fact, f.Text)
		}
		p.flagTests(flag)
		if p.took >= 0 && p.took < second {
			flag(TooFast, nil, "its attempt took %d ms", p.took/1000)
		}
	}
	return append(flags, w.repeated()...)
}

// NamesCommits reports whether a result names commits: HEAD..HEAD says that there are none.
func (s Said) NamesCommits() bool {
	base, head := ends(s.GitRange)
	return base != head
}

func (f FalseFact) kind() FlagKind {
	switch f.Fact {
	case FactRange:
		return FalseRange
	case FactFiles:
		return FilesNotChanged
	case FactChange:
		return NoRange
	}
	panic("audit: unknown fact " + string(f.Fact))
}

// flagTests compares what a pass says about tests with the tool calls of its session.
func (p Pass) flagTests(flag func(kind FlagKind, events []int64, format string, args ...any)) {
	switch {
	case !p.hears:
		return // a missing event shows nothing
	case len(p.tools) == 0:
		flag(NoTools, nil, "it says pass, and its host reported no tool call, although it reports those of other attempts")
		return
	}
	ran := func(test func(tool) bool) bool { return slices.ContainsFunc(p.tools, test) }
	events := make([]int64, 0, len(p.tools))
	for _, t := range p.tools {
		events = append(events, t.seq)
	}
	for _, command := range p.Said.Tests {
		if !ran(func(t tool) bool { return t.runs(command) }) {
			flag(NotTested, events, "it names %s as a test, and no tool call that its host reported ran it", quoted(command))
		}
	}
	if p.Said.Tested != "" && len(p.Said.Tests) == 0 && !ran(func(t tool) bool { return t.tests() }) {
		flag(NotTested, events, "it says %s, and no tool call that its host reported ran tests", quoted(p.Said.Tested))
	}
}

// repeated returns a flag for each step that failed more often than it may.
func (w Work) repeated() (flags []Flag) {
	var order []string
	events := map[string][]int64{}
	last := map[string]failure{}
	for _, f := range w.failures {
		if events[f.same] == nil {
			order = append(order, f.same)
		}
		events[f.same], last[f.same] = append(events[f.same], f.seq), f
	}
	for _, same := range order {
		if f, at := last[same], events[same]; len(at) > f.most {
			flags = append(flags, Flag{RepeatedFailure, "", f.task, "", fmt.Sprintf("%d times the same way: %s", len(at), f.what), at})
		}
	}
	return flags
}

// FormatFalse returns false facts as the output of a check: a line each.
func FormatFalse(all []FalseFact) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s: %s\n", f.Fact, f.Text)
	}
	return b.String()
}

// ParseFalse is the inverse of FormatFalse. It skips other lines.
func ParseFalse(output string) (all []FalseFact) {
	for line := range strings.Lines(output) {
		fact, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if ok && slices.Contains([]Fact{FactRange, FactFiles, FactChange}, Fact(fact)) {
			all = append(all, FalseFact{Fact(fact), text})
		}
	}
	return all
}

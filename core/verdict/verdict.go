// Package verdict judges the text that an agent gave as its result against what it was asked.
//
// It refuses to guess: what is not clearly a result is invalid, and every reason for that is listed.
// It also refuses to know what happens next. A judgement is a value; who is asked again, what is
// counted and what is kept is decided elsewhere.
package verdict

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/core"
)

// A Verdict is what a result says about the work.
type Verdict string

// The verdicts.
const (
	Pass    Verdict = "pass"    // done, or approved
	Gaps    Verdict = "gaps"    // something is missing, and the result says what
	Error   Verdict = "error"   // the agent failed, or gives up
	Invalid Verdict = "invalid" // the text is no result of what was asked, and Errors says why
)

// Verdicts lists the verdicts.
func Verdicts() []Verdict { return []Verdict{Pass, Gaps, Error, Invalid} }

// A Grammar is a form in which a result can be written.
type Grammar string

// The grammars, in the order in which they are tried.
const (
	JSONBlock Grammar = "json_block" // a JSON object between two markers
	V2        Grammar = "v2"         // header lines, a blank line, free text
	Legacy    Grammar = "legacy"     // a clear statement in free text
	None      Grammar = "none"       // nothing that is like any of them
)

// Grammars lists the grammars.
func Grammars() []Grammar { return []Grammar{JSONBlock, V2, Legacy, None} }

// Asked is what an agent was asked.
type Asked struct {
	Role   core.Role
	ItemID string // the item of the plan that the run is about
	TaskID string // the task of the queue that the call named, if it named one
}

// knows reports whether a result with this task_id answers what was asked.
func (a Asked) knows(taskID string) bool {
	return taskID != "" && len(taskID) <= maxID && (taskID == a.ItemID || taskID == a.TaskID)
}

// ids says which ids would have been right.
func (a Asked) ids() string {
	if a.TaskID == "" || a.TaskID == a.ItemID {
		return show(a.ItemID)
	}
	return show(a.ItemID) + " or " + show(a.TaskID)
}

// A Judgement is what Judge made of a text.
type Judgement struct {
	Verdict Verdict
	Grammar Grammar
	Result  Result    // what could be read of it; complete unless the verdict is Invalid
	Errors  []Problem // why it is invalid; none otherwise
	Lost    Lost
	// Warnings lists what was tolerated, and what is odd and changed nothing.
	Warnings []Warning
}

// Lost counts, of the lists that the next agent works through, the entries that are not in the Result or not
// whole, since a result has its bounds.
type Lost struct{ Issues, RequiredFixes, FollowUps int }

// A Result is what an agent reports. Each grammar fills in what it has; the rest stays empty. The
// strings are parts of the text that was judged where that is possible, and keep it in memory. All of
// them but Body are bounded and have no control characters but line feeds and tabs: a text has at most
// 4 KiB, the Summary 16 KiB, the TaskID 128 bytes, and a list 1,000 entries with 64 KiB in all.
type Result struct {
	Role core.Role // the role that was asked
	// Own is the role that the text itself names, by a name that only this role has. It is 0 where the text
	// names none, or says no more than "reviewer". Only v2 headers have it.
	Own    core.Role
	TaskID string // the text's own; none in the legacy grammar
	Status string // the text's own word, in lower case

	Issues       []Issue
	FilesChanged []string

	GitRange   string // v2 and legacy
	Confidence string // v2: high, medium or low
	Body       string // v2: what follows the headers; legacy: the whole text

	Summary       string   // a worker's block, and so on
	Tests         []Test   //
	FollowUps     []string //
	Strengths     []string // a reviewer's block, and so on
	RequiredFixes []string //
}

// An Issue is something that is missing or wrong. Only a result block has more than the message.
type Issue struct{ Severity, File, Message, Fix string }

// A Test is something that a worker ran to check its work.
type Test struct {
	Command  string
	Passed   bool
	Failures []string
}

// Judge judges a text. The same text and question give the same judgement, and white space at the end
// of the text does not matter. It takes time in proportion to the length of the text, whatever stands
// in it, and never panics.
func Judge(text string, asked Asked) Judgement {
	n := &notes{asked: asked}
	n.text = clean(text, n)
	if asked.Role < 1 || asked.Role > core.Roles {
		n.fault(NothingRecognised, "role", 0, roleNames, asked.Role.String(), "the role that was asked is none")
		return n.judgement(Invalid, None, Result{})
	}
	found := findBlocks(n.text)
	if found.mentions > 0 {
		n.warn(mentionedMarkers, found.mention, "a marker is mentioned that begins no result block")
	}
	if found.count > 0 {
		return judgeBlock(found, n)
	}
	h, ok := findHeaders(n)
	switch {
	case ok && found.breaks > 0:
		n.warn(brokenBlock, found.broken.begin, "a result block that is not well-formed was passed over")
		return judgeHeaders(h, n)
	case ok:
		return judgeHeaders(h, n)
	case found.breaks > 0:
		return n.judgeBroken(found.broken)
	}
	return judgeStatements(n)
}

// clean takes off what belongs to no grammar: white space at the end, a byte order mark, broken
// UTF-8. Lines keep their numbers.
func clean(text string, n *notes) string {
	text = strings.TrimRightFunc(text, blank)
	if rest, ok := strings.CutPrefix(text, bom); ok {
		text = rest
		n.warn(byteOrderMark, 0, "the text begins with a byte order mark")
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		n.warn(brokenUTF8, 0, "bytes that are not UTF-8 were replaced")
	}
	n.text = text
	if i := strings.Index(text, "\r\n"); i >= 0 {
		n.warn(carriageReturns, i, "the lines end in CR LF")
	}
	return text
}

const bom = "\uFEFF"

// blank reports whether a character is white space to us. A byte order mark is, because it is also
// found where texts were joined.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' }

// trim takes white space off both ends.
func trim(s string) string { return strings.TrimFunc(s, blank) }

// Package verdict judges the result text of an agent against the question that the agent was asked.
//
// It refuses to guess: a text that is not clearly a result is invalid, with all reasons. It does not know what
// happens next: retries, counters and storage are decided elsewhere.
package verdict

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/core"
	"waybill/core/run"
)

// A Verdict is the outcome that a result reports.
type Verdict string

// The verdicts.
const (
	Pass    Verdict = "pass"    // done, or approved
	Gaps    Verdict = "gaps"    // something is missing, and the result lists it
	Error   Verdict = "error"   // the agent failed or gave up
	Invalid Verdict = "invalid" // the text is no result for the question; Errors has the reasons
)

// A Grammar is a form in which a result can be written.
type Grammar string

// The grammars, in the order of attempts.
const (
	JSONBlock Grammar = "json_block" // a JSON object between two markers
	V2        Grammar = "v2"         // header lines, a blank line, free text
	Legacy    Grammar = "legacy"     // a clear statement in free text
	None      Grammar = "none"       // none of these
)

// Asked describes the question to an agent.
type Asked struct {
	Role   core.Role
	ItemID string // the item of the plan that the run works on
	TaskID string // the task of the queue that the call names, if any
	// Generic allows any reviewer to answer, because the host names only "reviewer".
	Generic bool
	// Keys are the accepted result keys. Without any, keys do not matter.
	Keys []string
	// Form is the form that prompts ask for. All forms are read.
	Form run.ResultForm
	// RequireKey makes a text without a key invalid.
	RequireKey bool
}

// wants reports whether a result of the role answers the question.
func (a Asked) wants(role core.Role) bool { return role == a.Role || a.Generic && role.Reviewer() }

// knows reports whether a result with this task_id answers the question.
func (a Asked) knows(taskID string) bool {
	return taskID != "" && len(taskID) <= maxID && (taskID == a.ItemID || taskID == a.TaskID)
}

// ids returns the accepted ids for a message.
func (a Asked) ids() string {
	if a.TaskID == "" || a.TaskID == a.ItemID {
		return show(a.ItemID)
	}
	return show(a.ItemID) + " or " + show(a.TaskID)
}

// A Judgement is the outcome of Judge.
type Judgement struct {
	Verdict Verdict
	Grammar Grammar
	Result  Result    // complete unless the verdict is Invalid
	Errors  []Problem // reasons of Invalid; none otherwise
	Lost    Lost
	// Key is the accepted key in the text, "" if there is none.
	Key string
	// Warnings lists tolerated and odd parts that changed nothing.
	Warnings []Warning
}

// Lost counts entries that are missing or cut in the lists of the Result, because of its limits.
type Lost struct{ Issues, RequiredFixes, FollowUps int }

// A Result is the report of an agent. Each grammar fills in its own fields. Strings may share memory with the judged
// text. All but Body are limited and without control characters other than line feeds and tabs: a text has at most 4
// KiB, Summary 16 KiB, TaskID 128 bytes, and a list 1,000 entries with 64 KiB in all.
type Result struct {
	Role core.Role // the asked role
	// Own is the role that the text itself names, by a name that only this role has; otherwise 0. Only v2 headers
	// have it.
	Own    core.Role
	TaskID string // as in the text; none in the legacy grammar
	Status string // the word in the text, in lower case

	Issues       []Issue
	FilesChanged []string

	GitRange   string // v2 and legacy
	Confidence string // v2: high, medium or low
	Body       string // v2: the text after the headers; legacy: the whole text

	Summary       string   // worker's block, up to FollowUps
	Tests         []Test   //
	FollowUps     []string //
	Strengths     []string // reviewer's block, with RequiredFixes
	RequiredFixes []string //
}

// An Issue is one finding. Only a result block has more than the message.
type Issue struct{ Severity, File, Message, Fix string }

// A Test is a check that a worker ran.
type Test struct {
	Command  string
	Passed   bool
	Failures []string
}

// Judge judges a text in linear time and never panics. The same text and question have the same judgement. White
// space at the end does not matter.
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
	a := surroundingsOf(n.text, found)
	if forms := formsOf(n, found, a); len(forms) > 0 {
		return judgeForms(n, found, forms, a)
	}
	if len(found.broken) > 0 {
		// The block broke by accident, so statements inside it mean nothing.
		n.broken(found.broken[len(found.broken)-1])
		return n.judgement(Invalid, JSONBlock, Result{})
	}
	n.checkMisplacedKey()
	return judgeStatements(n, a)
}

// clean removes white space at the end, a byte order mark and broken UTF-8. Line numbers stay the same.
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

// blank reports whether a character is white space, or a byte order mark, which stays inside texts that were joined.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' }

// trim takes white space off both ends.
func trim(s string) string { return strings.TrimFunc(s, blank) }

package verdict

import (
	"fmt"
	"slices"
	"strings"

	"waybill/internal/safetext"
)

// A Fault names a kind of error, for callers that count or branch.
type Fault string

// The faults.
const (
	Missing           Fault = "missing"            // a required field is not there, or empty
	NotAllowed        Fault = "not_allowed"        // the value is none of those allowed
	WrongType         Fault = "wrong_type"         // the value has another JSON type
	Contradictory     Fault = "contradictory"      // the text says two things
	TaskIDMismatch    Fault = "task_id_mismatch"   // the result is about something else
	RoleMismatch      Fault = "role_mismatch"      // the result is that of another role
	KeyMismatch       Fault = "key_mismatch"       // the key is that of another round, role or run
	KeyMisplaced      Fault = "key_misplaced"      // the right key stands in the text, and not in a form
	KeyMissing        Fault = "key_missing"        // there is no key, and the policy of the run requires one
	Quoted            Fault = "quoted"             // the only result may be quoted: it is in a code fence or indented, and has no key
	BlockBroken       Fault = "block_broken"       // there are markers, but no JSON object between them
	Ambiguous         Fault = "ambiguous"          // the words can be read in more than one way
	NothingRecognised Fault = "nothing_recognised" // the text contains no result
	AndMore           Fault = "and_more"           // how many errors are not listed
)

// A Problem is one reason why a text is invalid. Its texts are single lines of at most 160 characters without control
// characters, so they can appear in a prompt, a page or a terminal.
type Problem struct {
	Fault    Fault
	Field    string // such as git_range or issues[2].severity
	Expected string
	Found    string // shortened text in its place; "" if there is none
	Line     int    // of the text, from 1
	Message  string
}

// A Warning is a tolerated or odd part of the text. It never changes the verdict.
type Warning struct {
	Remark  Remark
	Line    int // of the text, from 1
	Message string
}

// Limits of what is kept, because a text of a megabyte could have more than that in errors. The others are counted.
const (
	maxErrors = 50
	maxAlike  = 5 // warnings of one kind
)

// notes collects errors and warnings. Line is an offset until the judgement is complete, so that lines are counted
// only for notes that stay.
type notes struct {
	text       string
	asked      Asked
	errors     []Problem
	warnings   []Warning
	moreErrors int
	alike      []tally // warnings by kind
	lost       Lost
	key        string // the right key that the text has
}

type tally struct {
	remark Remark
	count  int
}

// foreign is text of the agent in a message. String makes it safe to show.
type foreign string

func (f foreign) String() string { return show(string(f)) }

// fault notes an error at an offset of the text.
func (n *notes) fault(f Fault, field string, at int, expected, found, message string) {
	if len(n.errors) == maxErrors {
		n.moreErrors++
		return
	}
	n.errors = append(n.errors, Problem{
		Fault: f, Field: field, Expected: expected, Found: show(found), Line: at, Message: message,
	})
}

// warn notes a warning at an offset of the text.
func (n *notes) warn(r Remark, at int, format string, args ...any) {
	if n.count(r) <= maxAlike {
		n.warnings = append(n.warnings, Warning{r, at, fmt.Sprintf(format, args...)})
	}
}

func (n *notes) count(r Remark) int {
	for i := range n.alike {
		if n.alike[i].remark == r {
			n.alike[i].count++
			return n.alike[i].count
		}
	}
	n.alike = append(n.alike, tally{r, 1})
	return 1
}

func (n *notes) judgement(v Verdict, g Grammar, r Result) Judgement {
	if g != None && n.key == "" && len(n.asked.Keys) > 0 {
		n.keyMissing()
	}
	if len(n.errors) > 0 {
		v = Invalid
	}
	n.number()
	if n.moreErrors > 0 {
		n.errors = append(n.errors, Problem{
			Fault: AndMore, Field: "result", Line: 1,
			Message: fmt.Sprintf("%d more errors are not listed", n.moreErrors),
		})
	}
	for _, kind := range n.alike {
		if more := kind.count - maxAlike; more > 0 {
			n.warnings = append(n.warnings, Warning{andMoreWarnings, 1, fmt.Sprintf("%d more of %s", more, kind.remark)})
		}
	}
	return Judgement{Verdict: v, Grammar: g, Result: r, Lost: n.lost, Key: n.key, Errors: n.errors, Warnings: n.warnings}
}

// keyMissing notes that no key was found.
func (n *notes) keyMissing() {
	const message = "the result has no key"
	switch {
	case slices.ContainsFunc(n.errors, func(p Problem) bool { return p.Fault == KeyMismatch }):
	case n.asked.RequireKey:
		n.fault(KeyMissing, "key", 0, keyWanted, "", message)
	default:
		n.warn(keyMissing, 0, "%s", message)
	}
}

// number sorts the notes by offset and turns offsets into line numbers.
func (n *notes) number() {
	slices.SortStableFunc(n.errors, func(a, b Problem) int { return a.Line - b.Line })
	slices.SortStableFunc(n.warnings, func(a, b Warning) int { return a.Line - b.Line })
	lines := counter{text: n.text}
	for i := range n.errors {
		n.errors[i].Line = lines.at(n.errors[i].Line)
	}
	lines = counter{text: n.text}
	for i := range n.warnings {
		n.warnings[i].Line = lines.at(n.warnings[i].Line)
	}
}

// A counter counts lines up to growing offsets.
type counter struct {
	text        string
	seen, lines int
}

func (c *counter) at(offset int) int {
	c.lines += strings.Count(c.text[c.seen:offset], "\n")
	c.seen = offset
	return c.lines + 1
}

const (
	maxShown     = 80  // characters that show keeps
	maxShownLong = 160 // characters of any text of a Problem
)

// show returns a foreign text that is safe within a line: short, with hidden characters visible, and without the
// markers of a result block.
func show(s string) string { return showUpTo(s, maxShown) }

func showUpTo(s string, limit int) string { return unmark.Replace(safetext.Verbatim(s, limit)) }

var unmark = strings.NewReplacer(beginMarker, "BEGIN-DISPATCH-RESULT", endMarker, "END-DISPATCH-RESULT")

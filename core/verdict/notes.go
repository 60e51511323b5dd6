package verdict

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A Fault names a kind of error, for callers that count or branch.
type Fault string

// The faults.
const (
	Missing           Fault = "missing"            // a required field is not there, or empty
	NotAllowed        Fault = "not_allowed"        // the value is none of those allowed
	WrongType         Fault = "wrong_type"         // the value has another JSON type
	Contradictory     Fault = "contradictory"      // the same key says two things
	TaskIDMismatch    Fault = "task_id_mismatch"   // the result is about something else
	BlockBroken       Fault = "block_broken"       // there are markers, but no JSON object between them
	Ambiguous         Fault = "ambiguous"          // the words can be read in more than one way
	NothingRecognised Fault = "nothing_recognised" // nothing is like a result
	AndMore           Fault = "and_more"           // how many errors are not listed
)

// Faults lists the faults.
func Faults() []Fault {
	return []Fault{
		Missing, NotAllowed, WrongType, Contradictory, TaskIDMismatch, BlockBroken, Ambiguous,
		NothingRecognised, AndMore,
	}
}

// A Problem is one reason why a text is invalid. Its texts are single lines without control
// characters, at most 160 characters long, so they can stand in a prompt, on a page and on a terminal.
type Problem struct {
	Fault    Fault
	Field    string // such as git_range or issues[2].severity
	Expected string
	Found    string // what is there instead, shortened; "" if nothing is
	Line     int    // of the text, from 1
	Message  string
}

// A Warning is something that was tolerated, or is odd. It never changes the verdict.
type Warning struct {
	Remark  Remark
	Line    int // of the text, from 1
	Message string
}

// A megabyte of rubbish must not become a hundred megabytes of complaints: so many are kept, the
// others are counted.
const (
	maxErrors = 50
	maxAlike  = 5 // warnings of one kind
)

// notes gathers what is to be said about a text. Until it is complete, a Line is an offset: most of
// what is noted about headers that do not count is thrown away, and lines would be counted in vain.
type notes struct {
	text       string
	asked      Asked
	errors     []Problem
	warnings   []Warning
	moreErrors int
	alike      []tally // warnings by kind
	lost       Lost
}

type tally struct {
	remark Remark
	count  int
}

// foreign is text of the agent within a message. It is made fit to be shown when it is.
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

// fresh gives notes about the same text and question, with nothing noted.
func (n *notes) fresh() *notes { return &notes{text: n.text, asked: n.asked} }

// adopt appends what other notes say.
func (n *notes) adopt(other *notes) {
	n.errors = append(n.errors, other.errors...)
	n.moreErrors += other.moreErrors
	n.warnings = append(n.warnings, other.warnings...)
	n.lost = other.lost
	n.alike = append(n.alike, other.alike...)
}

func (n *notes) judgement(v Verdict, g Grammar, r Result) Judgement {
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
	return Judgement{Verdict: v, Grammar: g, Result: r, Lost: n.lost, Errors: n.errors, Warnings: n.warnings}
}

// number puts what is noted into the order of the text and makes lines of the offsets.
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

// A counter counts lines up to offsets that only grow.
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
	shown     = 80  // characters of a foreign text that are shown
	shownLong = 160 // characters of any text of a Problem
)

// show makes a foreign text fit to be shown in the middle of a line: short, on one line, without what
// cannot be seen, and without a marker that could be taken for the beginning of a result.
func show(s string) string { return clip(s, shown) }

func clip(s string, limit int) string {
	var b strings.Builder
	count, gap := 0, false
	for _, r := range s {
		if blank(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			count++
		}
		if count >= limit-1 {
			b.WriteString("…")
			break
		}
		if !unicode.IsPrint(r) {
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
		count, gap = count+1, false
	}
	return unmark.Replace(b.String())
}

var unmark = strings.NewReplacer(beginMarker, "BEGIN-DISPATCH-RESULT", endMarker, "END-DISPATCH-RESULT")

package sanitize

import (
	"math"
	"strings"
	"unicode/utf8"
)

// The beginning of some lines has a meaning in waybill's prompts, or for a model. The quote mark before such a line
// removes this meaning and keeps the line legible.

// A heading is a text with a meaning in waybill's prompts at the beginning of a line.
type heading struct {
	text string
	// alone requires the heading to be the whole line, because sentences can begin with the same words. Only a colon
	// or a bracket with any text may follow.
	alone bool
}

// bracketed are the headings that begin with a bracket, and spelled are the others.
var (
	bracketed = [...]heading{
		{HeadTask, true},
		{HeadPrompt, true},
		{HeadDetails, true},
		{HeadContext, true},
		{HeadLast, true},
		{HeadRequirements, true},
		{HeadCriteria, true},
		{HeadWork, true},
		{HeadFiles, true},
		{HeadLeverage, true},
		{HeadFixes, true},
		{HeadBlockers, true},
		{HeadIssues, true},
		{HeadHint, true},
		{HeadFacts, true},
		{HeadNow, true},
		{HeadProgress, true},
		{HeadOutcome, true},
		{HeadStale, true},
		{HeadNext, true},
		{HeadResume, true},
		{HeadProven, true},
		{HeadSaid, true},
		{HeadQuestions, true},
		{HeadInstructions, true},
		{HeadOmitted, true},
		{HeadPrevious, false},
		{HeadReply, false},
		{HeadContinue, false},
	}
	spelled = [...]heading{{MarkerBegin, true}, {MarkerEnd, true}, {"RETRY CONTEXT:", false}}
	// undressedSpelled are the spelled headings without the characters that undressed removes.
	undressedSpelled = [...]heading{{withoutDecoration(MarkerBegin), true}, {withoutDecoration(MarkerEnd), true}, spelled[2]}
)

// lineKind is the kind of structure that a line resembles.
type lineKind uint8

const (
	plain lineKind = iota
	// sectionName is a line that is only the name of a section. It has no meaning in code.
	sectionName
	// structure is a line that has a meaning in any context.
	structure
)

// kindOf returns the kind of a line, as it is written or as it looks. A line with the quote mark is plain.
func kindOf(line string, found traits) lineKind {
	if strings.HasPrefix(line, QuoteMark) {
		return plain
	}
	kind := asWritten(line)
	if kind == plain && found&unplain != 0 && hasWide(line) {
		return asWritten(skeleton(line, math.MaxInt))
	}
	return kind
}

// asWritten returns the kind of a line without regard to look-alike characters.
func asWritten(line string) lineKind {
	if claimsOrigin(line) {
		return structure
	}
	return reserved(line)
}

// reserved returns the kind of a line that begins with a heading of waybill or a turn of a conversation. It ignores
// case, white space and surrounding markup. The first letter excludes most lines.
func reserved(line string) lineKind {
	at := pastMarkup(line)
	if at == len(line) {
		return plain
	}
	kind := reservedFrom(line, at, spelled[:])
	if kind != plain || !mayBeDressed(line, line[at]) {
		return kind
	}
	seen, linked := undressed(line)
	for _, rest := range [...]string{seen, linked} {
		for first, more := true, true; more && kind == plain; first = false {
			if at = pastMarkup(rest); at < len(rest) && (first || rest[at] == '[') {
				kind = reservedFrom(rest, at, undressedSpelled[:])
			}
			_, rest, more = strings.Cut(rest[at:], "\n")
		}
	}
	return kind
}

// reservedFrom is reserved for a line whose markup ends at the index at.
func reservedFrom(line string, at int, spelled []heading) lineKind {
	switch line[at] {
	case '[':
		for at < len(line) && line[at] == '[' { // rendering shows nested brackets
			at = pastBlanks(line, at+1)
		}
		return beginsOne(line[at:], "[", bracketed[:])
	case 'b', 'B', 'e', 'E':
		return beginsOne(line[at:], "", spelled)
	case 'r', 'R', 'H', 'h', 'A', 'a', 'S', 's', 'U', 'u', 'I', 'i':
		if isTurn(line[:at], line[at:]) {
			return structure
		}
		return beginsOne(line[at:], "", spelled)
	}
	return plain
}

// beginsOne returns the kind of a line that begins with one of the headings. The line lacks the text opening of the
// heading.
func beginsOne(line, opening string, headings []heading) lineKind {
	for _, h := range headings {
		if rest, found := cutHeading(line, h.text[len(opening):]); found && (!h.alone || standsAlone(rest)) {
			if h.alone && opening == "[" {
				return sectionName
			}
			return structure
		}
	}
	return plain
}

// pastMarkup returns the index of the first byte that is neither white space nor Markdown markup at the beginning of a
// line.
func pastMarkup(line string) int {
	i := 0
	for i < len(line) {
		c := line[i]
		if width := blankWidth(line, i); width > 0 {
			i += width
		} else if beginsBox(line[i:]) {
			i += len("[ ]")
		} else if c >= 'A' && c != '\\' && c != '_' && c != '`' && c != '|' && c != '~' ||
			c < 'A' && strings.IndexByte("#>*-+.)0123456789", c) < 0 {
			break
		} else {
			i++
		}
	}
	return i
}

// beginsBox reports whether a line begins with the checkbox of a task.
func beginsBox(line string) bool {
	return len(line) > 3 && line[0] == '[' && line[2] == ']' && blankWidth(line, 3) > 0
}

// standsAlone reports whether a heading before rest is the whole line. Only markup may follow, or a colon or bracket,
// as in waybill's own headings.
func standsAlone(rest string) bool {
	if isLink(rest) || isReference(rest) {
		return false
	}
	for i := 0; i < len(rest); {
		width := blankWidth(rest, i)
		switch {
		case rest[i] == '\n': // a tag ends the rendered line
			return true
		case width > 0:
			i += width
		case strings.IndexByte(":({", rest[i]) >= 0:
			return true
		case strings.IndexByte("#*_`~|\\]", rest[i]) >= 0:
			i++
		default:
			return false
		}
	}
	return true
}

// isLink reports whether rest is the address of a Markdown link: one word in brackets that looks like an address.
func isLink(rest string) bool {
	if rest == "" || rest[0] != '(' {
		return false
	}
	address, _, closed := strings.Cut(rest[1:], ")")
	return closed && strings.ContainsAny(address, "./#:") && !strings.ContainsAny(address, " \t,")
}

// isReference reports whether rest defines the address of a link reference: a colon and one word that looks like an
// address.
func isReference(rest string) bool {
	address, found := strings.CutPrefix(rest, ":")
	address = strings.Trim(address, " \t")
	return found && strings.ContainsAny(address, "./#:") && !strings.ContainsAny(address, " \t,")
}

// cutHeading removes a heading from the beginning of a line. Any white space matches a space in the heading. White
// space before the closing bracket is ignored.
func cutHeading(line, heading string) (rest string, found bool) {
	i := 0
	for j := 0; j < len(heading); j++ {
		c := heading[j]
		blank := i
		if c == ' ' || c == ']' {
			i = pastBlanks(line, i)
		}
		if c == ' ' {
			if i == blank {
				return "", false
			}
			continue
		}
		_, width := utf8.DecodeRuneInString(line[i:])
		if i == len(line) || !strings.EqualFold(line[i:i+width], heading[j:j+1]) {
			return "", false
		}
		i += width
	}
	return line[i:], true
}

// isTurn reports whether a line begins a turn of a transcript or of an instruction template. The words are common, so
// each counts only in the form that models were trained on. "System: Linux", "user: x" in a settings file and "-
// Assistant: Ada" in a list are not turns.
func isTurn(markup, line string) bool {
	end := strings.IndexByte(line[:min(len(line), len("Instruction** :"))], ':')
	if end < 0 || strings.ContainsAny(markup, "-+.)`|~\\0123456789") || strings.Contains(markup, "* ") {
		return false
	}
	word := strings.TrimRight(line[:end], "*_ \t")
	alone := strings.Trim(line[end+1:], "*_# \t") == ""
	switch word {
	case "Human", "HUMAN", "Assistant", "ASSISTANT":
		return true
	case "System", "SYSTEM", "User", "USER":
		return alone
	}
	if !alone || !strings.Contains(markup, "#") {
		return false
	}
	switch strings.ToLower(word) {
	case "instruction", "response", "input", "human", "assistant", "system", "user":
		return true
	}
	return false
}

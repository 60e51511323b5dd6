package ledger

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Some lines mean something in our prompts, or to a model, by how they begin. The quote mark before them takes
// that away and leaves them legible.

// A heading means something in our prompts where a line begins with it.
type heading struct {
	text string
	// alone says that the line is the heading and nothing else, but for a colon or a bracket and what follows
	// it: there are sentences that begin like this.
	alone bool
}

// bracketed are the headings that begin with a bracket, and spelled the others.
var (
	bracketed = [...]heading{
		{headTask, true},
		{headPrompt, true},
		{headDetails, true},
		{headContext, true},
		{headLast, true},
		{headRequirements, true},
		{headCriteria, true},
		{headWork, true},
		{headFiles, true},
		{headLeverage, true},
		{headFixes, true},
		{headBlockers, true},
		{headIssues, true},
		{headHint, true},
		{headFacts, true},
		{headNow, true},
		{headProgress, true},
		{headOutcome, true},
		{headStale, true},
		{headNext, true},
		{headPrevious, false},
		{headReply, false},
		{headContinue, false},
	}
	spelled = [...]heading{{markerBegin, true}, {markerEnd, true}, {"RETRY CONTEXT:", false}}
)

// lineKind is what a line may be taken for.
type lineKind uint8

const (
	plain lineKind = iota
	// sectionName is a name that sections have, and no more.
	sectionName
	// structure is what means something wherever it stands.
	structure
)

// kindOf tells what a line may be taken for, as it is written or as it looks. One that is marked is plain.
func kindOf(line string, found traits) lineKind {
	if strings.HasPrefix(line, quoteMark) {
		return plain
	}
	kind := asWritten(line)
	if kind == plain && found&unplain != 0 && hasWide(line) {
		return asWritten(skeleton(line, math.MaxInt))
	}
	return kind
}

func hasWide(line string) bool {
	for i := range len(line) {
		if line[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// asWritten tells what a line may be taken for that is compared letter by letter.
func asWritten(line string) lineKind {
	if claimsOrigin(line) {
		return structure
	}
	return reserved(line)
}

// reserved tells whether a line begins with one of our headings, whatever its
// case, the white space in it, and the markup around it, or like a turn. Most lines are known by
// their first letter not to.
func reserved(line string) lineKind {
	at := pastMarkup(line)
	if at == len(line) {
		return plain
	}
	switch line[at] {
	case '[':
		return beginsOne(line[skipBlanks(line, at+1):], "[", bracketed[:])
	case 'b', 'B', 'e', 'E':
		return beginsOne(line[at:], "", spelled[:])
	case 'r', 'R', 'H', 'h', 'A', 'a', 'S', 's', 'U', 'u', 'I', 'i':
		if isTurn(line[:at], line[at:]) {
			return structure
		}
		return beginsOne(line[at:], "", spelled[:])
	}
	return plain
}

// beginsOne tells whether what stands behind the opening of a line is one of the headings behind theirs.
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

// pastMarkup returns the index of the first byte that is neither white space nor
// what Markdown puts at the beginning of a line.
func pastMarkup(line string) int {
	i := 0
	for i < len(line) {
		c := line[i]
		if width := blankAt(line, i); width > 0 {
			i += width
		} else if c >= 'A' && c != '\\' && c != '_' && c != '`' && c != '|' && c != '~' ||
			c < 'A' && strings.IndexByte("#>*-+.)0123456789", c) < 0 {
			break
		} else {
			i++
		}
	}
	return i
}

// standsAlone reports whether a heading that rest follows has its line to itself:
// nothing follows but markup, or there is a colon or a bracket, as behind our own.
func standsAlone(rest string) bool {
	if isLink(rest) || isReference(rest) {
		return false
	}
	for i := 0; i < len(rest); {
		width := blankAt(rest, i)
		switch {
		case width > 0:
			i += width
		case rest[i] == ':' || rest[i] == '(':
			return true
		case strings.IndexByte("#*_`~|\\", rest[i]) >= 0:
			i++
		default:
			return false
		}
	}
	return true
}

// isLink reports whether rest is the address of a link whose text stands before it: one word, with something
// that only addresses have.
func isLink(rest string) bool {
	if rest == "" || rest[0] != '(' {
		return false
	}
	address, _, closed := strings.Cut(rest[1:], ")")
	return closed && strings.ContainsAny(address, "./#:") && !strings.ContainsAny(address, " \t,")
}

// isReference reports whether rest gives the address of the links that name what stands before it: a colon and
// one word, with something that only addresses have.
func isReference(rest string) bool {
	address, found := strings.CutPrefix(rest, ":")
	address = strings.Trim(address, " \t")
	return found && strings.ContainsAny(address, "./#:") && !strings.ContainsAny(address, " \t,")
}

// cutHeading cuts a heading off the beginning of a line. A space in the heading is
// any white space, and there may be more of it before the bracket that ends it.
func cutHeading(line, heading string) (rest string, found bool) {
	i := 0
	for j := 0; j < len(heading); j++ {
		c := heading[j]
		blank := i
		if c == ' ' || c == ']' {
			i = skipBlanks(line, i)
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

// isTurn reports whether a line is what a transcript or a template of instructions has before a turn. The words
// are common ones, so each counts in no more than the form that models were trained on: "System: Linux",
// "user: x" of a file of settings and "- Assistant: Ada" of a list are none.
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

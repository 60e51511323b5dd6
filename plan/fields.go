package plan

import "strings"

// This file parses the fields of a task: "_Requirements: 1.1_" anywhere in a line, and "Files: a.go" at its beginning.

// fieldKey is the kind of a field or label.
type fieldKey uint8

const (
	fieldNone fieldKey = iota
	fieldRequirements
	fieldLeverage
	fieldPrompt
	fieldDepends
	fieldBlocked
	fieldFiles
	fieldPurpose
)

// word is one spelling of a key.
type word struct {
	text string
	key  fieldKey
}

var (
	fieldWords = [...]word{
		{"Requirements", fieldRequirements},
		{"Prompt", fieldPrompt},
		{"Leverage", fieldLeverage},
		{"Depends", fieldDepends},
		{"Depends on", fieldDepends},
		{"Dependencies", fieldDepends},
		{"Blocked", fieldBlocked},
	}
	labelWords = [...]word{
		{"Files", fieldFiles},
		{"File", fieldFiles},
		{"Purpose", fieldPurpose},
		{"Depends", fieldDepends},
		{"Depends on", fieldDepends},
		{"Dependencies", fieldDepends},
	}
	// needWords are labels of dependencies if only ids follow.
	needWords = [...]string{"Blocked by", "Prerequisites", "Prerequisite", "Requires"}
)

// labelBegins are the first bytes of all labels and dependency words, so that the reader skips most lines at once.
var labelBegins = [256]bool{'*': true, '(': true, 'F': true, 'f': true, 'P': true, 'p': true, 'D': true, 'd': true, 'B': true, 'b': true, 'R': true, 'r': true}

// is reports whether s is the word, ignoring case.
func (w *word) is(s string) bool {
	return len(s) == len(w.text) && (s == w.text || strings.EqualFold(s, w.text))
}

// fieldAt returns the field that begins at s[i], and the index of its value.
func fieldAt(s string, i int) (fieldKey, int) {
	if i+1 >= len(s) || s[i] != '_' {
		return fieldNone, 0
	}
	first := s[i+1] &^ 0x20
	for k := range fieldWords {
		w := &fieldWords[k]
		if w.text[0] != first {
			continue
		}
		end := i + 1 + len(w.text)
		if end < len(s) && s[end] == ':' && w.is(s[i+1:end]) {
			return w.key, end + 1
		}
	}
	return fieldNone, 0
}

// firstField returns the first field in s at or after i. A field begins at the start of s or after white space. key is
// fieldNone if there is none.
func firstField(s string, i int) (at int, key fieldKey, value int) {
	for i < len(s) {
		if s[i] != '_' {
			i = indexFrom(s, '_', i)
		}
		if i == 0 || i < len(s) && s[i-1] <= ' ' {
			if key, value = fieldAt(s, i); key != fieldNone {
				return i, key, value
			}
		}
		i++
	}
	return len(s), fieldNone, 0
}

// labelled parses "Files: a, b", also with a bold label.
func labelled(s string) (key fieldKey, value string, ok bool) {
	const longest = len("**Prerequisites**:")
	if s == "" || !labelBegins[s[0]] {
		return fieldNone, "", false
	}
	colon := strings.IndexByte(s[:min(len(s), longest)], ':')
	if colon < 0 {
		return fieldNone, "", false
	}
	name, value := s[:colon], s[colon+1:]
	if s[0] == '*' {
		name, value = trim(strings.Trim(name, "*")), strings.TrimLeft(value, "*")
	}
	for k := range labelWords {
		if w := &labelWords[k]; w.is(name) {
			return w.key, trim(value[pastSpace(value, 0):]), true
		}
	}
	for _, word := range needWords {
		if !equalWord(name, word) {
			continue
		}
		if list := strings.ReplaceAll(trim(value), ";", ","); list != "" && (isNone(list) || idsAt(list) == list) {
			return fieldDepends, list, true
		}
	}
	return fieldNone, "", false
}

// fields reads all fields of s. The first has this key and its value begins at the index.
func (n *numbered) fields(ln *line, s string, key fieldKey, value int) {
	n.endDetail()
	for key != fieldNone {
		from := skipBlanks(s, pastSpace(s, value))
		switch key {
		case fieldPrompt:
			n.evidence.add(signalPrompt, ln.number)
			key, value = n.prompt(ln, s, from)
			continue
		case fieldLeverage:
			n.evidence.add(signalLeverage, ln.number)
		case fieldBlocked:
			n.evidence.add(signalBlocked, ln.number)
		case fieldRequirements:
			n.fielded = true
		case fieldNone, fieldDepends, fieldFiles, fieldPurpose:
		}
		key, value = n.value(ln, key, s, from)
	}
}

// value stores the value that begins at the index, and returns the next field.
func (n *numbered) value(ln *line, key fieldKey, s string, from int) (next fieldKey, nextValue int) {
	if last := len(s) - 1; indexFrom(s, '_', from) == last && closes(s[from:]) {
		n.set(key, s[from:last]) // by far the most frequent form
		return fieldNone, 0
	}
	end, next, nextValue := firstField(s, from)
	value := trimRight(s[from:end])
	switch end := closing(value); {
	case end >= 0:
		n.set(key, value[:end])
		n.noteAlone(trim(strings.TrimLeft(value[end+1:], "|,;.")))
	case next != fieldNone:
		n.set(key, value)
	default:
		n.beginField(ln, key, false, value)
	}
	return next, nextValue
}

// prompt reads the prompt that begins at the index, and returns the next field.
func (n *numbered) prompt(ln *line, s string, from int) (next fieldKey, nextValue int) {
	end, next, nextValue := promptEnd(s, from)
	value := s[from:end]
	switch {
	case next != fieldNone:
		n.set(fieldPrompt, value)
	case value == "" || strings.TrimLeft(value, "|>-+") == "":
		n.beginField(ln, fieldPrompt, true, "")
	case closes(value):
		n.set(fieldPrompt, value[:len(value)-1])
	default:
		n.beginField(ln, fieldPrompt, false, value)
	}
	return next, nextValue
}

// promptEnd returns the end of a prompt that ends before its line does: at an underscore before another field. A
// prompt may quote fields, whose own underscores are matched first.
func promptEnd(s string, i int) (end int, next fieldKey, nextValue int) {
	quoting := false
	for ; i < len(s); i++ {
		if i = indexFrom(s, '_', i); i == len(s) {
			break
		}
		if key, _ := fieldAt(s, i); key != fieldNone && s[i-1] <= ' ' {
			quoting = true
			continue
		}
		at := skipBlanks(s, i+1)
		if next, nextValue = fieldAt(s, at); next == fieldNone || at == i+1 {
			continue
		}
		if !quoting {
			return i, next, nextValue
		}
		quoting = false
	}
	return len(s), fieldNone, 0
}

// closing returns the index of the last underscore in s that closes a field, or -1. An underscore inside a word does
// not close a field, and neither does a double underscore.
func closing(s string) int {
	for i := strings.LastIndexByte(s, '_'); i >= 0; i = strings.LastIndexByte(s[:i], '_') {
		if i+1 < len(s) && inWord(s[i+1]) {
			continue
		}
		if closes(s[:i+1]) {
			return i
		}
	}
	return -1
}

func inWord(c byte) bool {
	return c == '_' || c >= 0x80 || isDigit(c) || isLower(c) || isUpper(c)
}

// closes reports whether s ends with a single, unescaped underscore.
func closes(s string) bool {
	if n := len(s); n > 1 && s[n-1] == '_' && inWord(s[n-2]) && s[n-2] != '_' {
		return true
	}
	run := len(s) - len(strings.TrimRight(s, "_"))
	return run%2 == 1 && !strings.HasSuffix(s[:len(s)-run], `\`)
}

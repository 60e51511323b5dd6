package describe

import (
	"strings"
	"unicode/utf8"

	"waybill/internal/lazy"
	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/graph"
	"waybill/plan/lex"
)

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

// fieldNames are the names of fields other than dependencies. Those with a place under are fields after an underscore, as
// in _Prompt: text_, and the others are labels at the beginning of a line.
var fieldNames = [...]struct {
	name  string
	key   fieldKey
	under bool
}{
	{"Requirements", fieldRequirements, true},
	{"Prompt", fieldPrompt, true},
	{"Leverage", fieldLeverage, true},
	{"Blocked", fieldBlocked, true},
	{"Files", fieldFiles, false},
	{"File", fieldFiles, false},
	{"Purpose", fieldPurpose, false},
}

// longestName limits the search for the colon after a name.
const longestName = 40

// fieldNamed returns the field with a name, and how surely the name states a dependency.
func fieldNamed(name string, under bool) (fieldKey, graph.Strength) {
	for i := range fieldNames {
		if f := &fieldNames[i]; f.under == under && len(f.name) == len(name) && strings.EqualFold(f.name, name) {
			return f.key, 0
		}
	}
	if strength := graph.Word(name); strength > 0 {
		return fieldDepends, strength
	}
	return fieldNone, 0
}

// labelBegins are the first bytes of lines that may be labels or state a dependency.
var labelBegins = lazy.Value[*[256]bool]{Of: func() *[256]bool {
	var all [256]bool
	for c := range all {
		all[c] = c == '*' || c == '(' || c >= utf8.RuneSelf || lex.IsLetter(byte(c)) && graph.Begins(byte(c)) || strings.IndexByte("FfPp", byte(c)) >= 0
	}
	return &all
}}

// cutName splits a text at the colon after a name.
func cutName(s string) (name, value string, ok bool) {
	begin := s[:min(len(s), longestName)]
	for i := range len(begin) {
		if width := colonWidth(s[i:]); width > 0 {
			return s[:i], s[i+width:], i > 0
		}
	}
	return "", "", false
}

// colonWidth returns the width of the colon at the beginning of s, or 0.
func colonWidth(s string) int {
	if strings.HasPrefix(s, ":") {
		return 1
	}
	if strings.HasPrefix(s, "：") {
		return len("：")
	}
	return 0
}

// fieldAt returns the field that begins at s[i], and the index of its value.
func fieldAt(s string, i int) (key fieldKey, value int) {
	if i+1 >= len(s) || s[i] != '_' || s[i+1] <= ' ' {
		return fieldNone, 0
	}
	name, rest, _ := cutName(s[i+1:])
	if key, _ = fieldNamed(name, true); key == fieldNone {
		return fieldNone, 0
	}
	return key, len(s) - len(rest)
}

// firstField returns the first field in s at or after i. A field begins at the start of s or after white space. key is
// fieldNone if there is none.
func firstField(s string, i int) (at int, key fieldKey, value int) {
	for i < len(s) {
		if s[i] != '_' {
			i = lex.IndexFrom(s, '_', i)
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

// labelled parses "Files: a, b", also with a bold label. A weak name of dependencies is a label if only ids follow.
func labelled(s string) (key fieldKey, value string, ok bool) {
	if s == "" || !labelBegins.Get()[s[0]] {
		return fieldNone, "", false
	}
	name, value, ok := cutName(s)
	if !ok {
		return fieldNone, "", false
	}
	if s[0] == '*' {
		name, value = lex.Trim(strings.Trim(name, "*")), strings.TrimLeft(value, "*")
	}
	key, strength := fieldNamed(name, false)
	value = lex.Trim(value)
	if strength == graph.Weak && (value == "" || !graph.OnlyIDs(value)) {
		return fieldNone, "", false
	}
	return key, value, key != fieldNone
}

// Label reports whether a text begins with the label of a field, and returns the value of dependencies.
func Label(text string) (waits string, depends, ok bool) {
	key, value, ok := labelled(text)
	return value, key == fieldDepends, ok
}

// fields reads all fields of s. The first has this key and its value begins at the index.
func (n fielder) fields(ln *block.Line, s string, key fieldKey, value int) {
	detailer(n).endDetail()
	for key != fieldNone {
		from := lex.SkipBlanks(s, lex.PastSpace(s, value))
		if key == fieldPrompt {
			key, value = n.prompt(ln, s, from)
			continue
		}
		key, value = n.value(ln, key, s, from)
	}
}

// value stores the value that begins at the index, and returns the next field.
func (n fielder) value(ln *block.Line, key fieldKey, s string, from int) (next fieldKey, nextValue int) {
	if last := len(s) - 1; lex.IndexFrom(s, '_', from) == last && closes(s[from:]) {
		n.set(key, s[from:last]) // by far the most frequent form
		return fieldNone, 0
	}
	end, next, nextValue := firstField(s, from)
	value := lex.TrimRight(s[from:end])
	switch end := closing(value); {
	case end >= 0:
		n.set(key, value[:end])
		detailer(n).noteAlone(lex.Trim(strings.TrimLeft(value[end+1:], "|,;.")))
	case next != fieldNone:
		n.set(key, value)
	default:
		n.beginField(ln, key, false, value)
	}
	return next, nextValue
}

// prompt reads the prompt that begins at the index, and returns the next field.
func (n fielder) prompt(ln *block.Line, s string, from int) (next fieldKey, nextValue int) {
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
		if i = lex.IndexFrom(s, '_', i); i == len(s) {
			break
		}
		if key, _ := fieldAt(s, i); key != fieldNone && s[i-1] <= ' ' {
			quoting = true
			continue
		}
		at := lex.SkipBlanks(s, i+1)
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
		if i+1 < len(s) && lex.InWord(s[i+1]) {
			continue
		}
		if closes(s[:i+1]) {
			return i
		}
	}
	return -1
}

// closes reports whether s ends with a single, unescaped underscore.
func closes(s string) bool {
	if n := len(s); n > 1 && s[n-1] == '_' && lex.InWord(s[n-2]) && s[n-2] != '_' {
		return true
	}
	run := len(s) - len(strings.TrimRight(s, "_"))
	return run%2 == 1 && !strings.HasSuffix(s[:len(s)-run], `\`)
}

// fielder reads the fields of an item.
type fielder struct{ *Lines }

// openField is a field whose end was not yet read. A literal field keeps its lines. A folded one joins them with
// spaces and keeps its paragraphs.
type openField struct {
	key     fieldKey // fieldNone when no field is open
	literal bool
	fenced  bool // it began inside a code fence and ends with that fence
	indent  int  // of its first line
	base    int  // indent of the first line of a literal field, and of code in a folded one; -1 before
	blanks  int  // blank lines since the last part
	code    bool // the last part is from a code fence
	parts   []part
	opened  int // 1 + the offset of a prompt that may never be closed, or 0
}

// part is a line of a field, with the separator before it.
type part struct{ glue, text string }

// begun reports whether a field is open.
func (f *openField) begun() bool { return f.key != fieldNone }

func (n fielder) beginField(ln *block.Line, key fieldKey, literal bool, first string) {
	f := &n.field
	*f = openField{key: key, literal: literal, indent: ln.Indent, base: -1, parts: f.parts[:0]}
	if first != "" {
		f.parts = append(f.parts, part{"", first})
	}
	if key == fieldPrompt {
		f.opened = ln.Start + ln.Body + 1
	}
}

// takes reports whether a line continues the open field.
func (n fielder) takes(ln *block.Line, m *block.Marker) bool {
	f := &n.field
	switch {
	case f.fenced:
		return ln.Place == plan.InFence && !ln.Edge
	case f.literal:
		return f.takesLiteral(ln, m)
	case ln.Place == plan.InFence:
		return f.key == fieldPrompt && ln.Indent > f.indent
	case m.Kind != block.Ordered && m.Spaced(ln.Text) || begins(ln.Content()):
		return false
	case f.blanks > 0:
		return ln.Indent > f.indent
	}
	return true
}

func (f *openField) takesLiteral(ln *block.Line, m *block.Marker) bool {
	listed := m.Kind != block.Ordered && m.Spaced(ln.Text)
	if ln.Indent < f.base || f.base < 0 && (ln.Indent < f.indent || ln.Indent == f.indent && listed) {
		return false
	}
	// A line that is not indented more than the field belongs to it, unless it begins with a field or label.
	text := ln.Content()
	if listed {
		text = ln.Text[m.Next:]
	}
	return ln.Indent > f.indent || !begins(text)
}

// begins reports whether a line begins with a field or a label.
func begins(text string) bool {
	if key, _ := fieldAt(text, 0); key != fieldNone {
		return true
	}
	_, _, ok := labelled(text)
	return ok
}

// goOn adds a line to the open field, and closes the field at its underscore.
func (n fielder) goOn(ln *block.Line) {
	f := &n.field
	code := ln.Place == plan.InFence && !f.fenced
	if f.literal && f.base < 0 || !f.literal && code && !f.code {
		f.base = ln.Indent
	}
	text := ln.Content()
	if f.literal || code {
		text = ln.Dedent(f.base)
	}
	// A field that the text quotes is closed by its own underscore.
	key, _ := fieldAt(ln.Content(), 0)
	done := !code && key == fieldNone && closes(text)
	if done {
		text = text[:len(text)-1]
	}
	f.parts = append(f.parts, part{f.glue(code), text})
	f.blanks, f.code = 0, code
	if done {
		f.opened = 0
		n.closeField()
	}
}

func (f *openField) glue(code bool) string {
	switch {
	case len(f.parts) == 0:
		return ""
	case f.literal:
		return "\n" + strings.Repeat("\n", f.blanks)
	case f.blanks > 0:
		return "\n\n"
	case code || f.code:
		return "\n"
	}
	return " "
}

// closeField stores the open field, if any.
func (n fielder) closeField() {
	if n.field.begun() {
		n.storeField()
	}
}

func (n fielder) storeField() {
	f := &n.field
	if n.Item != nil || f.key == fieldDepends {
		n.set(f.key, f.text())
	}
	if f.opened > 0 && n.Notes != nil {
		n.Notes.Add(f.opened-1, plan.SeverityInfo, "unclosed_prompt",
			"this prompt has no closing underscore: it ends where the next item, field or heading begins")
	}
	*f = openField{parts: f.parts[:0]}
}

func (f *openField) text() string {
	var b strings.Builder
	for _, p := range f.parts {
		b.WriteString(p.glue)
		b.WriteString(p.text)
	}
	return b.String()
}

// openList is a label such as "Files:" whose values are in bullets below it.
type openList struct {
	key    fieldKey
	indent int
}

func (l *openList) open(key fieldKey, value string, indent int) {
	*l = openList{}
	if value == "" && key != fieldPurpose {
		*l = openList{key: key, indent: indent}
	}
}

func (l *openList) has(indent int) bool {
	return l.key != fieldNone && indent > l.indent
}

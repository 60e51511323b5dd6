package plan

import "strings"

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
	opened  Diagnostic // the diagnostic for a field that is never closed
}

// part is a line of a field, with the separator before it.
type part struct{ glue, text string }

// begun reports whether a field is open.
func (f *openField) begun() bool { return f.key != fieldNone }

func (n *numbered) beginField(ln *line, key fieldKey, literal bool, first string) {
	f := &n.field
	*f = openField{key: key, literal: literal, indent: ln.indent, base: -1, parts: f.parts[:0]}
	if first != "" {
		f.parts = append(f.parts, part{"", first})
	}
	if key == fieldPrompt {
		f.opened = diagnose(ln, ln.body, SeverityInfo, "unclosed_prompt",
			"this prompt has no closing underscore: it ends where the next item, field or heading begins")
	}
}

// takes reports whether a line continues the open field.
func (n *numbered) takes(ln *line, m *marker) bool {
	f := &n.field
	switch {
	case f.fenced:
		return ln.place == placeFence && !ln.edge
	case f.literal:
		return f.takesLiteral(ln, m)
	case ln.place == placeFence:
		return f.key == fieldPrompt && ln.indent > f.indent
	case m.kind != markerOrdered && m.spaced(ln.text) || begins(ln.content()):
		return false
	case f.blanks > 0:
		return ln.indent > f.indent
	}
	return true
}

func (f *openField) takesLiteral(ln *line, m *marker) bool {
	listed := m.kind != markerOrdered && m.spaced(ln.text)
	if ln.indent < f.base || f.base < 0 && (ln.indent < f.indent || ln.indent == f.indent && listed) {
		return false
	}
	// A line that is not indented more than the field belongs to it, unless it begins with a field or label.
	text := ln.content()
	if listed {
		text = ln.text[m.next:]
	}
	return ln.indent > f.indent || !begins(text)
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
func (n *numbered) goOn(ln *line) {
	f := &n.field
	code := ln.place == placeFence && !f.fenced
	if f.literal && f.base < 0 || !f.literal && code && !f.code {
		f.base = ln.indent
	}
	text := ln.content()
	if f.literal || code {
		text = ln.dedent(f.base)
	}
	// A field that the text quotes is closed by its own underscore.
	key, _ := fieldAt(ln.content(), 0)
	done := !code && key == fieldNone && closes(text)
	if done {
		text = text[:len(text)-1]
	}
	f.parts = append(f.parts, part{f.glue(code), text})
	f.blanks, f.code = 0, code
	if done {
		f.opened = Diagnostic{}
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
func (n *numbered) closeField() {
	if n.field.begun() {
		n.storeField()
	}
}

func (n *numbered) storeField() {
	f := &n.field
	if n.item != nil || f.key == fieldDepends {
		n.set(f.key, f.text())
	}
	if f.opened.Code != "" {
		n.r.Diagnostics = append(n.r.Diagnostics, f.opened)
	}
	*f = openField{parts: f.parts[:0]}
}

func (f *openField) text() string {
	if len(f.parts) == 1 {
		return f.parts[0].text
	}
	size := 0
	for _, p := range f.parts {
		size += len(p.glue) + len(p.text)
	}
	var b strings.Builder
	b.Grow(size)
	for _, p := range f.parts {
		b.WriteString(p.glue)
		b.WriteString(p.text)
	}
	return b.String()
}

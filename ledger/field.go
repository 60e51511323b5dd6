package ledger

import "strings"

// openField is a field whose end has not been seen. A literal one keeps its
// lines, a folded one joins them with spaces and keeps its paragraphs.
type openField struct {
	key     fieldKey // fieldNone when no field is open
	literal bool
	fenced  bool // it opened inside a fence and ends with it at the latest
	indent  int  // of the line that opened it
	base    int  // indent of the first line of a literal one, and of code in a folded one; -1 before
	blanks  int  // blank lines since the last part
	code    bool // the last part came from a fence
	parts   []part
	opened  Diagnostic // what to say when it is never closed
}

// part is a line of a field and what joins it to the one before.
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
			"this prompt has no closing underscore: it was read up to where the next thing begins")
	}
}

// takes reports whether the open field goes on with the line.
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
	// Text that is not indented more than its field is told from the next
	// field only by how that one begins.
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

// goOn adds the line to the open field and closes it at its underscore.
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
	// A field that is quoted in the text closes itself.
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

// closeField stores the open field, if there is one.
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

package hostconfig

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// This file decides where in a JSON text an entry goes, and what is removed with it.
//
// Removal must restore the old text, and only the text itself shows what was inserted. So there are three ways to
// insert, which removal can distinguish:
//
//   - after the last member of an object with members;
//   - directly after the brace of an empty object, whose inside stays as it is;
//   - in a new object, with white space after the brace. Such an object is removed with its last member.

func (jsonc) fresh(at spot, fields []field) string {
	s := style{newline: "\n", unit: "  ", space: " "}
	return s.document(at, fields) + s.newline
}

func (jsonc) nothing() string { return "{}\n" }

func (s style) document(at spot, fields []field) string {
	return "{" + s.newline + s.unit + s.lines(at.path(), fields, s.unit) + s.newline + "}"
}

func (jsonc) put(text string, at spot, fields []field) (string, error) {
	d, err := readJSON(text)
	if err != nil {
		return "", err
	}
	if d.root == nil { // without an end of line, as opposed to a file that was not there
		return d.bom + d.body + d.style.document(at, fields), nil
	}
	levels, err := d.walk(at.path())
	if err != nil {
		return "", err
	}
	last := levels[len(levels)-1]
	return d.bom + d.insert(last, at.path()[len(levels)-1:], fields), nil
}

// insert adds the next member of the path to an object.
func (d *jsonDoc) insert(l level, path []string, fields []field) string {
	members := l.object.Members
	if len(members) == 0 {
		brace := l.value.StartOffset + 1
		return d.body[:brace] + d.style.line(path, fields) + d.body[brace:]
	}
	last := members[len(members)-1]
	indent, own := indentOf(last.Name.BeforeExtra)
	inside := l.value.EndOffset - 1 - len(l.object.AfterExtra) // start of the text before the closing brace
	remarks := trimRight(l.object.AfterExtra)
	sep, member := d.style.newline+indent, ""
	if own || bytes.Contains(remarks, []byte("//")) {
		member = d.style.lines(path, fields, indent)
	} else {
		sep, member = d.style.space, d.style.line(path, fields)
	}
	here := inside + len(remarks)
	if last.Value.AfterExtra != nil { // the last one has a comma, too
		return d.body[:here] + sep + member + "," + d.body[here:]
	}
	comma := last.Value.EndOffset
	return d.body[:comma] + "," + d.body[comma:here] + sep + member + d.body[here:]
}

func trimRight(extra []byte) []byte { return bytes.TrimRight(extra, " \t\r\n") }

func (jsonc) replace(text string, at spot, fields []field) (string, error) {
	d, err := readJSON(text)
	if err != nil {
		return "", err
	}
	levels, err := d.walk(at.path())
	if err != nil {
		return "", err
	}
	last := levels[len(levels)-1]
	m := last.object.Members[last.next]
	value := d.style.flat(fields)
	if indent, own := indentOf(m.Name.BeforeExtra); own {
		value = "{" + d.style.newline + d.style.body(fields, indent+d.style.unit) + d.style.newline + indent + "}"
	}
	return d.bom + d.body[:m.Value.StartOffset] + value + d.body[m.Value.EndOffset:], nil
}

func (jsonc) amend(text string, at spot, fields []field) (string, error) {
	// The last field goes first, because each missing field is inserted in front.
	for _, f := range slices.Backward(fields) {
		d, err := readJSON(text)
		if err != nil {
			return "", err
		}
		levels, err := d.walk(append(at.path(), f.name))
		if err != nil {
			return "", err
		}
		text = d.bom + d.set(levels[len(levels)-1], f)
	}
	return text, nil
}

// set returns an object with this member, in place of one of the same name if there is one.
func (d *jsonDoc) set(l level, f field) string {
	if l.next >= 0 {
		old := l.object.Members[l.next].Value
		if written(old, f.value) {
			return d.body
		}
		return d.body[:old.StartOffset] + d.style.value(f.value) + d.body[old.EndOffset:]
	}
	first := l.object.Members[0].Name
	sep := "," + d.style.space
	if indent, own := indentOf(first.BeforeExtra); own {
		sep = "," + d.style.newline + indent
	}
	member := quote(f.name) + ":" + d.style.space + d.style.value(f.value)
	return d.body[:first.StartOffset] + member + sep + d.body[first.StartOffset:]
}

// written reports whether a value means the same as a field, in any spelling.
func written(v hujson.Value, want any) bool {
	v = v.Clone()
	v.Standardize()
	var there any
	return json.Unmarshal(v.Pack(), &there) == nil && same(there, plainValue(want))
}

func (jsonc) take(text string, at spot) (string, bool, error) {
	d, err := readJSON(text)
	if err != nil {
		return "", false, err
	}
	levels, err := d.walk(at.path())
	if err != nil {
		return "", false, err
	}
	for i := len(levels) - 1; i > 0; i-- {
		if !d.made(levels[i]) {
			return d.bom + d.remove(levels[i]), false, nil
		}
	}
	if !d.made(levels[0]) {
		return d.bom + d.remove(levels[0]), false, nil
	}
	around := d.body[:d.root.StartOffset] + d.body[d.root.EndOffset:]
	switch {
	case strings.Trim(around, " \t\r\n") != "":
		return d.bom + d.remove(levels[0]), false, nil
	case d.root.EndOffset == len(d.body):
		return d.bom + around, false, nil
	}
	return "", true, nil
}

// made reports whether an object was created for its only member.
func (d *jsonDoc) made(l level) bool {
	if len(l.object.Members) != 1 {
		return false
	}
	m := l.object.Members[0]
	before, after := m.Name.BeforeExtra, l.object.AfterExtra
	return len(before) > 0 && len(after) > 0 && blank(before) && blank(after) && m.Value.AfterExtra == nil
}

func blank(extra hujson.Extra) bool { return len(trimRight(extra)) == 0 }

// remove removes a member and a comma that is then superfluous. Comments stay.
func (d *jsonDoc) remove(l level) string {
	m := l.object.Members[l.next]
	begin, end := m.Name.StartOffset, m.Value.EndOffset
	if comma := end + len(m.Value.AfterExtra); d.body[comma] == ',' {
		end = comma + 1
	}
	if len(l.object.Members) == 1 {
		return d.body[:begin] + d.body[end:]
	}
	begin -= len(m.Name.BeforeExtra) - len(trimRight(m.Name.BeforeExtra))
	rest := strings.TrimLeft(d.body[end:], " \t\r")
	if bytes.Contains(m.Name.BeforeExtra, []byte("//")) && !strings.HasPrefix(rest, "\n") {
		begin = m.Name.StartOffset // the following text must not become part of the comment
	}
	if d.body[end-1] == ',' || l.next == 0 {
		return d.body[:begin] + d.body[end:]
	}
	previous := l.object.Members[l.next-1].Value
	comma := previous.EndOffset + len(previous.AfterExtra)
	return d.body[:comma] + d.body[comma+1:begin] + d.body[end:]
}

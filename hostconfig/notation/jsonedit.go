package notation

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

func (JSON) Fresh(at Spot, fields []Field) string {
	s := style{newline: "\n", unit: "  ", space: " "}
	return s.document(at, fields) + s.newline
}

func (JSON) Nothing() string { return "{}\n" }

func (s style) document(at Spot, fields []Field) string {
	return "{" + s.newline + s.unit + s.nested(at.Path(), s.unit, true, s.entry(fields)) + s.newline + "}"
}

func (JSON) Put(text string, at Spot, fields []Field) (string, error) {
	d, err := readJSON(text)
	if err != nil {
		return "", err
	}
	if d.root == nil { // without an end of line, as opposed to a file that was not there
		return d.bom + d.body + d.style.document(at, fields), nil
	}
	levels, err := d.walk(at.Path())
	if err != nil {
		return "", err
	}
	return d.bom + d.insert(levels[len(levels)-1], at.Path()[len(levels)-1:], d.style.entry(fields)), nil
}

// insert adds a value to an object, as the next member of the path, or to a list, where the path is empty.
func (d *jsonDoc) insert(l level, path []string, v written) string {
	if len(l.items) == 0 {
		bracket := l.value.StartOffset + 1
		return d.body[:bracket] + d.style.nested(path, "", false, v) + d.body[bracket:]
	}
	last := l.items[len(l.items)-1]
	indent, own := indentOf(last.before)
	inside := l.value.EndOffset - 1 - len(l.after) // start of the text before the closing bracket
	remarks := trimRight(l.after)
	own = own || bytes.Contains(remarks, []byte("//"))
	sep := d.style.space
	if own {
		sep = d.style.newline + indent
	}
	added := d.style.nested(path, indent, own, v)
	here := inside + len(remarks)
	if last.value.AfterExtra != nil { // the last one has a comma, too
		return d.body[:here] + sep + added + "," + d.body[here:]
	}
	comma := last.value.EndOffset
	return d.body[:comma] + "," + d.body[comma:here] + sep + added + d.body[here:]
}

func trimRight(extra []byte) []byte { return bytes.TrimRight(extra, " \t\r\n") }

func (JSON) Replace(text string, at Spot, fields []Field) (string, error) {
	d, err := readJSON(text)
	if err != nil {
		return "", err
	}
	levels, err := d.walk(at.Path())
	if err != nil {
		return "", err
	}
	last := levels[len(levels)-1]
	m := last.items[last.next]
	indent, own := indentOf(m.before)
	return d.bom + d.body[:m.value.StartOffset] + d.style.entry(fields)(indent, own) + d.body[m.value.EndOffset:], nil
}

func (JSON) Amend(text string, at Spot, fields []Field) (string, error) {
	// The last Field goes first, because each missing Field is inserted in front.
	for _, f := range slices.Backward(fields) {
		d, err := readJSON(text)
		if err != nil {
			return "", err
		}
		levels, err := d.walk(append(at.Path(), f.Name))
		if err != nil {
			return "", err
		}
		text = d.bom + d.set(levels[len(levels)-1], f)
	}
	return text, nil
}

// set returns an object with this member, in place of one of the same name if there is one.
func (d *jsonDoc) set(l level, f Field) string {
	if l.next >= 0 {
		old := l.items[l.next].value
		if says(old, f.Value) {
			return d.body
		}
		return d.body[:old.StartOffset] + d.style.value(f.Value) + d.body[old.EndOffset:]
	}
	first := l.items[0]
	sep := "," + d.style.space
	if indent, own := indentOf(first.before); own {
		sep = "," + d.style.newline + indent
	}
	member := quote(f.Name) + ":" + d.style.space + d.style.value(f.Value)
	return d.body[:first.begin] + member + sep + d.body[first.begin:]
}

// says reports whether a value means the same as a Field, in any spelling.
func says(v *hujson.Value, want any) bool {
	there, ok := decoded(v)
	return ok && Same(there, plainValue(want))
}

func (JSON) Take(text string, at Spot) (string, bool, error) {
	d, err := readJSON(text)
	if err != nil {
		return "", false, err
	}
	levels, err := d.walk(at.Path())
	if err != nil {
		return "", false, err
	}
	rest, whole := d.takeLast(levels)
	return rest, whole, nil
}

// takeLast removes the last item of a path, and what was made around it.
func (d *jsonDoc) takeLast(levels []level) (rest string, whole bool) {
	for i := len(levels) - 1; i >= 0; i-- {
		if !d.made(levels[i]) {
			return d.bom + d.remove(levels[i]), false
		}
	}
	around := d.body[:d.root.StartOffset] + d.body[d.root.EndOffset:]
	switch {
	case strings.Trim(around, " \t\r\n") != "":
		return d.bom + d.remove(levels[0]), false
	case d.root.EndOffset == len(d.body):
		return d.bom + around, false
	}
	return "", true
}

// made reports whether an object or a list was created for its only item.
func (d *jsonDoc) made(l level) bool {
	if len(l.items) != 1 {
		return false
	}
	only := l.items[0]
	return len(only.before) > 0 && len(l.after) > 0 && blank(only.before) && blank(l.after) && only.value.AfterExtra == nil
}

func blank(extra hujson.Extra) bool { return len(trimRight(extra)) == 0 }

// remove removes an item and a comma that is then superfluous. Comments stay.
func (d *jsonDoc) remove(l level) string {
	m := l.items[l.next]
	begin, end := m.begin, m.value.EndOffset
	if comma := end + len(m.value.AfterExtra); d.body[comma] == ',' {
		end = comma + 1
	}
	if len(l.items) == 1 {
		return d.body[:begin] + d.body[end:]
	}
	begin -= len(m.before) - len(trimRight(m.before))
	rest := strings.TrimLeft(d.body[end:], " \t\r")
	if bytes.Contains(m.before, []byte("//")) && !strings.HasPrefix(rest, "\n") {
		begin = m.begin // the following text must not become part of the comment
	}
	if d.body[end-1] == ',' || l.next == 0 {
		return d.body[:begin] + d.body[end:]
	}
	previous := l.items[l.next-1].value
	comma := previous.EndOffset + len(previous.AfterExtra)
	return d.body[:comma] + d.body[comma+1:begin] + d.body[end:]
}

// decoded returns the content of a value, as tree would.
func decoded(v *hujson.Value) (content any, ok bool) {
	standard := v.Clone()
	standard.Standardize()
	decoder := json.NewDecoder(bytes.NewReader(standard.Pack()))
	decoder.UseNumber()
	return content, decoder.Decode(&content) == nil
}

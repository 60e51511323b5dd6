package notation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tailscale/hujson"
)

// This file reads JSON with comments and trailing commas. jsonstyle.go writes an entry; jsonedit.go decides its
// place.

const bom = "\ufeff"

// mostBrackets limits the depth of a text, and so the stack of the parser.
const mostBrackets = 1 << 18

// JSON is the notation of all hosts but Codex.
type JSON struct{}

// A jsonDoc is a parsed text. All offsets are those in body.
type jsonDoc struct {
	bom   string
	body  string
	root  *hujson.Value // nil if the body is blank
	style style
}

// readJSON reads a text that is blank or has an object at its root.
func readJSON(text string) (*jsonDoc, error) {
	d := &jsonDoc{}
	d.body = strings.TrimPrefix(text, bom)
	d.bom = text[:len(text)-len(d.body)]
	if isBlank(d.body) {
		d.style = styleOf(d.body, nil)
		return d, nil
	}
	if strings.Count(d.body, "[")+strings.Count(d.body, "{") > mostBrackets {
		return nil, &SyntaxError{Line: 1, Column: 1, Reason: "the file nests brackets too deeply"}
	}
	// The parser needs a line end after a comment, which the last line may lack.
	root, err := hujson.Parse([]byte(d.body + "\n"))
	if err != nil {
		return nil, d.syntaxError(err)
	}
	d.root = &root
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, d.at(root.StartOffset, "an object is expected here")
	}
	d.style = styleOf(d.body, object)
	return d, nil
}

// syntaxError takes the position out of the parser's message, its only place.
func (d *jsonDoc) syntaxError(err error) error {
	e := &SyntaxError{Line: 1, Column: 1}
	e.Reason = strings.TrimPrefix(err.Error(), "hujson: ")
	if n, _ := fmt.Sscanf(e.Reason, "line %d, column %d:", &e.Line, &e.Column); n == 2 {
		_, e.Reason, _ = strings.Cut(e.Reason, ": ")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		e.Line, e.Column = lineColumn(d.body, len(d.body))
		e.Reason = "the file ends too early"
	}
	return e
}

// at returns an error about an offset.
func (d *jsonDoc) at(offset int, reason string) error {
	line, column := lineColumn(d.body, offset)
	return &SyntaxError{Line: line, Column: column, Reason: reason}
}

// lineColumn counts from 1, columns in bytes.
func lineColumn(text string, offset int) (line, column int) {
	before := text[:min(offset, len(text))]
	return 1 + strings.Count(before, "\n"), len(before) - strings.LastIndexByte(before, '\n')
}

// A level is an object or a list on the path to the entry.
type level struct {
	value *hujson.Value
	items []item
	after hujson.Extra // before the closing bracket
	next  int          // index of the item on the path, or -1
}

// An item is a member of an object, or an element of a list.
type item struct {
	name   string       // of a member
	begin  int          // offset of the name or the element
	before hujson.Extra // before that
	value  *hujson.Value
}

// levelOf returns the object or list of a value, or false. The result has no next item.
func levelOf(value *hujson.Value, list bool) (level, bool) {
	l := level{value: value, next: -1}
	switch inner := value.Value.(type) {
	case *hujson.Object:
		l.after = inner.AfterExtra
		for i := range inner.Members {
			m := &inner.Members[i]
			l.items = append(l.items, item{m.Name.Value.(hujson.Literal).String(), m.Name.StartOffset, m.Name.BeforeExtra, &m.Value})
		}
		return l, !list
	case *hujson.Array:
		l.after = inner.AfterExtra
		for i := range inner.Elements {
			e := &inner.Elements[i]
			l.items = append(l.items, item{"", e.StartOffset, e.BeforeExtra, e})
		}
		return l, list
	}
	return l, false
}

// walk follows a path through objects. The last level has the last member of the path, or lacks the next one.
func (d *jsonDoc) walk(path []string) ([]level, error) {
	var levels []level
	value := d.root
	for _, key := range path {
		if value == nil {
			return levels, nil
		}
		l, ok := levelOf(value, false)
		if !ok {
			return nil, d.at(value.StartOffset, "an object is expected here, for "+key)
		}
		var err error
		if l.next, err = d.member(l, key); err != nil {
			return nil, err
		}
		levels = append(levels, l)
		if l.next < 0 {
			return levels, nil
		}
		value = l.items[l.next].value
	}
	return levels, nil
}

// member returns the index of the member with the name, or -1. Two such members are an error, because hosts differ in
// which one they use.
func (d *jsonDoc) member(object level, name string) (int, error) {
	at := -1
	for i, m := range object.items {
		if m.name != name {
			continue
		}
		if at >= 0 {
			first, _ := lineColumn(d.body, object.items[at].begin)
			return -1, d.at(m.begin, fmt.Sprintf("%q occurs twice, first on line %d: remove one", name, first))
		}
		at = i
	}
	return at, nil
}

func (JSON) Find(text string, at Spot) (*Found, error) {
	d, err := readJSON(text)
	if err != nil {
		return nil, err
	}
	levels, err := d.walk(at.Path())
	if err != nil || len(levels) < len(at.Path()) {
		return nil, err
	}
	last := levels[len(levels)-1]
	if last.next < 0 {
		return nil, nil
	}
	m := last.items[last.next]
	f := &Found{Text: d.body[m.begin:m.value.EndOffset]}
	f.Line, _ = lineColumn(d.body, m.begin)
	tree, err := JSON{}.Tree(text)
	if err != nil {
		return nil, err
	}
	for _, key := range at.Keys {
		tree, _ = tree[key].(map[string]any)
	}
	f.Value, _ = tree[at.Name].(map[string]any)
	return f, nil
}

func (JSON) Tree(text string) (map[string]any, error) {
	d, err := readJSON(text)
	if err != nil || d.root == nil {
		return nil, err
	}
	standard := d.root.Clone()
	standard.Standardize()
	decoder := json.NewDecoder(bytes.NewReader(standard.Pack()))
	decoder.UseNumber()
	var tree map[string]any
	if err := decoder.Decode(&tree); err != nil {
		return nil, d.at(d.root.StartOffset, err.Error())
	}
	return tree, nil
}

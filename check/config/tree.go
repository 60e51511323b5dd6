package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"waybill/internal/lazy"
	"waybill/internal/lazyregexp"
)

// A place is a line and a column of a file, both from 1.
type place struct{ line, column int }

// A kind is a kind of TOML value.
type kind int

const (
	text kind = iota + 1
	number
	boolean
	date
	list
	table
)

// A value is a TOML value with its place.
type value struct {
	place
	kind    kind
	text    string // of a text, its content; of other plain values, their spelling
	list    []*value
	members []member // of a table, in their order
}

// A member is a key of a table with its value.
type member struct {
	place
	key   string
	value *value
}

// readTree returns the content of a file as a table, or its first syntax error.
func readTree(file []byte) (*value, *Mistake) {
	file = bytes.TrimPrefix(file, []byte("\ufeff")) // as some editors put in front
	if fault := syntaxOf(file); fault != nil {
		return nil, fault
	}
	b := builder{file: file, root: &value{place: place{1, 1}, kind: table}}
	b.parser.Reset(file)
	at := b.root
	for b.parser.NextExpression() {
		if e := b.parser.Expression(); e.Kind == unstable.KeyValue {
			b.put(at, e)
		} else { // a header; the parser keeps no comments
			at = b.below(b.root, b.keys(e), e.Kind == unstable.ArrayTable)
		}
	}
	return b.root, nil
}

// syntaxOf returns the first error in the syntax of a file, or nil.
func syntaxOf(file []byte) *Mistake {
	for at := 0; at < len(file); {
		r, size := utf8.DecodeRune(file[at:])
		if r == utf8.RuneError && size == 1 {
			p := placeAt(file, at)
			return &Mistake{p.line, p.column, "the file is not UTF-8 here: save it as UTF-8"}
		}
		at += size
	}
	err := toml.Unmarshal(file, &map[string]any{})
	if err == nil {
		return nil
	}
	fault, ok := errors.AsType[*toml.DecodeError](err)
	if !ok {
		return &Mistake{1, 1, strings.TrimPrefix(err.Error(), "toml: ")}
	}
	line, column := fault.Position()
	wrong, _, _ := strings.Cut(lineOf(file, line), "\n")
	wrong = strings.TrimSuffix(wrong, "\r")
	column = 1 + utf8.RuneCountInString(wrong[:min(max(column-1, 0), len(wrong))])
	return &Mistake{line, column, strings.TrimPrefix(fault.Error(), "toml: ") + instead(wrong)}
}

// lineOf returns the file from a line on.
func lineOf(file []byte, line int) string {
	rest := string(file)
	for ; line > 1; line-- {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return rest
}

// bareValue matches a line whose value lacks its quotes, and brokenHeader one whose brackets do not match.
var (
	bareValue    = lazyregexp.New(`^\s*([A-Za-z_]+)\s*=\s*([^\s"'\[{#][^"'#]*?)\s*(#.*)?$`)
	brokenHeader = lazyregexp.New(`^\s*\[+\s*check\s*\]*\s*$`)
)

// instead says what to write in the place of a line with a syntax error, or "".
func instead(line string) string {
	if found := bareValue.Compiled().FindStringSubmatch(line); found != nil {
		return fmt.Sprintf(`: write %s = "%s"`, found[1], found[2])
	}
	if brokenHeader.Compiled().MatchString(line) {
		return ": write [[check]]"
	}
	return ""
}

// A builder builds the tree of a file without syntax errors.
type builder struct {
	file   []byte
	parser unstable.Parser
	root   *value
}

// placeAt returns the place of a byte of a file.
func placeAt(file []byte, offset int) place {
	begin := bytes.LastIndexByte(file[:offset], '\n') + 1
	return place{1 + bytes.Count(file[:begin], []byte{'\n'}), 1 + utf8.RuneCount(file[begin:offset])}
}

func (b *builder) keys(e *unstable.Node) (keys []member) {
	for parts := e.Key(); parts.Next(); {
		part := parts.Node()
		keys = append(keys, member{place: placeAt(b.file, int(part.Raw.Offset)), key: string(part.Data)})
	}
	return keys
}

// below returns the table at a path, and creates it. With item, the path names a list, to which it adds a table.
func (b *builder) below(at *value, path []member, item bool) *value {
	for i, step := range path {
		next := at.member(step.key)
		last := i == len(path)-1
		if next == nil {
			next = &value{place: step.place, kind: table}
			if last && item {
				next.kind = list
			}
			at.members = append(at.members, member{step.place, step.key, next})
		}
		if last && item {
			next.list = append(next.list, &value{place: step.place, kind: table})
		}
		if next.kind == list && len(next.list) > 0 {
			next = next.list[len(next.list)-1]
		}
		at = next
	}
	return at
}

// put adds a key with its value to a table. The key may have dots.
func (b *builder) put(at *value, e *unstable.Node) {
	keys := b.keys(e)
	last := keys[len(keys)-1]
	last.value = b.value(e.Value(), last.place)
	at = b.below(at, keys[:len(keys)-1], false)
	at.members = append(at.members, last)
}

// value returns the value of a node. The parser knows no place of a list, so that it gets the one of its key.
func (b *builder) value(n *unstable.Node, key place) *value {
	v := &value{place: key, kind: kinds.Get()[n.Kind], text: string(n.Data)}
	if n.Raw.Length > 0 {
		v.place = placeAt(b.file, int(n.Raw.Offset))
	}
	for children := n.Children(); children.Next(); {
		if child := children.Node(); v.kind == table {
			b.put(v, child)
		} else {
			v.list = append(v.list, b.value(child, key))
		}
	}
	return v
}

var kinds = lazy.Value[map[unstable.Kind]kind]{Of: func() map[unstable.Kind]kind {
	return map[unstable.Kind]kind{
		unstable.String: text, unstable.Integer: number, unstable.Float: number, unstable.Bool: boolean, unstable.Array: list,
		unstable.InlineTable: table, unstable.LocalDate: date, unstable.LocalTime: date, unstable.LocalDateTime: date, unstable.DateTime: date,
	}
}}

// member returns the value of a key, or nil.
func (v *value) member(key string) *value {
	for _, m := range v.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

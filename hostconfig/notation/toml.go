package notation

import (
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// TOML is the notation of Codex. An entry is a table with a header of its own at the end of the file, which TOML
// allows. A blank line precedes it, and the last line end of the file stays after it, so that removal restores the
// file exactly.
type TOML struct{}

func (TOML) Fresh(at Spot, fields []Field) string { return table(at, fields, "\n") + "\n" }

func (TOML) Nothing() string { return "" }

// table returns an entry. Names and keys need no quotes, and JSON strings without DEL are TOML strings.
func table(at Spot, fields []Field, newline string) string {
	lines := []string{"[" + strings.Join(at.Path(), ".") + "]"}
	for _, f := range fields {
		lines = append(lines, f.Name+" = "+tomlValue(f.Value))
	}
	return strings.Join(lines, newline)
}

func tomlValue(v any) string {
	return strings.ReplaceAll(style{space: " "}.value(v), "\x7f", `\u007F`)
}

func (TOML) Tree(text string) (map[string]any, error) {
	tree := map[string]any{}
	err := toml.Unmarshal([]byte(strings.TrimPrefix(text, bom)), &tree)
	if err == nil {
		return tree, nil
	}
	e := &SyntaxError{Line: 1, Column: 1, Reason: strings.TrimPrefix(err.Error(), "toml: ")}
	if where, ok := errors.AsType[*toml.DecodeError](err); ok {
		e.Line, e.Column = where.Position()
	}
	return nil, e
}

func (t TOML) Find(text string, at Spot) (*Found, error) {
	tree, err := t.Tree(text)
	if err != nil {
		return nil, err
	}
	for _, key := range at.Keys {
		inner, ok := tree[key].(map[string]any)
		if _, there := tree[key]; there && !ok {
			return nil, &SyntaxError{Line: lineOf(text, []string{key}), Column: 1, Reason: "a table is expected for " + key}
		}
		tree = inner
	}
	value, there := tree[at.Name]
	if !there {
		return nil, nil
	}
	f := &Found{Line: lineOf(text, at.Path())}
	f.Value, _ = value.(map[string]any)
	for _, s := range spans(text, at.Path()) {
		f.Text += text[s.begin:s.end]
	}
	return f, nil
}

func (t TOML) Put(text string, at Spot, fields []Field) (string, error) {
	newline := newlineOf(text)
	entry := table(at, fields, newline)
	if strings.TrimPrefix(text, bom) == "" {
		return text + entry, nil
	}
	before := strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	return before + newline + newline + entry + text[len(before):], nil
}

func (t TOML) Replace(text string, at Spot, fields []Field) (string, error) {
	parts, err := ownTables(text, at)
	if err != nil {
		return "", err
	}
	newline := newlineOf(text)
	first := parts[0]
	for _, s := range slices.Backward(parts[1:]) {
		text = text[:s.begin] + text[s.end:]
	}
	return text[:first.begin] + table(at, fields, newline) + text[first.end:], nil
}

func (t TOML) Amend(text string, at Spot, fields []Field) (string, error) {
	there, err := t.Find(text, at)
	if err != nil {
		return "", err
	}
	for _, f := range fields {
		if there.Holds([]Field{f}) {
			continue
		}
		path := append(at.Path(), f.Name)
		all := expressions(text)
		i := slices.IndexFunc(all, func(e expression) bool { return !e.header && slices.Equal(e.path, path) })
		if i >= 0 {
			value := all[i].value
			text = text[:value.begin] + tomlValue(f.Value) + text[value.end:]
			continue
		}
		parts := spans(text, at.Path())
		if _, there := there.Value[f.Name]; there || len(parts) == 0 || !slices.ContainsFunc(all, func(e expression) bool {
			return e.header && e.begin == parts[0].begin && slices.Equal(e.path, at.Path())
		}) {
			return "", noTable(text, at)
		}
		end := parts[0].end // its subtables are parts of their own
		text = text[:end] + newlineOf(text) + f.Name + " = " + tomlValue(f.Value) + text[end:]
	}
	return text, nil
}

func (t TOML) Take(text string, at Spot) (string, bool, error) {
	parts, err := ownTables(text, at)
	if err != nil {
		return "", false, err
	}
	body := strings.TrimPrefix(text, bom)
	if s := parts[0]; len(parts) == 1 && s.begin == len(text)-len(body) && strings.Trim(text[s.end:], "\r\n") == "" {
		if s.end == len(text) {
			return text[:s.begin], false, nil
		}
		return "", true, nil
	}
	for _, s := range slices.Backward(parts) {
		text = cut(text, s)
	}
	return text, false, nil
}

// cut removes a table with the blank line before it, or after it at the start of a file.
func cut(text string, s span) string {
	before, after := text[:s.begin], text[s.end:]
	if strings.TrimPrefix(before, bom) == "" {
		return before + strings.TrimLeft(after, "\r\n")
	}
	for range 2 {
		before = strings.TrimSuffix(strings.TrimSuffix(before, "\n"), "\r")
	}
	return before + after
}

// newlineOf returns the end of a line of a text.
func newlineOf(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// A span is the lines of a table, without the last line end.
type span struct{ begin, end int }

// ownTables returns the tables of an entry that contain nothing else.
func ownTables(text string, at Spot) ([]span, error) {
	parts := spans(text, at.Path())
	for _, e := range expressions(text) {
		if !e.header && prefixed(e.path, at.Path()) && !slices.ContainsFunc(parts, func(s span) bool { return s.begin <= e.begin && e.end <= s.end }) {
			parts = nil
		}
	}
	if len(parts) == 0 {
		return nil, noTable(text, at)
	}
	return parts, nil
}

func noTable(text string, at Spot) error {
	return &SyntaxError{
		Line: lineOf(text, at.Path()), Column: 1, Reason: at.Name + " is not a table with its own header: edit it by hand",
	}
}

// spans returns the tables at a path and below it.
func spans(text string, path []string) (parts []span) {
	inside := false
	for _, e := range expressions(text) {
		if e.header {
			if inside = prefixed(e.path, path); inside {
				parts = append(parts, span{e.begin, e.end})
			}
		} else if inside {
			parts[len(parts)-1].end = e.end
		}
	}
	return parts
}

// lineOf returns the line of the first expression on a path, or 1.
func lineOf(text string, path []string) int {
	for _, e := range expressions(text) {
		if prefixed(e.path, path) || (!e.header && prefixed(path, e.path)) {
			line, _ := lineColumn(text, e.begin)
			return line
		}
	}
	return 1
}

func prefixed(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// An expression is a header or a key with its value, which may be several lines.
type expression struct {
	header     bool
	path       []string // from the root
	begin, end int      // whole lines, without the last end of line
	value      span     // zero for a header
}

// expressions returns the expressions of a text, which must be valid TOML.
func expressions(text string) (all []expression) {
	body := strings.TrimPrefix(text, bom)
	skip := len(text) - len(body)
	var table []string
	var p unstable.Parser
	p.Reset([]byte(body))
	for p.NextExpression() {
		node := p.Expression()
		e := expression{header: node.Kind == unstable.Table || node.Kind == unstable.ArrayTable}
		last := 0
		for keys := node.Key(); keys.Next(); {
			key := keys.Node()
			e.path = append(e.path, string(key.Data))
			last = max(last, int(key.Raw.Offset+key.Raw.Length))
			if len(e.path) == 1 {
				e.begin = skip + strings.LastIndexByte(body[:key.Raw.Offset], '\n') + 1
			}
		}
		if e.header {
			table = slices.Clone(e.path)
		} else {
			e.path = append(slices.Clone(table), e.path...)
			begin := last + strings.IndexByte(body[last:], '=') + 1
			last = int(node.Raw.Offset + node.Raw.Length)
			begin = last - len(strings.TrimLeft(body[begin:last], " \t"))
			e.value = span{skip + begin, skip + last}
		}
		e.end = skip + endOfLine(body, last)
		all = append(all, e)
	}
	return all
}

// endOfLine returns the offset of the end of the line at an offset.
func endOfLine(text string, offset int) int {
	end := strings.IndexByte(text[offset:], '\n')
	if end < 0 {
		return len(text)
	}
	if end += offset; end > 0 && text[end-1] == '\r' {
		end--
	}
	return end
}

package hostconfig

import (
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFile is the notation of Codex. An entry is a table with a header of its own at the end of the file, which TOML
// allows. A blank line precedes it, and the last line end of the file stays after it, so that removal restores the
// file exactly.
type tomlFile struct{}

func (tomlFile) fresh(at spot, fields []field) string { return table(at, fields, "\n") + "\n" }

func (tomlFile) nothing() string { return "" }

// table returns an entry. Names and keys need no quotes, and JSON strings without DEL are TOML strings.
func table(at spot, fields []field, newline string) string {
	lines := []string{"[" + strings.Join(at.path(), ".") + "]"}
	for _, f := range fields {
		lines = append(lines, f.name+" = "+tomlValue(f.value))
	}
	return strings.Join(lines, newline)
}

func tomlValue(v any) string {
	return strings.ReplaceAll(style{space: " "}.value(v), "\x7f", `\u007F`)
}

func (tomlFile) tree(text string) (map[string]any, error) {
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

func (t tomlFile) find(text string, at spot) (*found, error) {
	tree, err := t.tree(text)
	if err != nil {
		return nil, err
	}
	for _, key := range at.keys {
		inner, ok := tree[key].(map[string]any)
		if _, there := tree[key]; there && !ok {
			return nil, &SyntaxError{Line: lineOf(text, []string{key}), Column: 1, Reason: "a table is expected for " + key}
		}
		tree = inner
	}
	value, there := tree[at.name]
	if !there {
		return nil, nil
	}
	f := &found{line: lineOf(text, at.path())}
	f.value, _ = value.(map[string]any)
	for _, s := range spans(text, at.path()) {
		f.text += text[s.begin:s.end]
	}
	return f, nil
}

func (t tomlFile) put(text string, at spot, fields []field) (string, error) {
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	entry := table(at, fields, newline)
	if strings.TrimPrefix(text, bom) == "" {
		return text + entry, nil
	}
	before := strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	return before + newline + newline + entry + text[len(before):], nil
}

func (t tomlFile) replace(text string, at spot, fields []field) (string, error) {
	parts, err := ownTables(text, at)
	if err != nil {
		return "", err
	}
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	first := parts[0]
	for _, s := range slices.Backward(parts[1:]) {
		text = text[:s.begin] + text[s.end:]
	}
	return text[:first.begin] + table(at, fields, newline) + text[first.end:], nil
}

func (t tomlFile) amend(text string, at spot, fields []field) (string, error) {
	there, err := t.find(text, at)
	if err != nil {
		return "", err
	}
	for _, f := range fields {
		if there.holds([]field{f}) {
			continue
		}
		path := append(at.path(), f.name)
		all := expressions(text)
		i := slices.IndexFunc(all, func(e expression) bool { return !e.header && slices.Equal(e.path, path) })
		if i < 0 {
			return "", noTable(text, at)
		}
		value := all[i].value
		text = text[:value.begin] + tomlValue(f.value) + text[value.end:]
	}
	return text, nil
}

func (t tomlFile) take(text string, at spot) (string, bool, error) {
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

// A span is the lines of a table, without the last line end.
type span struct{ begin, end int }

// ownTables returns the tables of an entry that contain nothing else.
func ownTables(text string, at spot) ([]span, error) {
	parts := spans(text, at.path())
	for _, e := range expressions(text) {
		if !e.header && prefixed(e.path, at.path()) && !slices.ContainsFunc(parts, func(s span) bool { return s.begin <= e.begin && e.end <= s.end }) {
			parts = nil
		}
	}
	if len(parts) == 0 {
		return nil, noTable(text, at)
	}
	return parts, nil
}

func noTable(text string, at spot) error {
	return &SyntaxError{
		Line: lineOf(text, at.path()), Column: 1, Reason: at.name + " is not a table with its own header: edit it by hand",
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

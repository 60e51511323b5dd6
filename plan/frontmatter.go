package plan

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// This file parses front matter: YAML between two lines "---" at the beginning of a file. The parser uses only the
// node tree, which has all positions and keeps values as written (1.10 stays 1.10). It refuses an alias without
// following it, because a few bytes of aliases can expand to gigabytes.

// mostFront limits the bytes that the YAML parser reads.
const mostFront = 64 << 10

// yamlNode is a value in front matter.
type yamlNode = yaml.Node

// front is the front matter of a file.
type front struct {
	text     string // of the plan
	from, to int    // of the YAML
	body     int    // the offset after it
	fields   *yaml.Node
	// fault explains why front matter has no fields, or is "". faultAt is its offset in the text.
	fault   string
	faultAt int
	// twice is a key that occurs a second time, or nil.
	twice *yaml.Node
}

// bodyOf skips the lines before the content of a file: a byte order mark, blank lines, and the comment that sets the
// dialect.
func bodyOf(text string) int {
	if text != "" && solid(text[0]) && text[0] != commentMark[0] {
		return 0 // the usual case needs no look at the lines
	}
	c := newCursor(text)
	for {
		start, end, ok := c.next()
		if !ok {
			return len(text)
		}
		ln := trim(text[start:end])
		comment, isComment := strings.CutPrefix(ln, "<!--")
		if _, sets := overriding(strings.TrimSuffix(comment, "-->")); ln != "" && !(isComment && sets) {
			return start
		}
	}
}

// readFront parses the front matter of text[from:to]. ok is false if there is none.
func readFront(text string, from, to int) (f front, ok bool) {
	at := from + bodyOf(text[from:to])
	c := cursor{src: text[:to], pos: at, lf: -1, cr: -1}
	start, end, ok := c.next()
	if !ok || trimRight(text[start:end]) != "---" {
		return front{body: at}, false
	}
	f = front{text: text, from: min(c.pos, to), body: to}
	for {
		start, end, ok = c.next()
		if !ok || start-f.from > mostFront {
			f.fault, f.faultAt = fmt.Sprintf("the front matter is not closed by a line \"---\" within %d KiB", mostFront>>10), at
			return f, true
		}
		if trimRight(text[start:end]) == "---" {
			break
		}
	}
	f.to, f.body = start, min(c.pos, to) // the last line may have no line end
	f.decode()
	return f, true
}

func (f *front) decode() {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(f.text[f.from:f.to]), &doc); err != nil {
		f.fault, f.faultAt = "the front matter is not valid YAML: "+clip(singleSpaced(withoutLine(err.Error()))), f.errorAt(err.Error())
		return
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		f.fault, f.faultAt = `the front matter has no fields such as "status: done"`, f.from
		return
	}
	if alias := aliasIn(&doc); alias != nil {
		f.fault, f.faultAt = fmt.Sprintf("the front matter uses the alias *%s: write its value instead", clip(alias.Value)), f.offset(alias)
		return
	}
	f.fields = doc.Content[0]
	keys := map[string]bool{}
	for i := 0; i+1 < len(f.fields.Content) && f.twice == nil; i += 2 {
		key := f.fields.Content[i]
		if keys[key.Value] {
			f.twice = key
		}
		keys[key.Value] = true
	}
}

// aliasIn returns the first alias in a tree, or nil.
func aliasIn(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for _, child := range n.Content {
		if alias := aliasIn(child); alias != nil {
			return alias
		}
	}
	return nil
}

// value returns the first value of a key, or nil.
func (f *front) value(key string) *yaml.Node {
	if f.fields == nil {
		return nil
	}
	for i := 0; i+1 < len(f.fields.Content); i += 2 {
		if f.fields.Content[i].Value == key {
			return f.fields.Content[i+1]
		}
	}
	return nil
}

// has reports whether the front matter has one of the keys.
func (f *front) has(keys ...string) bool {
	for _, key := range keys {
		if f.value(key) != nil {
			return true
		}
	}
	return false
}

// word returns the text of a key, or "" without one.
func (f *front) word(key string) string { return wordOf(f.value(key)) }

func wordOf(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// words returns the entries of a key with a list, or with one text separated by commas.
func (f *front) words(key string) (words []string) {
	n := f.value(key)
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.SequenceNode:
		for _, member := range n.Content {
			if word := wordOf(member); word != "" {
				words = append(words, word)
			}
		}
	case !isNone(wordOf(n)):
		for word := range strings.SplitSeq(wordOf(n), ",") {
			if word = trim(word); word != "" {
				words = append(words, word)
			}
		}
	}
	return words
}

// span returns the position of a value without its quotes. ok is false for a value with escapes.
func (f *front) span(n *yaml.Node) (Span, bool) {
	if n == nil || n.Kind != yaml.ScalarNode || n.Value == "" || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return Span{}, false
	}
	at := f.offset(n)
	rest := f.text[at:f.to]
	if quote := rest[:min(1, len(rest))]; quote == `"` || quote == "'" {
		if strings.HasPrefix(rest[1:], n.Value+quote) {
			return Span{at + 1, at + 1 + len(n.Value)}, true
		}
		return Span{}, false
	}
	return Span{at, at + len(n.Value)}, strings.HasPrefix(rest, n.Value)
}

// offset returns the byte offset of a node. YAML counts characters, and has line breaks of its own.
func (f *front) offset(n *yaml.Node) int {
	at := f.lineAt(n.Line)
	for range n.Column - 1 {
		_, width := utf8.DecodeRuneInString(f.text[at:f.to])
		at += width
	}
	return at
}

// lineAt returns the offset of a line of the YAML, counted from 1.
func (f *front) lineAt(number int) int {
	at := f.from
	for number > 1 && at < f.to {
		r, width := utf8.DecodeRuneInString(f.text[at:f.to])
		at += width
		switch r {
		case '\r':
			if at < f.to && f.text[at] == '\n' {
				at++
			}
			number--
		case '\n', '\u0085', '\u2028', '\u2029':
			number--
		}
	}
	return at
}

// errorAt returns the offset of the line in a YAML error message.
func (f *front) errorAt(message string) int {
	_, after, ok := strings.Cut(message, "line ")
	digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
	number, err := strconv.Atoi(after[:digits])
	if !ok || err != nil {
		return f.from
	}
	return min(f.lineAt(number), max(f.from, f.to-1))
}

// withoutLine removes the line number from a YAML error message, because it counts from the beginning of the YAML.
func withoutLine(message string) string {
	message = strings.TrimPrefix(message, "yaml: ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if _, after, ok := strings.Cut(rest, ": "); ok {
			return after
		}
	}
	return message
}

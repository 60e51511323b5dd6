package record

import (
	"fmt"
	"strconv"
	"strings"

	"waybill/plan"
	"waybill/plan/lex"
)

// This file reads front matter: fields between two lines "---" at the beginning of a file. Of YAML it reads what tools
// and people write there: words, texts of several lines, and lists of words. It follows no alias, and reads nested
// fields as text. A value that it misreads is no word for a status, and open work.

// mostFront limits the bytes of front matter.
const mostFront = 64 << 10

// front is the front matter of a file.
type front struct {
	from   int // the offset of its fields
	body   int // the offset after it
	fields []field
	// fault explains why front matter has no fields, or is "". faultAt is its offset in the text.
	fault   string
	faultAt int
}

// field is a key with its value.
type field struct {
	key       string
	keyAt, at int      // offsets of the key and the value
	word      string   // the value, "" for a list or nothing
	list      []string // the members of a list
	listed    bool
	mark      plan.Span // of a word without its quotes; zero if it cannot be replaced
	open      byte      // the bracket or quote that has to close the value
}

// frontOf parses the front matter at the beginning of text[at:to]. ok is false if there is none.
func frontOf(text string, at, to int) (f front, ok bool) {
	line, next := cutLine(text[:to], at)
	if lex.TrimRight(line) != "---" {
		return front{body: at}, false
	}
	f = front{from: next, body: to, faultAt: at}
	for at := next; at < to && at-next <= mostFront; {
		line, after := cutLine(text[:to], at)
		if lex.TrimRight(line) == "---" {
			f.body = after
			f.end()
			return f, true
		}
		if f.fault == "" {
			f.line(lex.TrimRight(line), at)
		}
		at = after
	}
	f.fault, f.fields = fmt.Sprintf("the front matter is not closed by a line \"---\" within %d KiB", mostFront>>10), nil
	f.faultAt = at
	return f, true
}

// cutLine returns the line at an offset, and the offset of the next one.
func cutLine(text string, at int) (line string, next int) {
	end := strings.IndexAny(text[at:], "\r\n")
	if end < 0 {
		return text[at:], len(text)
	}
	next = at + end + 1
	if strings.HasPrefix(text[next-1:], "\r\n") {
		next++
	}
	return text[at : at+end], next
}

// end finishes the last field, and reports front matter that cannot be read.
func (f *front) end() {
	last := len(f.fields) - 1
	switch {
	case f.fault != "":
	case last < 0:
		f.fault, f.faultAt = `the front matter has no fields such as "status: done"`, f.from
	case f.fields[last].open != 0:
		f.fault, f.faultAt = fmt.Sprintf("the front matter is not valid YAML: this value has no closing %c", f.fields[last].open), f.fields[last].at
	}
	if f.fault != "" {
		f.fields = nil
	}
}

// line reads a line of front matter.
func (f *front) line(line string, at int) {
	inside := strings.TrimLeft(line, " \t")
	if inside == "" || inside[0] == '#' {
		return
	}
	at += len(line) - len(inside)
	last := len(f.fields) - 1
	if last >= 0 && f.fields[last].open != 0 {
		f.fields[last].set(f.fields[last].word+" "+inside, at, false)
		return
	}
	member, isMember := strings.CutPrefix(inside, "-")
	isMember = isMember && (member == "" || member[0] == ' ')
	switch key, value, found := strings.Cut(line, ":"); {
	case last >= 0 && isMember:
		f.fields[last].member(member, at)
	case last >= 0 && len(inside) < len(line):
		f.fields[last].goOn(inside)
	case !found || key == "" || value != "" && value[0] != ' ' && value[0] != '\t':
		f.fault, f.faultAt = fmt.Sprintf("the front matter is not valid YAML: the line %q has no field", lex.Clip(line)), at
	default:
		word := strings.TrimLeft(value, " \t")
		f.fields = append(f.fields, field{key: strings.Trim(key, ` "'`), keyAt: at})
		f.fields[last+1].set(word, at+len(line)-len(word), true)
	}
}

// set sets the value of a field. single means that the value is all on one line, so that it can be replaced.
func (v *field) set(value string, at int, single bool) {
	if single {
		v.at = at
	}
	for strings.HasPrefix(value, "&") || strings.HasPrefix(value, "!") { // an anchor or a tag
		_, value, _ = strings.Cut(value, " ")
		single = false
	}
	v.word, v.open = value, 0
	switch {
	case value == "":
		return
	case value[0] == '[':
		if end := strings.LastIndexByte(value, ']'); end < 0 {
			v.open = ']'
		} else {
			v.word, v.listed = "", true
			for part := range strings.SplitSeq(value[1:end], ",") {
				if word, _ := unquoted(lex.Trim(part)); word != "" {
					v.list = append(v.list, word)
				}
			}
		}
		return
	case value[0] == '"' || value[0] == '\'':
		if word, ok := unquoted(value); ok {
			if v.word = lex.Trim(word); single && v.word != "" && strings.HasPrefix(value[1:], v.word) {
				v.mark = plan.Span{Start: at + 1, End: at + 1 + len(v.word)}
			}
		} else {
			v.open = value[0]
		}
		return
	case value[0] == '|' || value[0] == '>':
		v.word = ""
		return
	}
	if comment := strings.Index(v.word, " #"); comment >= 0 {
		v.word = lex.TrimRight(v.word[:comment])
	}
	if v.word == "~" || strings.EqualFold(v.word, "null") {
		v.word = ""
	}
	if single && v.word != "" && strings.HasPrefix(value, v.word) {
		v.mark = plan.Span{Start: at, End: at + len(v.word)}
	}
}

// goOn adds a further line of text to a value.
func (v *field) goOn(line string) {
	switch last := len(v.list) - 1; {
	case last >= 0:
		v.list[last] += " " + line
	case !v.listed:
		v.word, v.mark = lex.Trim(v.word+" "+line), plan.Span{}
	}
}

// member adds a member to a list.
func (v *field) member(text string, at int) {
	if !v.listed {
		v.at, v.listed, v.word, v.mark = at, true, "", plan.Span{}
	}
	var one field
	if one.set(lex.Trim(text), 0, false); one.word != "" {
		v.list = append(v.list, one.word)
	}
}

// unquoted returns a word without its quotes and what follows them. ok is false if the closing quote is missing.
func unquoted(s string) (word string, ok bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return s, true
	}
	for end := 1; end < len(s); end++ {
		switch {
		case s[0] == '"' && s[end] == '\\':
			end++
		case s[0] == '\'' && s[end] == '\'' && end+1 < len(s) && s[end+1] == '\'':
			end++
		case s[end] == s[0]:
			if s[0] == '\'' {
				return strings.ReplaceAll(s[1:end], "''", "'"), true
			}
			if word, err := strconv.Unquote(s[:end+1]); err == nil {
				return word, true
			}
			return s[1:end], true
		}
	}
	return s, false
}

// value returns the first field with a key, or nil.
func (f *front) value(key string) *field {
	for i := range f.fields {
		if f.fields[i].key == key {
			return &f.fields[i]
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
func (f *front) word(key string) string {
	if v := f.value(key); v != nil {
		return lex.Trim(v.word)
	}
	return ""
}

// words returns the entries of a key with a list, or with one text separated by commas.
func (f *front) words(key string) (words []string) {
	v := f.value(key)
	if v == nil || !v.listed && lex.IsNone(v.word) {
		return nil
	}
	list := v.list
	if !v.listed {
		list = strings.Split(v.word, ",")
	}
	for _, word := range list {
		if word = lex.Trim(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// placeOf returns the offset of the value of a key, or of the front matter if the key is missing.
func (f *front) placeOf(key string) int {
	if v := f.value(key); v != nil {
		return v.at
	}
	return f.from
}

// twice returns the first key that occurs a second time, or nil.
func (f *front) twice() *field {
	for i := range f.fields {
		if f.value(f.fields[i].key) != &f.fields[i] {
			return &f.fields[i]
		}
	}
	return nil
}

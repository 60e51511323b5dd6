package conformance

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reason is an error with only a sentence; the caller adds the place.
func reason(format string, args ...any) error { return fmt.Errorf(format, args...) }

// A placeholder stands for a part of a text that differs each time.
type placeholder struct {
	text       string // as written
	kind, name string
}

var (
	placeholderForm = regexp.MustCompile(`<(any|int|text|time)>|<([a-z]+):([A-Za-z0-9_.-]+)>|<(repeat):([0-9]+:[^<>]+)>`)
	escapeForm      = regexp.MustCompile(`\\x[0-9a-f]{2}`)
)

// ids are the placeholders whose values begin with their name and an underscore.
var ids = []string{"ins", "tsk", "att", "run", "ntc"}

// forms maps placeholders to regular expressions for their values.
var forms = map[string]string{
	"any":  `.*`,
	"int":  `-?[0-9]+`,
	"text": `.+?`,
	"time": `[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z`,
}

func placeholders(text string) []placeholder {
	var all []placeholder
	for _, found := range placeholderForm.FindAllStringSubmatch(text, -1) {
		all = append(all, placeholder{text: found[0], kind: found[1] + found[2] + found[4], name: found[3] + found[5]})
	}
	return all
}

// most limits the length of a repetition, to protect the memory from a typing error.
const most = 64 << 20

// check returns the fault of a placeholder with a name, or nil.
func (p placeholder) check() error {
	if p.kind == "repeat" {
		_, _, err := p.repetition()
		return err
	}
	if p.kind == "int" || p.kind == "text" || slices.Contains(ids, p.kind) {
		return nil
	}
	return reason("%s is of no known kind: want int, text or one of %v", p.text, ids)
}

// repetition returns the text of a repetition, COUNT:TEXT.
func (p placeholder) repetition() (count int, text string, err error) {
	number, text, _ := strings.Cut(p.name, ":")
	count, err = strconv.Atoi(number)
	if err != nil || count > most/len(text) {
		return 0, "", reason("%s: want a count, a colon and a text, at most %d bytes altogether", p.text, most)
	}
	return count, text, nil
}

func (p placeholder) repeated() (string, error) {
	count, text, err := p.repetition()
	return strings.Repeat(text, count), err
}

// form returns the regular expression for an unbound placeholder.
func (p placeholder) form() string {
	if slices.Contains(ids, p.kind) {
		return p.kind + `_[A-Za-z0-9._:-]+`
	}
	return forms[p.kind]
}

// Bindings are the values of placeholders in received messages.
type Bindings map[string]any

func (p placeholder) key() string { return p.kind + ":" + p.name }

// Fill returns the text of a message with the values of its placeholders.
func (b Bindings) Fill(text string) (string, error) {
	var filled strings.Builder
	rest := text
	for _, p := range placeholders(text) {
		before, after, _ := strings.Cut(rest, p.text)
		value, err := b.value(p)
		if err != nil {
			return "", err
		}
		if p.kind == "int" && strings.HasSuffix(before, `"`) && strings.HasPrefix(after, `"`) {
			before, after = strings.TrimSuffix(before, `"`), after[1:]
		}
		filled.WriteString(before + value)
		rest = after
	}
	return filled.String() + rest, nil
}

// value returns the value of a placeholder for a message.
func (b Bindings) value(p placeholder) (string, error) {
	if p.kind == "repeat" {
		return p.repeated()
	}
	switch v := b[p.key()].(type) {
	case json.Number:
		return v.String(), nil
	case string:
		quoted, err := json.Marshal(v)
		if err != nil {
			return "", err
		}
		return string(quoted[1 : len(quoted)-1]), nil
	}
	return "", reason("%s has not been heard yet", p.text)
}

// Literal returns the bytes of a step with the verb Raw or Bytes. \xHH is one byte, <repeat:COUNT:TEXT> is COUNT times
// the text, and the rest is unchanged.
func Literal(text string) ([]byte, error) {
	if err := literal(text); err != nil {
		return nil, err
	}
	for _, p := range placeholders(text) {
		repeated, err := p.repeated()
		if err != nil {
			return nil, err
		}
		text = strings.Replace(text, p.text, repeated, 1)
	}
	return escapeForm.ReplaceAllFunc([]byte(text), func(escape []byte) []byte {
		n, _ := strconv.ParseUint(string(escape[2:]), 16, 8) // the pattern allows only hexadecimal digits
		return []byte{byte(n)}
	}), nil
}

// literal returns the fault of the text of such a step, or nil.
func literal(text string) error {
	for _, p := range placeholders(text) {
		if p.kind != "repeat" {
			return reason("%s is not filled in here; only a message that is JSON has placeholders", p.text)
		}
		if err := p.check(); err != nil {
			return err
		}
	}
	return nil
}

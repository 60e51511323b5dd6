// Package inert makes text of agents and persons inert, so that it cannot pass for structure in an answer to a model.
//
// It knows no answer and no tool.
package inert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/prompt/sanitize"
)

// MaxLine limits an untrusted text that is one line.
const MaxLine = 200

// Text returns an untrusted text in a form that cannot pass for structure.
func Text(text string) string { return strings.TrimSpace(sanitize.Text(text)) }

// Cut returns an untrusted text, neutralised and cut to limit with a note.
func Cut(text string, limit int) string { return Shorten(Text(text), limit) }

// Shorten returns the text, cut to limit with a note of its full length.
func Shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return Truncate(text, limit) + fmt.Sprintf(" [cut: %d bytes in all]", len(text))
}

// Line is Cut on one line.
func Line(text string) string {
	return strings.Join(strings.Fields(Cut(text, MaxLine)), " ")
}

// Lines is Line for each text.
func Lines(all []string) []string {
	out := make([]string, len(all))
	for i, each := range all {
		out[i] = Line(each)
	}
	return out
}

// Truncate returns at most limit bytes of a text, cut between characters.
func Truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// maxValue limits a string of a resource.
const maxValue = 4 << 10

// JSON returns the JSON with every string value neutralised.
func JSON(text []byte) ([]byte, error) {
	var out bytes.Buffer
	in, enc := jsontext.NewDecoder(bytes.NewReader(text)), jsontext.NewEncoder(&out)
	for {
		token, err := in.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(out.Bytes()), nil
		}
		if err != nil {
			return nil, err
		}
		if kind, length := enc.StackIndex(enc.StackDepth()); token.Kind() == '"' && (kind != '{' || length%2 == 1) {
			token = jsontext.String(Cut(token.String(), maxValue))
		}
		if err := enc.WriteToken(token); err != nil {
			return nil, err
		}
	}
}

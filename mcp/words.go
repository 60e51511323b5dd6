package mcp

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

// This file makes text of agents and persons inert. Prompts and retry prompts need no treatment here, because the
// method has already made the text in them inert.

// neutral returns an untrusted text in a form that cannot pass for structure.
func neutral(text string) string { return strings.TrimSpace(sanitize.Text(text)) }

// neutralCut returns an untrusted text, neutralised and cut to limit with a note.
func neutralCut(text string, limit int) string { return cutNote(neutral(text), limit) }

// cutNote returns the text, cut to limit with a note of its full length.
func cutNote(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return truncate(text, limit) + fmt.Sprintf(" [cut: %d bytes in all]", len(text))
}

// neutralLine is neutralCut on one line.
func neutralLine(text string) string {
	return strings.Join(strings.Fields(neutralCut(text, maxLine)), " ")
}

// neutralLines is neutralLine for each text.
func neutralLines(all []string) []string {
	out := make([]string, len(all))
	for i, each := range all {
		out[i] = neutralLine(each)
	}
	return out
}

// truncate returns at most limit bytes of a text, cut between characters.
func truncate(text string, limit int) string {
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

// neutralJSON returns the JSON with every string value neutralised.
func neutralJSON(text []byte) ([]byte, error) {
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
			token = jsontext.String(neutralCut(token.String(), maxValue))
		}
		if err := enc.WriteToken(token); err != nil {
			return nil, err
		}
	}
}

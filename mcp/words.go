package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/ledger"
)

// What agents and persons wrote is data, wherever it is told. What is for the model to work by, a prompt or a retry
// prompt, comes as the method gives it: there, waybill has done so already.

// neutral gives a text of others as one that cannot pass for structure.
func neutral(text string) string { return strings.TrimSpace(ledger.Neutralise(text)) }

// said is neutral for a text that is one fact among others. Of a long one it is the beginning, marked as such.
func said(text string, limit int) string { return marked(neutral(text), limit) }

// marked gives a text, or its beginning and how long it is.
func marked(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return clip(text, limit) + fmt.Sprintf(" [cut: %d bytes in all]", len(text))
}

// folded is said on one line.
func folded(text string) string { return strings.Join(strings.Fields(said(text, maxLine)), " ") }

// folds is folded for each.
func folds(all []string) []string {
	out := make([]string, len(all))
	for i, each := range all {
		out[i] = folded(each)
	}
	return out
}

// clip gives the beginning of a text, without half a character.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// maxValue bounds a string of a resource.
const maxValue = 4 << 10

// neutralJSON gives JSON in which every string that is a value is neutral.
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
			token = jsontext.String(said(token.String(), maxValue))
		}
		if err := enc.WriteToken(token); err != nil {
			return nil, err
		}
	}
}

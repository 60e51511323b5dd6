package output

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"waybill/internal/safetext"
	"waybill/schema/codec"
)

// Encode returns a value as JSON. It writes every unprintable character as \uXXXX, so that the JSON cannot control the
// terminal that shows it.
func Encode(v any) ([]byte, error) {
	text, err := codec.Encode(v)
	if err != nil {
		return nil, err
	}
	return escaped(text), nil
}

// escaped returns the JSON without unprintable characters. Line ends and tabs stay, because JSON has them only between
// tokens.
func escaped(doc []byte) []byte {
	kept := func(r rune) bool { return safetext.IsPrintable(r) || r == '\n' || r == '\r' || r == '\t' }
	if utf8.Valid(doc) && !bytes.ContainsFunc(doc, func(r rune) bool { return !kept(r) }) {
		return doc
	}
	safe := make([]byte, 0, len(doc)+len(doc)/8)
	for _, r := range string(doc) {
		switch high, low := utf16.EncodeRune(r); {
		case kept(r):
			safe = utf8.AppendRune(safe, r)
		case high == utf8.RuneError:
			safe = fmt.Appendf(safe, `\u%04x`, r)
		default:
			safe = fmt.Appendf(safe, `\u%04x\u%04x`, high, low)
		}
	}
	return safe
}

// A jsonEscaper writes JSON with every unprintable character escaped. It holds a character back until it has all bytes
// of it.
type JSONEscaper struct {
	To   io.Writer
	rest []byte // the beginning of a character
}

// Write writes doc, which may begin or end within a character.
func (e *JSONEscaper) Write(doc []byte) (int, error) {
	text := append(e.rest, doc...)
	end := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if last := text[len(text)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				end -= i
			}
			break
		}
	}
	e.rest = bytes.Clone(text[end:])
	if _, err := e.To.Write(escaped(text[:end])); err != nil {
		return 0, err
	}
	return len(doc), nil
}

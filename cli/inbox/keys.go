package inbox

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// A key is one key that was pressed, or a text that was typed or pasted.
type key struct {
	name string // "" for text
	text string
}

// The names of keys.
const (
	keyEnter, keyNewline, keyEscape, keyTab, keyBackspace, keyDelete = "enter", "newline", "escape", "tab", "backspace", "delete"
	keyUp, keyDown, keyLeft, keyRight, keyHome, keyEnd               = "up", "down", "left", "right", "home", "end"
	keyPageUp, keyPageDown, keyInterrupt, keyRedraw                  = "page up", "page down", "ctrl+c", "ctrl+l"
	keyEraseLine, keyEraseWord                                       = "ctrl+u", "ctrl+w"
	keyCut                                                           = "cut"  // a pasted text was longer than maxPaste
	keyNone                                                          = "none" // a key without a meaning here
)

// controls maps control characters to keys. Other control characters have no meaning.
var controls = map[byte]string{
	'\r': keyEnter, '\n': keyNewline, '\t': keyTab, 0x7f: keyBackspace, 0x08: keyBackspace, 0x03: keyInterrupt, 0x0c: keyRedraw,
	0x15: keyEraseLine, 0x17: keyEraseWord, 0x01: keyHome, 0x05: keyEnd, 0x10: keyUp, 0x0e: keyDown,
}

// finals maps the ends of escape sequences to keys.
var finals = map[string]string{
	"A": keyUp, "B": keyDown, "C": keyRight, "D": keyLeft, "H": keyHome, "F": keyEnd,
	"1~": keyHome, "7~": keyHome, "4~": keyEnd, "8~": keyEnd, "3~": keyDelete, "5~": keyPageUp, "6~": keyPageDown,
}

// The marks around a pasted text.
const pasteBegin, pasteEnd = "\x1b[200~", "\x1b[201~"

// maxPaste bounds the bytes that are taken of a pasted text. The others are discarded.
const maxPaste = 1 << 20

// A decoder splits the input of a terminal into keys.
type decoder struct {
	rest []byte // the beginning of a key whose end has not come yet
	over bool   // rest is within a pasted text of which maxPaste bytes were taken
}

// keys returns the keys that more input completes.
func (d *decoder) keys(more []byte) []key { return d.decode(append(d.rest, more...), false) }

// late returns the keys in an input that has paused. The beginning of an escape sequence becomes a key; a paste stays
// open, because the Enter in the remainder would send half of an answer.
func (d *decoder) late() []key { return d.decode(d.rest, true) }

func (d *decoder) decode(in []byte, final bool) (keys []key) {
	for len(in) > 0 {
		var k key
		var n int
		switch {
		case d.over:
			k, n = d.discard(in)
		case bytes.HasPrefix(in, []byte(pasteBegin)):
			k, n = d.pasted(in)
		default:
			k, n = first(in, final)
		}
		if n == 0 {
			break
		}
		if k.name != keyNone {
			keys = append(keys, k)
		}
		in = in[n:]
	}
	d.rest = in
	return keys
}

// pasted returns the pasted text at the beginning of the input and its length, which is 0 if its end has not come yet.
func (d *decoder) pasted(in []byte) (key, int) {
	text := in[len(pasteBegin):]
	end := bytes.Index(text, []byte(pasteEnd))
	switch {
	case end > maxPaste, end < 0 && len(text) >= maxPaste+len(pasteEnd):
		d.over = true
		return key{text: clean(text[:maxPaste])}, len(pasteBegin) + maxPaste
	case end >= 0:
		return key{text: clean(text[:end])}, len(pasteBegin) + end + len(pasteEnd)
	}
	return key{}, 0
}

// discard returns the length of the input that belongs to a paste beyond maxPaste. It keeps what may begin the end mark.
func (d *decoder) discard(in []byte) (key, int) {
	end := bytes.Index(in, []byte(pasteEnd))
	if end < 0 {
		return key{name: keyNone}, max(0, len(in)-len(pasteEnd)+1)
	}
	d.over = false
	return key{name: keyCut}, end + len(pasteEnd)
}

// first returns the first key of the input and its length, which is 0 if its end has not come yet.
func first(in []byte, final bool) (key, int) {
	if in[0] == 0x1b {
		return sequence(in, final)
	}
	if in[0] < ' ' || in[0] == 0x7f {
		if name, ok := controls[in[0]]; ok {
			return key{name: name}, 1
		}
		return key{name: keyNone}, 1
	}
	if !utf8.FullRune(in) && !final {
		return key{}, 0
	}
	r, n := utf8.DecodeRune(in)
	return key{text: string(r)}, n
}

// sequence returns the key of an escape sequence.
func sequence(in []byte, final bool) (key, int) {
	if len(in) == 1 {
		if final {
			return key{name: keyEscape}, 1
		}
		return key{}, 0
	}
	switch in[1] {
	case '\r', '\n':
		return key{name: keyNewline}, 2
	case 0x1b:
		return key{name: keyEscape}, 1
	case '[', 'O':
	default:
		_, n := utf8.DecodeRune(in[1:])
		return key{name: keyNone}, 1 + n // a letter with Alt
	}
	end := slices.IndexFunc(in[2:], func(r byte) bool { return r < '0' || r > ';' })
	if end < 0 {
		if final || len(in) > 32 {
			return key{name: keyNone}, len(in)
		}
		return key{}, 0
	}
	n := 2 + end + 1
	number, _, _ := strings.Cut(string(in[2:2+end]), ";")
	last := string(in[n-1])
	if last == "~" {
		last = number + last
	}
	if name, ok := finals[last]; ok {
		return key{name: name}, n
	}
	return key{name: keyNone}, n
}

// clean returns a pasted text with plain line ends and without control characters.
func clean(text []byte) string {
	lines := strings.ReplaceAll(strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, lines)
}

// A draft is a text that is being written.
type draft struct {
	text   []rune
	cursor int // from 0 to the length of text
}

// press changes the draft, and reports whether the key has a meaning in it.
func (d *draft) press(k key) bool {
	switch k.name {
	case "":
		d.insert(k.text)
	case keyNewline:
		d.insert("\n")
	case keyBackspace:
		d.erase(d.cursor - 1)
	case keyDelete:
		if d.cursor < len(d.text) {
			d.text = slices.Delete(d.text, d.cursor, d.cursor+1)
		}
	case keyEraseLine:
		d.erase(1 + d.lastIndex(func(r rune) bool { return r == '\n' }))
	case keyEraseWord:
		end := d.cursor
		for end > 0 && d.text[end-1] == ' ' {
			end--
		}
		word := draft{text: d.text, cursor: end}
		d.erase(1 + word.lastIndex(func(r rune) bool { return r == ' ' || r == '\n' }))
	case keyLeft:
		d.cursor = max(0, d.cursor-1)
	case keyRight:
		d.cursor = min(len(d.text), d.cursor+1)
	case keyHome:
		d.cursor = 0
	case keyEnd:
		d.cursor = len(d.text)
	default:
		return false
	}
	return true
}

func (d *draft) insert(text string) {
	added := []rune(text)
	d.text = slices.Insert(d.text, d.cursor, added...)
	d.cursor += len(added)
}

// erase removes the text between a place and the cursor.
func (d *draft) erase(from int) {
	if from = max(0, from); from < d.cursor {
		d.text = slices.Delete(d.text, from, d.cursor)
		d.cursor = from
	}
}

// lastIndex returns the last place before the cursor with such a character, or -1.
func (d *draft) lastIndex(is func(rune) bool) int {
	for i := d.cursor - 1; i >= 0; i-- {
		if is(d.text[i]) {
			return i
		}
	}
	return -1
}

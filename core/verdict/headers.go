package verdict

import (
	"iter"
	"slices"
	"strings"

	"waybill/core"
)

// A line is a line of a text without the white space around it.
type line struct {
	at, next int // offsets of its start and of the next line
	indent   int // columns of indentation
	text     string
}

func lineAt(text string, at int) line {
	end, next := len(text), len(text)
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		end, next = at+i, at+i+1
	}
	return line{at, next, indentation(text[at:end]), trim(text[at:end])}
}

func (l line) fence() bool {
	return strings.HasPrefix(l.text, "```") || strings.HasPrefix(l.text, "~~~")
}

// rule reports whether the line is a separator.
func (l line) rule() bool { return len(l.text) >= 3 && strings.Trim(l.text, "-=") == "" }

// A header is a line "key: value".
type header struct {
	at        int
	indent    int
	key       string // in lower case, with underscores
	written   string // as in the text
	value     string
	items     []string // entries on the lines below
	more      int      // number of entries beyond the limit
	decorated bool
	bulleted  bool // it is an entry of a list
}

// lists reports whether the header may have entries on the lines below.
func (h header) lists() bool { return h.key == "issues" || h.key == "files_changed" }

func (h header) known() bool { return slices.Contains(reviewerKeys, h.key) }

const (
	maxKey     = 32 // characters up to the colon
	maxHeaders = 64 // lines; the rest is the body
)

func (l line) header() (header, bool) {
	h, s := header{at: l.at, indent: l.indent}, l.text
	if rest, ok := cutBullet(s); ok && len(s) > 0 && s[0] != '+' && !isDigit(s[0]) {
		h.decorated, h.bulleted, s = true, true, rest
	}
	if strings.HasPrefix(s, "**") {
		h.decorated, s = true, strings.Replace(s, "**", "", 2)
	}
	colon := strings.IndexByte(s[:min(len(s), maxKey)], ':')
	if colon < 1 {
		return header{}, false
	}
	h.written = strings.TrimRight(s[:colon], " \t")
	if bare := strings.Trim(h.written, "`*"); bare != h.written {
		h.decorated, h.written = true, bare
	}
	var ok bool
	if h.key, ok = keyName(h.written); !ok {
		return header{}, false
	}
	value := trim(s[colon+1:])
	h.value = bare(value)
	switch {
	case h.key == "status" || h.key == "role":
		h.value = strings.TrimSuffix(h.value, ".")
	case h.lists() && slices.Contains([]string{"|", ">", "|-", ">-"}, value):
		h.value, value = "", "" // the sign of YAML for a text of several lines
	}
	h.decorated = h.decorated || h.value != value
	return h, true
}

// keyName returns the normal form of a key. A name of several words must be a known key.
func keyName(written string) (string, bool) {
	if written == "" || !isWordByte(written[0]) {
		return "", false
	}
	for i := range len(written) {
		if b := written[i]; !isWordByte(b) && b != '-' && b != ' ' {
			return "", false
		}
	}
	key := strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(written), "-", "_"), " ", "_")
	if key == "result_key" { // as [Now] of a prompt calls it
		return "key", true
	}
	return key, !strings.Contains(written, " ") || slices.Contains(reviewerKeys, key)
}

// bare returns the value without the asterisks, back quotes or quotation marks around all of it.
func bare(value string) string {
	for _, mark := range []string{"**", "`", `"`} {
		if inner, ok := strings.CutPrefix(value, mark); ok {
			if inner, ok = strings.CutSuffix(inner, mark); ok && !strings.Contains(inner, mark) {
				return trim(inner)
			}
		}
	}
	return value
}

// cutBullet returns an entry of a list without its bullet or number.
func cutBullet(s string) (string, bool) {
	end := strings.IndexByte(s[:min(len(s), len("999. "))], ' ')
	if end < 1 {
		return s, false
	}
	marker, rest := s[:end], trim(s[end:])
	if slices.Contains([]string{"-", "*", "+", "•"}, marker) {
		return rest, rest != ""
	}
	number := strings.TrimRight(marker, ".)")
	return rest, rest != "" && len(number) == len(marker)-1 && number != "" && strings.Trim(number, "0123456789") == ""
}

// headers is a block of header lines.
type headers struct {
	at, end int // from the first header to the start of the text after
	list    []header

	place
	gapped  bool // there are blank lines between them
	abrupt  bool // text follows without a blank line
	pending bool // the last header is a list and may have entries below
}

// A place describes the text before headers.
type place struct {
	first  bool // only blank lines and fences
	blanks bool // blank lines
	fenced bool // an open code fence
}

func (h *headers) has(key string) bool {
	return slices.ContainsFunc(h.list, func(one header) bool { return one.key == key })
}

// headerBlocks returns the groups of lines that look like v2 headers. It looks at each line twice at most.
func headerBlocks(text string, asked Asked) iter.Seq[headers] {
	return func(yield func(headers) bool) {
		first, blanks, fenced := true, false, false // fenced: a fence is open
		for at := 0; at < len(text); {
			l := lineAt(text, at)
			one, ok := l.header()
			if !ok || !one.known() {
				blanks = blanks || l.text == ""
				fenced = fenced != l.fence()
				first = first && (l.text == "" || l.fence() || l.rule())
				at = l.next
				continue
			}
			h := readHeaders(text, at)
			h.place = place{first, blanks, fenced}
			if h.qualify(asked) && !yield(h) {
				return
			}
			first, at = false, h.end
		}
	}
}

// qualify reports whether the lines are headers. A single line counts only at the very beginning, with the name of a
// role. With the right key, one other line is enough; the key alone may be from an echo of the prompt.
func (h *headers) qualify(asked Asked) bool {
	count := 0
	for _, key := range passed {
		if h.has(key) {
			count++
		}
	}
	if count >= 2 || count == 1 && h.hasKey(asked) {
		return true
	}
	if !h.first || h.list[0].key != "role" {
		return false
	}
	_, ok := roleNamed(h.list[0].value, core.SpecReviewer)
	return ok
}

// hasKey reports whether one of the lines has the right key.
func (h *headers) hasKey(asked Asked) bool {
	return slices.ContainsFunc(h.list, func(one header) bool { return one.key == "key" && slices.Contains(asked.Keys, keyIn(one.value)) })
}

func readHeaders(text string, at int) headers {
	h := headers{at: at, end: at}
	for h.end < len(text) {
		l := lineAt(text, h.end)
		if l.text == "" {
			next, ok := h.across(text, l.next)
			if !ok {
				return h
			}
			h.gapped, h.end = true, next
			continue
		}
		if !h.take(l) {
			h.abrupt = !l.fence() && !l.rule()
			if l.rule() {
				h.end = l.next
			}
			return h
		}
		h.end = l.next
	}
	return h
}

// across looks past blank lines for a header, or for the entries of an empty list. It finds no header if the headers
// are complete, so that the body stays whole.
func (h *headers) across(text string, at int) (int, bool) {
	last := h.list[len(h.list)-1]
	empty := h.pending && len(last.items) == 0
	if !empty && h.has("task_id") && h.has("status") {
		return 0, false
	}
	for at < len(text) {
		l := lineAt(text, at)
		if l.text != "" {
			if _, bullet := cutBullet(l.text); empty && bullet {
				return at, true
			}
			if h.has("task_id") && h.has("status") {
				return 0, false
			}
			one, ok := l.header()
			return at, ok && one.known() && !h.has(one.key)
		}
		at = l.next
	}
	return 0, false
}

// take adds a header line, and reports whether the line was one. A deeper line or an entry below a list belongs to
// the list.
func (h *headers) take(l line) bool {
	if len(h.list) == maxHeaders {
		return false
	}
	if n := len(h.list); n > 0 && h.list[n-1].lists() && h.list[n-1].goesOn(l, h.pending) {
		return true
	}
	one, ok := l.header()
	if !ok || !one.known() && h.pending {
		return false
	}
	h.list = append(h.list, one)
	h.pending = one.value == "" && one.lists()
	return true
}

// goesOn adds an entry to the list, and reports whether the line was one. pending means that nothing was after the
// colon.
func (h *header) goesOn(l line, pending bool) bool {
	item, bullet := cutBullet(l.text)
	if !bullet {
		item = l.text
	}
	if one, ok := l.header(); ok && one.known() && (!bullet || h.bulleted && one.indent <= h.indent) {
		return false
	}
	if l.indent <= h.indent && !(pending && bullet) {
		return false
	}
	if len(h.items) == maxEntries {
		h.more++
		return true
	}
	h.items = append(h.items, item)
	return true
}

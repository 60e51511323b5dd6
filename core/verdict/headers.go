package verdict

import (
	"iter"
	"slices"
	"strings"

	"waybill/core"
)

// A line is a line of a text without the white space around it.
type line struct {
	at, next int // where it begins, and where the next one does
	text     string
}

func lineAt(text string, at int) line {
	end, next := len(text), len(text)
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		end, next = at+i, at+i+1
	}
	return line{at, next, trim(text[at:end])}
}

func (l line) fence() bool {
	return strings.HasPrefix(l.text, "```") || strings.HasPrefix(l.text, "~~~")
}

// rule reports whether the line is one that only separates.
func (l line) rule() bool { return len(l.text) >= 3 && strings.Trim(l.text, "-=") == "" }

// A header is a line "key: value".
type header struct {
	at        int
	key       string // in lower case, with underscores
	written   string // as it was written
	value     string
	items     []string // of a list that goes on below
	more      int      // items that were not even kept until it is read
	decorated bool
}

func (h header) known() bool { return slices.Contains(reviewerKeys, h.key) }

const (
	maxKey     = 32 // characters up to the colon
	maxHeaders = 64 // lines; what follows is the body
)

func (l line) header() (header, bool) {
	h, s := header{at: l.at}, l.text
	if rest, ok := cutBullet(s); ok && len(s) > 0 && s[0] != '+' && !isDigit(s[0]) {
		h.decorated, s = true, rest
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
	h.decorated = h.decorated || h.value != value
	return h, true
}

// keyName gives the form of a key that is compared. What is not one word must be a known key.
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
	return key, !strings.Contains(written, " ") || slices.Contains(reviewerKeys, key)
}

// bare takes asterisks, back quotes or quotation marks off a value that is wholly within them.
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

// cutBullet takes the bullet or number off an entry of a list.
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
	at, end int // from the first header to what follows them
	list    []header

	first   bool // nothing but blank lines and fences stands before them
	blanks  bool // blank lines do
	fenced  bool // they are in a code fence
	gapped  bool // there are blank lines between them
	abrupt  bool // text follows without a blank line
	pending bool // the last header is a list that may go on below
}

func (h *headers) has(key string) bool {
	return slices.ContainsFunc(h.list, func(one header) bool { return one.key == key })
}

// headerBlocks finds the blocks of lines that are like v2 headers. Each line is looked at twice at most.
func headerBlocks(text string) iter.Seq[headers] {
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
			h.first, h.blanks, h.fenced = first, blanks, fenced
			if h.qualify() && !yield(h) {
				return
			}
			first, at = false, h.end
		}
	}
}

// qualify reports whether the lines are meant as headers. One line alone may be anything, unless it
// stands where the headers must begin and names one of our roles.
func (h *headers) qualify() bool {
	count := 0
	for _, key := range passed {
		if h.has(key) {
			count++
		}
	}
	if count >= 2 {
		return true
	}
	if !h.first || h.list[0].key != "role" {
		return false
	}
	_, ok := roleNamed(h.list[0].value, core.SpecReviewer)
	return ok
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

// across looks for a header behind blank lines. There is none for us if the headers are complete, so
// that the body is left alone.
func (h *headers) across(text string, at int) (int, bool) {
	if h.has("task_id") && h.has("status") {
		return 0, false
	}
	for at < len(text) {
		l := lineAt(text, at)
		if l.text != "" {
			one, ok := l.header()
			return at, ok && one.known() && !h.has(one.key)
		}
		at = l.next
	}
	return 0, false
}

// take adds a line to the headers, if it is one.
func (h *headers) take(l line) bool {
	one, ok := l.header()
	if len(h.list) == maxHeaders {
		return false
	}
	if ok && (one.known() || !h.pending) {
		h.list = append(h.list, one)
		h.pending = one.value == "" && (one.key == "issues" || one.key == "files_changed")
		return true
	}
	item, ok := cutBullet(l.text)
	if !h.pending || !ok {
		return false
	}
	last := &h.list[len(h.list)-1]
	if len(last.items) == maxEntries {
		last.more++
		return true
	}
	last.items = append(last.items, item)
	return true
}

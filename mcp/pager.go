package mcp

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"waybill/schema"
)

// maxPagedBytes limits the texts of a pager. The oldest text is dropped first.
const maxPagedBytes = 16 << 20

// restPrefix begins every cursor of a pager.
const restPrefix = "rest_"

// A pager keeps texts that are longer than one answer until newer ones need their room. So all pages of a text come
// from the same text, even if its source changes.
type pager struct {
	processID string // in every cursor, to refuse those of another process

	mu         sync.Mutex  // guards the fields below
	texts      []pagedText // oldest first
	bytes      int
	lastNumber int // number of the newest text
}

type pagedText struct {
	number int
	text   string
}

func newPager() *pager { return &pager{processID: strings.ToLower(rand.Text()[:6])} }

// page returns a page of at most size bytes. If text remains, the pager keeps it and the page has a cursor.
func (s *pager) page(text string, from, size int) page {
	p := cut(text, from, size)
	if from+len(p.text) < len(text) {
		p.cursor = s.cursor(s.keep(text), from+len(p.text))
	}
	return p
}

// cut returns at most size bytes of a text from an offset. It cuts at a line end if there is one near.
func cut(text string, from, size int) page {
	p := page{text: text[from:], from: from, total: len(text)}
	if len(p.text) <= size {
		return p
	}
	end := size
	for end > 0 && !utf8.RuneStart(p.text[end]) {
		end--
	}
	if line := strings.LastIndexByte(p.text[:end], '\n'); line >= end*3/4 {
		end = line + 1
	}
	p.text = p.text[:end]
	return p
}

// keep stores a text and returns its number.
func (s *pager) keep(text string) (number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastNumber++
	s.texts, s.bytes = append(s.texts, pagedText{s.lastNumber, text}), s.bytes+len(text)
	for s.bytes > maxPagedBytes && len(s.texts) > 1 {
		s.bytes -= len(s.texts[0].text)
		s.texts = s.texts[1:]
	}
	return s.lastNumber
}

func (s *pager) cursor(number, from int) string {
	return fmt.Sprintf(restPrefix+"%s.%d.%d", s.processID, number, from)
}

// next returns the page of a cursor.
func (s *pager) next(cursor string, size int) (page, *schema.Error) {
	parts := strings.Split(cursor, ".")
	if len(parts) != 3 || parts[0] != restPrefix+s.processID {
		return page{}, unknownCursor(cursor)
	}
	number, err1 := strconv.Atoi(parts[1])
	from, err2 := strconv.Atoi(parts[2])
	text, ok := s.text(number)
	if err1 != nil || err2 != nil || !ok || from < 0 || from > len(text) || !startsRune(text, from) {
		return page{}, unknownCursor(cursor)
	}
	p := cut(text, from, size)
	if end := from + len(p.text); end < len(text) {
		p.cursor = s.cursor(number, end)
	}
	return p, nil
}

// handle returns a short name for the cursor of a packet, which is too long for a model to copy.
func (s *pager) handle(cursor string) string {
	if cursor == "" {
		return ""
	}
	return fmt.Sprintf("since_%s.%d", s.processID, s.keep(cursor))
}

// cursorOf returns the cursor of a handle. It returns an unknown handle unchanged, which leads to a full packet that
// says why.
func (s *pager) cursorOf(handle string) string {
	name, number, _ := strings.Cut(handle, ".")
	if n, err := strconv.Atoi(number); err == nil && name == "since_"+s.processID {
		if cursor, ok := s.text(n); ok {
			return cursor
		}
	}
	return handle
}

func startsRune(text string, at int) bool { return at == len(text) || utf8.RuneStart(text[at]) }

func (s *pager) text(number int) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.texts {
		if k.number == number {
			return k.text, true
		}
	}
	return "", false
}

func unknownCursor(cursor string) *schema.Error {
	return schema.NewError(schema.CursorGone, fmt.Sprintf("the cursor %q is not known any more", truncate(cursor, 64))).
		Hint("take a cursor from an answer of this process, or call without one")
}

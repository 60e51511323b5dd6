// Package pages keeps the rest of texts that are longer than one answer.
//
// It keeps them in memory only: a cursor belongs to its process.
package pages

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"waybill/mcp/inert"
	"waybill/schema"
)

// maxPagedBytes limits the texts of a pager. The oldest text is dropped first.
const maxPagedBytes = 16 << 20

// RestPrefix begins every cursor of a pager.
const RestPrefix = "rest_"

// A Pager keeps texts that are longer than one answer until newer ones need their room. So all pages of a text come
// from the same text, even if its source changes.
type Pager struct {
	processID string // in every cursor, to refuse those of another process

	mu         sync.Mutex  // guards the fields below
	texts      []pagedText // oldest first
	bytes      int
	lastNumber int // number of the newest text
}

// A Page is the part of a text that one answer shows.
type Page struct {
	Text   string
	From   int // the first byte
	Total  int
	Cursor string // of the next page, or ""
}

type pagedText struct {
	number int
	text   string
}

func New() *Pager { return &Pager{processID: strings.ToLower(rand.Text()[:6])} }

// Page returns a page of at most size bytes. If text remains, the pager keeps it and the page has a cursor.
func (s *Pager) Page(text string, from, size int) Page {
	p := cut(text, from, size)
	if from+len(p.Text) < len(text) {
		p.Cursor = s.cursor(s.keep(text), from+len(p.Text))
	}
	return p
}

// cut returns at most size bytes of a text from an offset. It cuts at a line end if there is one near.
func cut(text string, from, size int) Page {
	p := Page{Text: text[from:], From: from, Total: len(text)}
	if len(p.Text) <= size {
		return p
	}
	end := size
	for end > 0 && !utf8.RuneStart(p.Text[end]) {
		end--
	}
	if line := strings.LastIndexByte(p.Text[:end], '\n'); line >= end*3/4 {
		end = line + 1
	}
	p.Text = p.Text[:end]
	return p
}

// keep stores a text and returns its number.
func (s *Pager) keep(text string) (number int) {
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

func (s *Pager) cursor(number, from int) string {
	return fmt.Sprintf(RestPrefix+"%s.%d.%d", s.processID, number, from)
}

// Next returns the page of a cursor.
func (s *Pager) Next(cursor string, size int) (Page, *schema.Error) {
	parts := strings.Split(cursor, ".")
	if len(parts) != 3 || parts[0] != RestPrefix+s.processID {
		return Page{}, unknownCursor(cursor)
	}
	number, err1 := strconv.Atoi(parts[1])
	from, err2 := strconv.Atoi(parts[2])
	text, ok := s.text(number)
	if err1 != nil || err2 != nil || !ok || from < 0 || from > len(text) || !startsRune(text, from) {
		return Page{}, unknownCursor(cursor)
	}
	p := cut(text, from, size)
	if end := from + len(p.Text); end < len(text) {
		p.Cursor = s.cursor(number, end)
	}
	return p, nil
}

// Handle returns a short name for the cursor of a packet, which is too long for a model to copy.
func (s *Pager) Handle(cursor string) string {
	if cursor == "" {
		return ""
	}
	return fmt.Sprintf("since_%s.%d", s.processID, s.keep(cursor))
}

// CursorOf returns the cursor of a handle. It returns an unknown handle unchanged, which leads to a full packet that
// says why.
func (s *Pager) CursorOf(handle string) string {
	name, number, _ := strings.Cut(handle, ".")
	if n, err := strconv.Atoi(number); err == nil && name == "since_"+s.processID {
		if cursor, ok := s.text(n); ok {
			return cursor
		}
	}
	return handle
}

func startsRune(text string, at int) bool { return at == len(text) || utf8.RuneStart(text[at]) }

func (s *Pager) text(number int) (string, bool) {
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
	return schema.NewError(schema.CursorGone, fmt.Sprintf("the cursor %q is not known any more", inert.Truncate(cursor, 64))).
		Hint("take a cursor from an answer of this process, or call without one")
}

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

// maxShelf bounds the bytes on a shelf. The text that was put there first goes first.
const maxShelf = 16 << 20

// restMark begins every cursor of a shelf.
const restMark = "rest_"

// A shelf keeps the texts that were longer than one answer, for as long as the process is there and nothing newer
// needs the room. So the pages of a text are those of one text, whatever happens meanwhile.
type shelf struct {
	mark string // tells the cursors of this process from those of one before

	mu    sync.Mutex // guards what follows
	texts []kept     // in the order in which they came
	bytes int
	last  int // the number of the newest
}

type kept struct {
	number int
	text   string
}

func newShelf() *shelf { return &shelf{mark: strings.ToLower(rand.Text()[:6])} }

// page gives a page of at most size bytes. If the text goes on behind it, the text is kept, and the page has a cursor.
func (s *shelf) page(text string, from, size int) page {
	p := cut(text, from, size)
	if from+len(p.text) < len(text) {
		p.cursor = s.cursor(s.keep(text), from+len(p.text))
	}
	return p
}

// cut gives the bytes of a text that begin at from, up to the end of a line if there is one near.
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

// keep puts a text on the shelf.
func (s *shelf) keep(text string) (number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.texts, s.bytes = append(s.texts, kept{s.last, text}), s.bytes+len(text)
	for s.bytes > maxShelf && len(s.texts) > 1 {
		s.bytes -= len(s.texts[0].text)
		s.texts = s.texts[1:]
	}
	return s.last
}

func (s *shelf) cursor(number, from int) string {
	return fmt.Sprintf(restMark+"%s.%d.%d", s.mark, number, from)
}

// next gives the page that a cursor points to.
func (s *shelf) next(cursor string, size int) (page, *schema.Error) {
	parts := strings.Split(cursor, ".")
	if len(parts) != 3 || parts[0] != restMark+s.mark {
		return page{}, lostPage(cursor)
	}
	number, err1 := strconv.Atoi(parts[1])
	from, err2 := strconv.Atoi(parts[2])
	text, ok := s.text(number)
	if err1 != nil || err2 != nil || !ok || from < 0 || from > len(text) || !startsRune(text, from) {
		return page{}, lostPage(cursor)
	}
	p := cut(text, from, size)
	if end := from + len(p.text); end < len(text) {
		p.cursor = s.cursor(number, end)
	}
	return p, nil
}

// handle gives a short name for a cursor of a packet, which is long, and which a model would have to copy.
func (s *shelf) handle(cursor string) string {
	if cursor == "" {
		return ""
	}
	return fmt.Sprintf("since_%s.%d", s.mark, s.keep(cursor))
}

// behind gives what a handle is short for. One that is not known stands for itself, and so for nothing: the answer is
// then a full packet, and says why.
func (s *shelf) behind(handle string) string {
	name, number, _ := strings.Cut(handle, ".")
	if n, err := strconv.Atoi(number); err == nil && name == "since_"+s.mark {
		if cursor, ok := s.text(n); ok {
			return cursor
		}
	}
	return handle
}

func startsRune(text string, at int) bool { return at == len(text) || utf8.RuneStart(text[at]) }

func (s *shelf) text(number int) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.texts {
		if k.number == number {
			return k.text, true
		}
	}
	return "", false
}

func lostPage(cursor string) *schema.Error {
	return schema.NewError(schema.CursorGone, fmt.Sprintf("nothing is kept for the cursor %q", clip(cursor, 64))).
		Hint("take a cursor from an answer of this process, or call without one")
}

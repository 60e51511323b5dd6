package ledger

import (
	"sort"
	"unicode/utf8"
)

// This file says where in which file a byte of a plan stands. A plan may be
// one line of megabytes, as JSON often is, and may have something odd about it
// at every other byte; so nothing here costs more for being far down a line.

// file is one file of a plan: text[from:to]. In a plan of one file it has no name.
type file struct {
	name     string
	from, to int
}

// filesOf gives the files of a text that JoinFiles made, ok is false for any other.
func filesOf(text string) (files []file, ok bool) {
	split, ok := SplitFiles(text)
	at := len(text)
	for _, f := range split {
		at -= len(f.Text)
	}
	for _, f := range split {
		files = append(files, file{name: f.Name, from: at, to: at + len(f.Text)})
		at += len(f.Text)
	}
	return files, ok
}

// fileAt gives the place of the file that has the byte at the offset.
func fileAt(files []file, offset int) int {
	return max(0, sort.Search(len(files), func(k int) bool { return files[k].from > offset })-1)
}

// positions knows the lines of all files.
type positions struct {
	text   string
	files  []file
	starts [][]int32 // of the lines of each file
	runes  []int32   // how many characters begin before each block
}

// block is what is looked through at most for a column.
const block = 4096

func newPositions(text string, files []file) *positions {
	p := &positions{text: text, files: files, starts: make([][]int32, len(files)), runes: make([]int32, 1, len(text)/block+2)}
	for k, f := range files {
		c := newCursor(text[f.from:f.to])
		for start, _, ok := c.next(); ok; start, _, ok = c.next() {
			p.starts[k] = append(p.starts[k], int32(f.from+start))
		}
		if p.starts[k] == nil {
			p.starts[k] = []int32{int32(f.from)}
		}
	}
	for at := 0; at+block <= len(text); at += block {
		p.runes = append(p.runes, p.runes[len(p.runes)-1]+int32(runesIn(text[at:at+block])))
	}
	return p
}

// runesIn counts the characters that begin in s, also where s begins within one.
func runesIn(s string) (n int) {
	for i := range len(s) {
		if utf8.RuneStart(s[i]) {
			n++
		}
	}
	return n
}

func (p *positions) runesBefore(offset int) int {
	k := offset / block
	return int(p.runes[k]) + runesIn(p.text[k*block:offset])
}

// of gives the line and the column of a byte of a file.
func (p *positions) of(k, offset int) (line, column int) {
	starts := p.starts[k]
	line = max(1, sort.Search(len(starts), func(i int) bool { return int(starts[i]) > offset }))
	return line, max(0, p.runesBefore(offset)-p.runesBefore(int(starts[line-1]))) + 1
}

// replaced gives the text with something else in place of a span. A folder is
// joined anew, since the list of its files has their sizes.
func (r *Reading) replaced(span Span, by string) string {
	if r.files == nil {
		return r.text[:span.Start] + by + r.text[span.End:]
	}
	k := fileAt(r.files, span.Start)
	files := make([]PlanFile, len(r.files))
	for i, f := range r.files {
		files[i] = PlanFile{Name: f.name, Text: r.text[f.from:f.to]}
		if i == k {
			files[i].Text = r.text[f.from:span.Start] + by + r.text[span.End:f.to]
		}
	}
	return JoinFiles(files)
}

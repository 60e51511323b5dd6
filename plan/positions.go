package plan

import (
	"sort"
	"unicode/utf8"
)

// This file converts offsets in a plan to positions in its files. A JSON plan may be one line of megabytes with a
// diagnostic at every other byte. The cost of a position must therefore not depend on the length of its line.

// file is one file of a plan: text[from:to]. In a plan of one file it has no name.
type file struct {
	name     string
	from, to int
}

// filesOf returns the files in a text made by JoinFiles. ok is false for any other text.
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

// fileAt returns the index of the file that contains the offset.
func fileAt(files []file, offset int) int {
	return max(0, sort.Search(len(files), func(k int) bool { return files[k].from > offset })-1)
}

// positions maps offsets to lines and columns in all files.
type positions struct {
	text   string
	files  []file
	starts [][]int32 // of the lines of each file
	runes  []int32   // the number of characters before each block
}

// block is the most bytes that are scanned for one column.
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

// runesIn returns the number of characters that begin in s. s may begin inside a character.
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

// of returns the line and the column of an offset in a file.
func (p *positions) of(k, offset int) (line, column int) {
	starts := p.starts[k]
	line = max(1, sort.Search(len(starts), func(i int) bool { return int(starts[i]) > offset }))
	return line, max(0, p.runesBefore(offset)-p.runesBefore(int(starts[line-1]))) + 1
}

// replaced returns the text with a span replaced. For a folder plan it rebuilds the list of files, which contains
// their sizes.
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

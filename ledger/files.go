package ledger

import (
	"strconv"
	"strings"
)

// This file holds the text of a plan that is a folder of files. Whoever reads the folder joins them
// to one text, which has one hash, one span for each mark, and is kept and compared as any plan is.

// A PlanFile is one file of a folder that is a plan.
type PlanFile struct {
	// Name is what the file is called below the folder, with slashes.
	Name string
	Text string
}

// joinedFiles begins the text of a folder. No plan file begins so: a NUL is no text.
const joinedFiles = "\x00files\n"

// JoinFiles gives the files of a folder as one text, which Parse and Read take: first a list of
// their sizes and names, then what is in them, so that nothing in a file can pass for another one.
// The order of the files counts.
func JoinFiles(files []PlanFile) string {
	var b strings.Builder
	b.WriteString(joinedFiles)
	for _, f := range files {
		b.WriteString(strconv.Itoa(len(f.Text)) + " " + strconv.Quote(f.Name) + "\n")
	}
	b.WriteByte('\n')
	for _, f := range files {
		b.WriteString(f.Text)
	}
	return b.String()
}

// SplitFiles takes apart what JoinFiles has put together; ok is false for any other text.
func SplitFiles(text string) (files []PlanFile, ok bool) {
	rest, ok := strings.CutPrefix(text, joinedFiles)
	if !ok {
		return nil, false
	}
	var sizes []int
	for {
		line, after, ok := strings.Cut(rest, "\n")
		if rest = after; !ok {
			return nil, false
		}
		if line == "" {
			break
		}
		size, name, ok := readListed(line)
		if !ok {
			return nil, false
		}
		sizes, files = append(sizes, size), append(files, PlanFile{Name: name})
	}
	for i, size := range sizes {
		if size > len(rest) {
			return nil, false
		}
		files[i].Text, rest = rest[:size], rest[size:]
	}
	return files, rest == ""
}

// readListed reads a line of the list: the size of a file in bytes and its quoted name.
func readListed(line string) (size int, name string, ok bool) {
	number, quoted, _ := strings.Cut(line, " ")
	size, err := strconv.Atoi(number)
	if err != nil || size < 0 {
		return 0, "", false
	}
	name, err = strconv.Unquote(quoted)
	return size, name, err == nil
}

package plan

import (
	"strconv"
	"strings"
)

// This file represents a folder plan as one text. The plan therefore has one hash, and one span for each mark.

// A PlanFile is one file of a folder plan.
type PlanFile struct {
	// Name is the path of the file relative to the folder, with slashes.
	Name string
	Text string
}

// joinedFiles begins the text of a folder plan. No plan file begins like this, because a NUL is not text.
const joinedFiles = "\x00files\n"

// JoinFiles returns the files of a folder as one text for Read. The text begins with a list of sizes and names, so
// that the content of a file cannot imitate another file. The order of the files is significant.
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

// SplitFiles returns the files in a text made by JoinFiles. ok is false for any other text.
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

// readListed parses a line of the list: the size of a file in bytes and its quoted name.
func readListed(line string) (size int, name string, ok bool) {
	number, quoted, _ := strings.Cut(line, " ")
	size, err := strconv.Atoi(number)
	if err != nil || size < 0 {
		return 0, "", false
	}
	name, err = strconv.Unquote(quoted)
	return size, name, err == nil
}

package file

import (
	"path"
	"slices"
	"strings"
)

// wholePlan is a file that contains all items of its folder. The other files repeat them.
const wholePlan = "tasks.json"

// kinds are the patterns of plan file names, in order of preference. A folder plan consists of the files that match
// the first pattern with a match. A pattern with a slash matches files in subfolders.
var kinds = []string{wholePlan, "*-PLAN.md", "task_*.txt", "*.md", "*/*-PLAN.md"}

// membersOf returns the plan files of the folder dir in natural order, relative to dir. It returns nil if the folder
// has none. list returns the names in a folder.
func membersOf(dir string, list func(dir string) ([]string, error)) ([]string, error) {
	names, err := list(dir)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		below, file := path.Split(kind)
		found := matching(names, file)
		if below != "" {
			if found, err = deeper(dir, names, file, list); err != nil {
				return nil, err
			}
		}
		if len(found) > 0 {
			slices.SortFunc(found, natural)
			return found, nil
		}
	}
	return nil, nil
}

// deeper returns the files that match the pattern file in the direct subfolders of dir.
func deeper(dir string, names []string, file string, list func(string) ([]string, error)) ([]string, error) {
	var found []string
	for _, name := range matching(names, "*") {
		below, err := list(path.Join(dir, name))
		if reasonOf(err) == Missing { // a file, or a folder that has just gone
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, f := range matching(below, file) {
			found = append(found, name+"/"+f)
		}
	}
	return found, nil
}

// matching returns the names that match a pattern and are not hidden.
func matching(names []string, pattern string) []string {
	var found []string
	for _, name := range names {
		if ok, _ := path.Match(pattern, name); ok && !strings.HasPrefix(name, ".") {
			found = append(found, name)
		}
	}
	return found
}

// natural compares names with their numbers as numbers, so that task-2 precedes task-10. Names that differ only in
// leading zeros compare as text, so that the order is total.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		i, j := digits(x), digits(y)
		if i == 0 || j == 0 {
			if x[0] != y[0] {
				return strings.Compare(x[:1], y[:1])
			}
			x, y = x[1:], y[1:]
			continue
		}
		m, n := strings.TrimLeft(x[:i], "0"), strings.TrimLeft(y[:j], "0")
		if len(m) != len(n) {
			return len(m) - len(n)
		}
		if m != n {
			return strings.Compare(m, n)
		}
		x, y = x[i:], y[j:]
	}
	if len(x) != len(y) {
		return len(x) - len(y)
	}
	return strings.Compare(a, b)
}

func digits(s string) (n int) {
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

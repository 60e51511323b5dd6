package planfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// maxEntries is how many names of one folder are matched against a wildcard.
const maxEntries = 10_000

// DefaultPatterns returns the places where the known tools keep their plans.
func DefaultPatterns() []string {
	return []string{
		"tasks.md",
		"TASKS.md",
		"docs/tasks.md",
		"specs/*/tasks.md",
		".kiro/specs/*/tasks.md",
		".spec-context/specs/*/tasks.md",
		".spec-workflow/specs/*/tasks.md",
	}
}

// Find returns the plan files that match any of the patterns, sorted, each file once
// whatever the number of its names. A pattern is a path with path.Match wildcards in
// any of its names; a wildcard matches neither hidden names nor node_modules, and
// "**" is refused, so that the walk is as deep as the pattern and no deeper. A link
// whose target cannot be reached is listed: Read says what is wrong with it. When a
// folder cannot be read, the error says so beside what was found elsewhere.
func (r *Root) Find(patterns []string) ([]string, error) {
	if err := checkPatterns(patterns); err != nil {
		return nil, err
	}
	if err := r.refresh(); err != nil {
		return nil, fmt.Errorf("find plans in the workspace folder: %w", plainly(err))
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.root == nil {
		return nil, fmt.Errorf("find plans: %w", os.ErrClosed)
	}
	s := search{root: r}
	for _, pattern := range patterns {
		s.walk("", strings.Split(path.Clean(pattern), "/"))
	}
	return s.plans(), errors.Join(s.errs...)
}

func checkPatterns(patterns []string) error {
	for _, pattern := range patterns {
		if strings.Contains(pattern, "**") {
			return fmt.Errorf("find plans: pattern %q: \"**\" is not supported; write one * per folder", pattern)
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("find plans: pattern %q: %w", pattern, err)
		}
		if _, err := cleanPath(pattern); err != nil {
			return fmt.Errorf("find plans: pattern: %w", err)
		}
	}
	return nil
}

// search is one walk over the patterns.
type search struct {
	root  *Root
	found []candidate
	errs  []error
}

type candidate struct {
	name string
	link bool
	info fs.FileInfo // of the target; nil when it cannot be reached
}

// walk follows the names of a pattern that are left, from the folder dir.
func (s *search) walk(dir string, names []string) {
	matches := []string{names[0]}
	if strings.ContainsAny(names[0], "*?[") {
		matches = s.match(dir, names[0])
	}
	for _, match := range matches {
		name := path.Join(dir, match)
		if len(names) == 1 {
			s.add(name)
		} else {
			s.walk(name, names[1:])
		}
	}
}

func (s *search) match(dir, pattern string) []string {
	var matches []string
	for _, name := range s.list(dir) {
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".")
		if ok, _ := path.Match(pattern, name); ok && !hidden && name != "node_modules" {
			matches = append(matches, name)
		}
	}
	return matches
}

// list returns the names in a folder, or none when it is missing or is no folder.
func (s *search) list(dir string) []string {
	if dir == "" {
		dir = "."
	}
	var names []string
	err := s.root.follow(dir, func(dir string) (err error) {
		names, err = s.readNames(dir)
		return err
	})
	if err != nil && reasonOf(err) == Unreadable {
		s.errs = append(s.errs, fmt.Errorf("find plans in the folder %q: %w", dir, plainly(err)))
	}
	return names
}

func (s *search) readNames(dir string) ([]string, error) {
	f, err := s.root.root.OpenFile(dir, openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(maxEntries + 1)
	switch {
	case errors.Is(err, io.EOF): // an empty folder
		return nil, nil
	case err == nil && len(names) > maxEntries:
		err = &Error{Path: dir, Reason: Unreadable, Err: fmt.Errorf("it has more than %d entries", maxEntries)}
	}
	return names, err
}

// add takes name if it is a regular file or a link that is not to a folder.
func (s *search) add(name string) {
	info, err := s.root.lstat(name)
	if err != nil {
		if reasonOf(err) == Unreadable {
			s.errs = append(s.errs, fmt.Errorf("find plans: look at %q: %w", name, plainly(err)))
		}
		return
	}
	c := candidate{name: name, info: info, link: info.Mode()&fs.ModeSymlink != 0}
	if c.link {
		if c.info, err = s.root.stat(name); err != nil {
			c.info = nil
		}
	}
	if c.info == nil || c.info.Mode().IsRegular() {
		s.found = append(s.found, c)
	}
}

// plans returns the names of what was found. Of several names of one file it keeps
// one: a file before a link to it, then the name as the folder spells it (a file
// system that ignores case answers to both tasks.md and TASKS.md), then the first.
func (s *search) plans() []string {
	slices.SortFunc(s.found, candidate.compare)
	var kept []candidate
	for _, c := range s.found {
		i := slices.IndexFunc(kept, c.same)
		switch {
		case i < 0:
			kept = append(kept, c)
		case !c.link && s.spelled(c.name) && !s.spelled(kept[i].name):
			kept[i] = c
		}
	}
	names := make([]string, len(kept))
	for i, c := range kept {
		names[i] = c.name
	}
	slices.Sort(names)
	return names
}

// compare puts files before links, and then sorts by name.
func (c candidate) compare(d candidate) int {
	switch {
	case c.link == d.link:
		return strings.Compare(c.name, d.name)
	case c.link:
		return 1
	}
	return -1
}

func (c candidate) same(d candidate) bool {
	if c.info == nil || d.info == nil {
		return c.name == d.name
	}
	return os.SameFile(c.info, d.info)
}

// spelled reports whether the folder of name lists it exactly so.
func (s *search) spelled(name string) bool {
	return slices.Contains(s.list(path.Dir(name)), path.Base(name))
}

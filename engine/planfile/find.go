package planfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	// maxEntries is how many names of one folder are matched against a wildcard.
	maxEntries = 10_000
	// maxSpots is how many places are named in which plans may appear.
	maxSpots = 1000
)

// A Finding is what a search came to.
type Finding struct {
	// Plans are the plans that match any of the patterns, sorted, each one once whatever the number of its names.
	Plans []string
	// Spots are the paths at which a plan may appear that is not there yet, folders and files. Whoever
	// watches them, and searches again when one has changed, misses no plan; of very many, some are left out.
	Spots []string
	times map[string]time.Time // of what was found
}

// Changed gives when a plan that was found had changed last, as the system says: of a folder, when its list
// of files had. It is zero if nobody knows.
func (f Finding) Changed(name string) time.Time { return f.times[name] }

// Search finds the plans that match any of the patterns, and says where to look for what is still to come.
// A pattern is a path with path.Match wildcards in any of its names; one that ends in "/" is that of
// folders which are plans, and one that begins with "!" takes out what lies at or below it. A wildcard matches
// neither hidden names nor node_modules and vendor, and "**" is refused, so that the walk is as deep as the
// pattern and no deeper. A link whose target cannot be reached is listed: Read says what is wrong with it.
// When a folder cannot be read, the error says so beside what was found elsewhere.
//
// known are the names of plans that were there before. Those that fit a pattern are listed whatever has the name
// now, unless nothing has: Read says what is wrong.
func (r *Root) Search(patterns []string, known ...string) (Finding, error) {
	if err := checkPatterns(patterns); err != nil {
		return Finding{}, err
	}
	if err := r.refresh(); err != nil {
		return Finding{}, fmt.Errorf("find plans in the workspace folder: %w", plainly(err))
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.root == nil {
		return Finding{}, fmt.Errorf("find plans: %w", os.ErrClosed)
	}
	s := search{root: r, spots: map[string]bool{}}
	for _, pattern := range patterns {
		if except, ok := strings.CutPrefix(pattern, "!"); ok {
			s.except = append(s.except, path.Clean(except))
		}
	}
	for _, pattern := range patterns {
		if !strings.HasPrefix(pattern, "!") {
			s.folders = strings.HasSuffix(pattern, "/")
			s.walk("", strings.Split(path.Clean(pattern), "/"))
		}
	}
	s.addKnown(known, patterns)
	f := Finding{Plans: s.plans(), Spots: s.places(), times: map[string]time.Time{}}
	for _, c := range s.found {
		if c.info != nil {
			f.times[c.name] = c.info.ModTime()
		}
	}
	return f, errors.Join(s.errs...)
}

func checkPatterns(patterns []string) error {
	for _, pattern := range patterns {
		if strings.Contains(pattern, "**") {
			return fmt.Errorf("find plans: pattern %q: \"**\" is not supported; write one * per folder", pattern)
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("find plans: pattern %q: %w", pattern, err)
		}
		if _, err := cleanPath(strings.TrimPrefix(pattern, "!")); err != nil {
			return fmt.Errorf("find plans: pattern: %w", err)
		}
	}
	return nil
}

// search is one walk over the patterns.
type search struct {
	root    *Root
	folders bool // whether the pattern is one of folders
	except  []string
	found   []candidate
	spots   map[string]bool
	errs    []error
}

// walk follows the names of a pattern that are left, from the folder dir.
func (s *search) walk(dir string, names []string) {
	found := []string{names[0]}
	if strings.ContainsAny(names[0], "*?[") {
		s.spot(dir)
		found = s.match(dir, names[0])
	}
	for _, match := range found {
		name := path.Join(dir, match)
		switch {
		case s.excepted(name):
		case len(names) > 1:
			s.walk(name, names[1:])
		case s.folders:
			s.spot(name)
			s.addFolder(name)
		default:
			s.spot(name)
			s.add(name)
		}
	}
}

// spot notes a place in which a plan may appear.
func (s *search) spot(name string) {
	if name != "" && len(s.spots) < maxSpots {
		s.spots[name] = true
	}
}

// places gives the spots. Those below a spot that is a folder are known to it only if they are its own
// entries, so all are named.
func (s *search) places() []string {
	spots := make([]string, 0, len(s.spots))
	for name := range s.spots {
		spots = append(spots, name)
	}
	slices.Sort(spots)
	return spots
}

func (s *search) excepted(name string) bool {
	for _, except := range s.except {
		if ok, _ := path.Match(except, name); ok {
			return true
		}
	}
	return false
}

func (s *search) match(dir, pattern string) (found []string) {
	for _, name := range s.list(dir) {
		if matches(pattern, name) {
			found = append(found, name)
		}
	}
	return found
}

// list returns the names in a folder, or none when it is missing or is no folder.
func (s *search) list(dir string) []string {
	if dir == "" {
		dir = "."
	}
	names, err := s.root.list(dir)
	if err != nil && reasonOf(err) == Unreadable {
		s.errs = append(s.errs, fmt.Errorf("find plans in the folder %q: %w", dir, plainly(err)))
	}
	return names
}

// list returns the names in a folder.
func (r *Root) list(dir string) (names []string, err error) {
	err = r.follow(dir, func(dir string) error {
		f, err := r.root.OpenFile(dir, openFlags, 0)
		if err != nil {
			return err
		}
		names, err = r.readNames(f, dir)
		return err
	})
	return names, err
}

// readNames reads the names in an open folder, and closes it.
func (r *Root) readNames(f *os.File, dir string) ([]string, error) {
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(r.maxEntries + 1)
	switch {
	case errors.Is(err, io.EOF): // an empty folder
		return nil, nil
	case err == nil && len(names) > r.maxEntries:
		err = &Error{Path: dir, Reason: Unreadable, Err: fmt.Errorf("it has more than %d entries", r.maxEntries)}
	}
	return names, err
}

// add takes name if it is a regular file or a link that is not to a folder.
func (s *search) add(name string) {
	if c, ok := s.look(name); ok && (c.info == nil || c.info.Mode().IsRegular()) {
		s.found = append(s.found, c)
	}
}

// addFolder takes name if it is a folder with files of a plan. One with a file that has all of them is
// found by the name of that file.
func (s *search) addFolder(name string) {
	c, ok := s.look(name)
	if !ok || c.info == nil || !c.info.IsDir() {
		return
	}
	members, err := membersOf(name, s.root.list)
	if err != nil && reasonOf(err) == Unreadable {
		s.errs = append(s.errs, fmt.Errorf("find plans in the folder %q: %w", name, plainly(err)))
	}
	if len(members) > 0 && members[0] != wholePlan {
		s.found = append(s.found, c)
	}
}

// look finds out what has the name; ok is false if nothing does.
func (s *search) look(name string) (c candidate, ok bool) {
	c, err := s.root.candidate(name)
	if err != nil && reasonOf(err) == Unreadable {
		s.errs = append(s.errs, fmt.Errorf("find plans: look at %q: %w", name, plainly(err)))
	}
	return c, err == nil
}

// plans returns the names of what was found. Of several names of one file it keeps
// one: a file before a link to it, then the name as the folder spells it (a file
// system that ignores case answers to both tasks.md and TASKS.md), then the first.
func (s *search) plans() []string {
	slices.SortFunc(s.found, candidate.compare)
	var kept []candidate
	alike := map[looks][]int{} // places in kept; there may be thousands
	for _, c := range s.found {
		like := alike[c.looks()]
		k := slices.IndexFunc(like, func(i int) bool { return c.same(kept[i]) })
		switch {
		case k < 0:
			alike[c.looks()] = append(like, len(kept))
			kept = append(kept, c)
		case !c.link && s.spelled(c.name) && !s.spelled(kept[like[k]].name):
			kept[like[k]] = c
		}
	}
	names := make([]string, len(kept))
	for i, c := range kept {
		names[i] = c.name
	}
	slices.Sort(names)
	return names
}

// spelled reports whether the folder of name lists it exactly so.
func (s *search) spelled(name string) bool {
	return slices.Contains(s.list(path.Dir(name)), path.Base(name))
}

package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	// maxSpots limits the length of Finding.Spots.
	maxSpots = 1000
)

// A Finding is the result of a search.
type Finding struct {
	// Plans are the paths of the plans found, sorted. A plan with several names is listed once.
	Plans []string
	// Spots are the files and folders in which a new plan may appear. A caller that watches them and searches again
	// after each change finds every new plan, unless the list reached its limit of 1000.
	Spots []string
	times map[string]time.Time // modification times by name
}

// Changed returns the modification time of a plan that was found, or zero if it is unknown. For a folder, this is the
// time when its list of files last changed.
func (f Finding) Changed(name string) time.Time { return f.times[name] }

// Search finds the plans that match any of the patterns, and the paths where new plans may appear. A pattern is a path
// with path.Match wildcards in any of its names. A pattern that ends in "/" matches folder plans. A pattern that
// begins with "!" excludes the matching path and everything below it. A wildcard does not match hidden names,
// node_modules or vendor. "**" is an error, so that the walk is never deeper than the pattern.
//
// A link with an unreachable target is listed, because Read reports its error. When a folder cannot be read, Search
// returns both the error and the plans of the other folders.
//
// known are plans from earlier searches. A known name that matches a pattern is listed as long as any file or folder
// has it, even if it is no longer a plan. Read then reports the error.
func (r *Root) Search(patterns []string, known ...string) (Finding, error) {
	if err := checkPatterns(patterns); err != nil {
		return Finding{}, err
	}
	release, err := r.tree.hold()
	if err != nil {
		return Finding{}, fmt.Errorf("find plans in the workspace folder: %w", plainly(err))
	}
	defer release()
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

// search is the state of one call of Search.
type search struct {
	root    *Root
	folders bool // the current pattern ends in "/"
	except  []string
	found   []candidate
	spots   map[string]bool
	errs    []error
}

// walk matches the remaining names of a pattern, starting in the folder dir.
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

// spot records a path at which a plan may appear.
func (s *search) spot(name string) {
	if name != "" && len(s.spots) < maxSpots {
		s.spots[name] = true
	}
}

// places returns the spots, sorted. A spot below another one is kept, because a watch on a folder reports only its
// direct entries.
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

// list returns the names in a folder. It returns nil for a missing folder or a file, and records other errors.
func (s *search) list(dir string) []string {
	if dir == "" {
		dir = "."
	}
	names, err := s.root.tree.list(dir)
	if err != nil && reasonOf(err) == Unreadable {
		s.errs = append(s.errs, fmt.Errorf("find plans in the folder %q: %w", dir, plainly(err)))
	}
	return names
}

// add records name as a plan if it is a regular file, a link to one, or a link with an unreachable target.
func (s *search) add(name string) {
	if c, ok := s.look(name); ok && (c.info == nil || c.info.Mode().IsRegular()) {
		s.found = append(s.found, c)
	}
}

// addFolder records name as a plan if it is a folder with plan files. A folder with a tasks.json is skipped, because
// the pattern of that file finds it.
func (s *search) addFolder(name string) {
	c, ok := s.look(name)
	if !ok || c.info == nil || !c.info.IsDir() {
		return
	}
	members, err := membersOf(name, s.root.tree.list)
	if err != nil && reasonOf(err) == Unreadable {
		s.errs = append(s.errs, fmt.Errorf("find plans in the folder %q: %w", name, plainly(err)))
	}
	if len(members) > 0 && members[0] != wholePlan {
		s.found = append(s.found, c)
	}
}

// look returns the candidate with that name, and false if it cannot be examined. It records errors other than a
// missing file.
func (s *search) look(name string) (c candidate, ok bool) {
	c, err := s.root.tree.candidate(name)
	if err != nil && reasonOf(err) == Unreadable {
		s.errs = append(s.errs, fmt.Errorf("find plans: look at %q: %w", name, plainly(err)))
	}
	return c, err == nil
}

// plans returns the names of the plans found, each file once. It prefers a file over a link, then the spelling in the
// folder's list, then the first name. A file system that ignores case finds one file as both tasks.md and TASKS.md.
func (s *search) plans() []string {
	slices.SortFunc(s.found, candidate.compare)
	var kept []candidate
	alike := map[looks][]int{} // indexes into kept, so that thousands of plans are not compared pairwise
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

// spelled reports whether the parent folder lists name in exactly this spelling.
func (s *search) spelled(name string) bool {
	return slices.Contains(s.list(path.Dir(name)), path.Base(name))
}

// addKnown adds the known names that match a pattern and still exist, whatever they are now. If the search already
// found the file by another name, plans removes the duplicate.
func (s *search) addKnown(names, patterns []string) {
	for _, name := range names {
		if !s.fits(name, patterns) || s.root.Canonical(name) != name {
			continue
		}
		if c, err := s.root.tree.candidate(name); err == nil || reasonOf(err) != Missing {
			s.found = append(s.found, c)
		}
	}
}

// fits reports whether the name matches a pattern and no exception.
func (s *search) fits(name string, patterns []string) bool {
	for at := name; at != "."; at = path.Dir(at) {
		if s.excepted(at) {
			return false
		}
	}
	for _, pattern := range patterns {
		if !strings.HasPrefix(pattern, "!") && leadsTo(path.Clean(pattern), name) {
			return true
		}
	}
	return false
}

// leadsTo reports whether the path name matches a pattern, name by name.
func leadsTo(pattern, name string) bool {
	wanted, parts := strings.Split(pattern, "/"), strings.Split(name, "/")
	if len(wanted) != len(parts) {
		return false
	}
	for i := range parts {
		if !matches(wanted[i], parts[i]) {
			return false
		}
	}
	return true
}

// matches reports whether one name matches one element of a pattern. A wildcard skips hidden names, node_modules and
// vendor.
func matches(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return pattern == name
	}
	hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".")
	ok, _ := path.Match(pattern, name)
	return ok && !hidden && name != "node_modules" && name != "vendor"
}

// A candidate is a path that matched a pattern and may be a plan.
type candidate struct {
	name string
	link bool
	info fs.FileInfo // of the target; nil when it cannot be reached
}

// candidate looks at the file or link with that name. An error means that its state is unknown.
func (t *tree) candidate(name string) (candidate, error) {
	c := candidate{name: name}
	info, err := t.lstat(name)
	if err != nil {
		return c, err
	}
	c.info, c.link = info, info.Mode()&fs.ModeSymlink != 0
	if c.link {
		if c.info, err = t.stat(name); err != nil {
			c.info = nil
		}
	}
	return c, nil
}

// compare orders files before links, and then by name.
func (c candidate) compare(d candidate) int {
	switch {
	case c.link == d.link:
		return strings.Compare(c.name, d.name)
	case c.link:
		return 1
	}
	return -1
}

// looks is a cheap key: two names of one file have equal looks, and different files seldom do.
type looks struct {
	size    int64
	changed time.Time
}

func (c candidate) looks() (l looks) {
	if c.info != nil {
		l = looks{c.info.Size(), c.info.ModTime()}
	}
	return l
}

func (c candidate) same(d candidate) bool {
	if c.info == nil || d.info == nil {
		return c.name == d.name
	}
	return os.SameFile(c.info, d.info)
}

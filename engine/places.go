package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"waybill/core"
	"waybill/engine/planfile"
	"waybill/ledger"
)

const (
	// mostPlans is how many plans of a workspace are listed and watched.
	mostPlans = 100
	// mostOthers is how many files are looked into that lie in a place of plans and may be none.
	mostOthers = 1000
	// mostLooked is how many bytes of such files are read in one search.
	mostLooked = 64 << 20
)

// A Listing is what a workspace has in the places where tools keep their plans.
type Listing struct {
	// Paths are those of the plans in ascending order. What was a plan once is one as long as anything has its name,
	// so that what is wrong with it is told.
	Paths []string
	// Others lie in a place that has other files besides plans, and are none.
	Others []Other
}

// An Other is a file that might have been a plan, and why it is none.
type Other struct {
	Path string
	Why  error
}

// other is what is remembered of an Other, so that it is not read again while it stays what it is.
type other struct {
	file    planfile.File
	placing ledger.Placing // that it was read with
	why     error
}

// List gives the paths of the plans of the workspace in ascending order. An error is a *SearchError;
// the list then holds what was found elsewhere.
func (p *Plans) List() ([]string, error) {
	l, err := p.Survey()
	return l.Paths, err
}

// Survey is List, and says what was passed over.
func (p *Plans) Survey() (Listing, error) {
	found, err := p.root.Search(planfile.DefaultPatterns(), p.Known()...)
	for _, spot := range found.Spots {
		p.o.Expect(spot)
	}
	l, unasked := p.sorted(found.Plans)
	if unasked > 0 {
		err = errors.Join(err, fmt.Errorf("%d files may be plans and were not looked into, after %d others", unasked, len(l.Others)))
	}
	var over error
	l.Paths, over = latest(l.Paths, found)
	if err = errors.Join(err, over); err != nil {
		return l, &SearchError{err}
	}
	return l, nil
}

// sorted tells plans from other files, and says how many it has not looked into because they are too many.
func (p *Plans) sorted(names []string) (l Listing, unasked int) {
	looked := int64(0)
	for _, name := range names {
		switch {
		case !planfile.Mixed(name) || p.remembers(name):
			l.Paths = append(l.Paths, name)
		case len(l.Others) >= mostOthers || looked >= mostLooked:
			unasked++
		default:
			size, why := p.noPlan(name)
			if looked += size; why == nil {
				l.Paths = append(l.Paths, name)
			} else {
				l.Others = append(l.Others, Other{name, why})
			}
		}
	}
	return l, unasked
}

// latest gives those of too many plans that changed last, and says how many there are.
func latest(paths []string, found planfile.Finding) ([]string, error) {
	if len(paths) <= mostPlans {
		return paths, nil
	}
	err := fmt.Errorf("there are %d plans: the %d that changed last are listed, and the others are read when they are named", len(paths), mostPlans)
	slices.SortStableFunc(paths, func(a, b string) int { return found.Changed(b).Compare(found.Changed(a)) })
	paths = slices.Clip(paths[:mostPlans])
	slices.Sort(paths)
	return paths, err
}

// remembers reports whether a plan was read from the path, whatever is there now.
func (p *Plans) remembers(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plans[name] != nil
}

// noPlan says why a file is no plan, and nil if it is one, and how much was read for that.
func (p *Plans) noPlan(name string) (size int64, why error) {
	p.mu.Lock()
	last, known := p.others[name]
	p.mu.Unlock()
	prev, placing := &last.file, p.Placing(name)
	if !known || last.placing != placing {
		prev = nil
	}
	file, err := p.root.Read(name, prev)
	if err == nil && file.Unchanged {
		return 0, last.why
	}
	size = int64(len(file.Text))
	if err == nil {
		err = items(&file, placing)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.others, name); err != nil && len(p.others) < mostOthers {
		file.Text = "" // what counts is whether it changes
		p.others[name] = other{file, placing, err}
	}
	return size, err
}

// items says why nothing can be read from a file.
func items(file *planfile.File, placing ledger.Placing) error {
	reading, err := ledger.ReadPlaced(file.Text, placing)
	if err == nil && reading.Len() == 0 {
		err = errors.New("it is blank")
	}
	return err
}

// expectParts makes sure that a change in a folder below one that is a plan is noticed.
func (p *Plans) expectParts(file *planfile.File) {
	for _, dir := range file.Folders() {
		if dir != file.Path {
			p.o.Expect(dir)
		}
	}
}

// A SearchError says what could not be searched for plans.
type SearchError struct{ Err error }

// Error gives what the system said.
func (e *SearchError) Error() string { return e.Err.Error() }

// Unwrap gives what the system said.
func (e *SearchError) Unwrap() error { return e.Err }

// Gone reports whether the workspace folder itself is not there any more.
func (e *SearchError) Gone() bool { return errors.Is(e.Err, fs.ErrNotExist) }

// Resolve gives the path of the plan that a host means: a path relative to the workspace, or the
// short name of a plan. A name that is neither that of a plan nor that of a file is refused.
func (p *Plans) Resolve(name string) (string, error) {
	if strings.ContainsAny(name, `/\`) || strings.Contains(name, ".") && p.isThere(path.Clean(name)) {
		return p.root.Canonical(path.Clean(name)), nil
	}
	found, err := p.List()
	for _, candidate := range found {
		if planfile.ShortName(candidate) == name {
			return candidate, nil
		}
	}
	switch {
	case strings.Contains(name, "."):
		return path.Clean(name), nil // of a file that is not there, Read says so
	case err != nil:
		return "", err
	case !p.isThere(name):
		return "", &core.Refusal{
			Kind: core.NotFound, Noun: "plan", Subject: name, Message: fmt.Sprintf("no plan has the name or the path %q", name),
		}
	}
	return name, nil
}

// isThere reports whether a path is that of a plan which was read, or of anything at all: of a folder without
// a plan, Read says what it lacks.
func (p *Plans) isThere(name string) bool {
	if p.remembers(name) {
		return true
	}
	_, err := p.root.Read(name, nil)
	return !errors.Is(err, planfile.Missing) || !errors.Is(err, fs.ErrNotExist)
}

// Candidates gives the paths at which a plan may have been that is known by its short name.
func (p *Plans) Candidates(name string) []string { return planfile.Candidates(name) }

// concerned gives the plans that a change at a path is about: the one that is there, and those that are
// folders above it. It is empty for a path at which nothing is known to be.
func (p *Plans) concerned(changed string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var paths []string
	for at := changed; at != "." && at != "/"; at = path.Dir(at) {
		if p.plans[at] != nil {
			paths = append(paths, at)
		}
	}
	return paths
}

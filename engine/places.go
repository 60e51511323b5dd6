package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"waybill/core"
	"waybill/plan"
	planfile "waybill/plan/file"
	"waybill/plan/places"
	"waybill/plan/read"
)

const (
	// maxPlans bounds the plans that are listed and watched.
	maxPlans = 100
	// maxOthers bounds the files read in mixed folders that may not be plans.
	maxOthers = 1000
	// maxSearchBytes bounds the bytes of such files read in one search.
	maxSearchBytes = 64 << 20
)

// A Listing is the result of a search for plans.
type Listing struct {
	// Paths are the paths of the plans in ascending order. A file that once was a plan stays listed while it exists,
	// so that its errors are reported.
	Paths []string
	// Others are files in mixed folders that are not plans.
	Others []Other
}

// An Other is a file that is not a plan, and the reason.
type Other struct {
	Path string
	Why  error
}

// other caches an Other, so that an unchanged file is not read again.
type other struct {
	file    planfile.File
	placing plan.Hints // used for the reading
	why     error
}

// List returns the paths of the plans of the workspace in ascending order. With a *SearchError it returns the plans
// that were found.
func (p *Plans) List() ([]string, error) {
	l, err := p.Survey()
	return l.Paths, err
}

// Survey is List, and also returns the files that are not plans.
func (p *Plans) Survey() (Listing, error) {
	found, err := p.root.Search(places.Patterns(), p.Known()...)
	for _, spot := range found.Spots {
		p.o.Expect(spot)
	}
	l, unasked := p.classify(found.Plans)
	if unasked > 0 {
		err = errors.Join(err, fmt.Errorf("%d files that may be plans were not read, because %d other files were read before", unasked, len(l.Others)))
	}
	var over error
	l.Paths, over = newestPlans(l.Paths, found)
	if err = errors.Join(err, over); err != nil {
		return l, &SearchError{err}
	}
	return l, nil
}

// classify separates plans from other files. unasked counts the files that were not read because of the bounds.
func (p *Plans) classify(names []string) (l Listing, unasked int) {
	looked := int64(0)
	for _, name := range names {
		switch {
		case !places.Mixed(name) || p.remembers(name):
			l.Paths = append(l.Paths, name)
		case len(l.Others) >= maxOthers || looked >= maxSearchBytes:
			unasked++
		default:
			size, why := p.whyNoPlan(name)
			if looked += size; why == nil {
				l.Paths = append(l.Paths, name)
			} else {
				l.Others = append(l.Others, Other{name, why})
			}
		}
	}
	return l, unasked
}

// newestPlans returns the maxPlans plans that changed last, and an error if some were left out.
func newestPlans(paths []string, found planfile.Finding) ([]string, error) {
	if len(paths) <= maxPlans {
		return paths, nil
	}
	err := fmt.Errorf("there are %d plans; the %d that changed last are listed, and the others can be read by name", len(paths), maxPlans)
	slices.SortStableFunc(paths, func(a, b string) int { return found.Changed(b).Compare(found.Changed(a)) })
	paths = slices.Clip(paths[:maxPlans])
	slices.Sort(paths)
	return paths, err
}

// remembers reports whether a plan was read from the path before.
func (p *Plans) remembers(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plans[name] != nil
}

// whyNoPlan returns why a file is no plan, or nil if it is one, and the number of bytes read.
func (p *Plans) whyNoPlan(name string) (size int64, why error) {
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
		err = checkReading(&file, placing)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.others, name); err != nil && len(p.others) < maxOthers {
		file.Text = "" // only its state is compared
		p.others[name] = other{file, placing, err}
	}
	return size, err
}

// checkReading returns an error if no plan can be read from a file.
func checkReading(file *planfile.File, placing plan.Hints) error {
	reading, err := read.Read(file.Text, placing)
	if err == nil && reading.Len() == 0 {
		err = errors.New("it is blank")
	}
	return err
}

// expectParts watches the subfolders of a plan that is a folder.
func (p *Plans) expectParts(file *planfile.File) {
	for _, dir := range file.Folders() {
		if dir != file.Path {
			p.o.Expect(dir)
		}
	}
}

// A SearchError says which folders could not be searched for plans.
type SearchError struct{ Err error }

// Error returns the text of the cause.
func (e *SearchError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SearchError) Unwrap() error { return e.Err }

// Gone reports whether the workspace folder is missing.
func (e *SearchError) Gone() bool { return errors.Is(e.Err, fs.ErrNotExist) }

// Resolve returns the path of a plan from a relative path or a short name. Other names are refused.
func (p *Plans) Resolve(name string) (string, error) {
	if strings.ContainsAny(name, `/\`) || strings.Contains(name, ".") && p.exists(path.Clean(name)) {
		return p.root.Canonical(path.Clean(name)), nil
	}
	found, err := p.List()
	for _, candidate := range found {
		if places.ShortName(candidate) == name {
			return candidate, nil
		}
	}
	switch {
	case strings.Contains(name, "."):
		return path.Clean(name), nil // Read reports a missing file
	case err != nil:
		return "", err
	case !p.exists(name):
		return "", &core.Refusal{
			Kind: core.NotFound, Noun: "plan", Subject: name, Message: fmt.Sprintf("no plan has the name or path %q", name),
		}
	}
	return name, nil
}

// exists reports whether a plan was read from the path or if the path exists. Read reports a folder that is no plan.
func (p *Plans) exists(name string) bool {
	if p.remembers(name) {
		return true
	}
	_, err := p.root.Read(name, nil)
	return !errors.Is(err, planfile.Missing) || !errors.Is(err, fs.ErrNotExist)
}

// Candidates returns the paths that a short name may stand for.
func (p *Plans) Candidates(name string) []string { return places.Candidates(name) }

// plansAt returns the known plan at a path, and the known plans that are folders above it.
func (p *Plans) plansAt(changed string) []string {
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

package engine

import (
	"errors"
	"fmt"

	"waybill/plan/criteria"
	"waybill/plan/dialect"
	planfile "waybill/plan/file"
)

// Criteria are the acceptance criteria of a plan.
type Criteria struct {
	// Path is the path of the file relative to the workspace, or "" if there is none.
	Path string
	// List is shared; callers must not change it.
	List []criteria.Criterion
}

// ErrUnsteady says that a file changed each time it was read.
var ErrUnsteady = errors.New("it is being written")

// criteriaFile is the cached content of one criteria file.
type criteriaFile struct {
	file planfile.File // without its text
	list []criteria.Criterion
}

// Criteria returns the acceptance criteria of a plan, which are where the dialect of that name has them. A missing file
// is no error. An unchanged file is not read again.
func (p *Plans) Criteria(plan, dialectName string) (Criteria, error) {
	name := dialect.CriteriaOf(plan, dialectName)
	p.mu.Lock()
	last, known := p.criteria[name]
	p.mu.Unlock()
	var before *planfile.File
	if known {
		before = &last.file
	} else if name != plan && p.root.Absent(name) { // reading a missing file costs many times as much
		return Criteria{}, nil
	}
	file, err := p.root.Read(name, before)
	switch {
	case name != plan && (errors.Is(err, planfile.Missing) || errors.Is(err, planfile.SymlinkDangling)):
		p.dropCriteria(name)
		return Criteria{}, nil
	case err == nil && file.Unstable:
		err = ErrUnsteady
	}
	if err != nil {
		return Criteria{Path: name}, fmt.Errorf("read criteria: %w", err)
	}
	if !file.Unchanged {
		last = criteriaFile{file, criteria.Read([]byte(file.Text))}
		last.file.Text = ""
		p.keepCriteria(name, last)
	}
	return Criteria{name, last.list}, nil
}

func (p *Plans) keepCriteria(name string, read criteriaFile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.criteria == nil || len(p.criteria) >= maxPlans {
		p.criteria = map[string]criteriaFile{}
	}
	p.criteria[name] = read
}

func (p *Plans) dropCriteria(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.criteria, name)
}

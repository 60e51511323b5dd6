package engine

import (
	"errors"
	"fmt"
	slashpath "path"

	"waybill/engine/planfile"
	"waybill/ledger"
)

// Criteria is what a file says that is to be true when the work on a plan is done.
type Criteria struct {
	// Path is that of the file, relative to the workspace, "" if there is none.
	Path string
	// List is shared: nobody may write into it.
	List []ledger.Criterion
}

// ErrUnsteady says that a file was being written whenever it was read.
var ErrUnsteady = errors.New("it is being written")

// criteriaFile is the memory of one such file.
type criteriaFile struct {
	file planfile.File // without its text
	list []ledger.Criterion
}

// Criteria gives the criteria of a plan: those of the plan itself for bmad, whose stories have them, of the spec.md
// beside it for spec-kit, and else of the requirements.md beside it. That there is no such file beside it is no error. A
// file that has provably not changed since it was read costs one look at its state.
func (p *Plans) Criteria(plan, dialect string) (Criteria, error) {
	name := criteriaPath(plan, dialect)
	p.mu.Lock()
	last, known := p.criteria[name]
	p.mu.Unlock()
	var before *planfile.File
	if known {
		before = &last.file
	} else if name != plan && p.root.Absent(name) { // to read what is not there costs many times as much
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
		last = criteriaFile{file, ledger.AcceptanceCriteria([]byte(file.Text))}
		last.file.Text = ""
		p.keepCriteria(name, last)
	}
	return Criteria{name, last.list}, nil
}

func criteriaPath(plan, dialect string) string {
	switch dialect {
	case "bmad":
		return plan
	case "spec-kit":
		return slashpath.Join(slashpath.Dir(plan), "spec.md")
	}
	return slashpath.Join(slashpath.Dir(plan), "requirements.md")
}

func (p *Plans) keepCriteria(name string, read criteriaFile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.criteria == nil || len(p.criteria) >= mostPlans {
		p.criteria = map[string]criteriaFile{}
	}
	p.criteria[name] = read
}

func (p *Plans) dropCriteria(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.criteria, name)
}

package dialect

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"waybill/internal/nearest"
	"waybill/plan/lex"
)

// This file lists the dialects. No dialect depends on it.

// All are the dialects in order of strength.
var All = []*Dialect{
	&bmad, &superpowers, &tina, &agentOS, &ccSDD, &kiroHeads, &specWorkflow, &kiro, &aiDev, &openSpec, &specContext, &specKit, &conductor, &ccpm,
	&table, &loose, &backlog, &taskMaster, &ccpmFiles, &gsd,
}

// Listed are the dialects in the order of Names.
var Listed = []*Dialect{
	&specContext, &specWorkflow, &kiro, &specKit, &openSpec, &ccSDD, &aiDev, &conductor, &bmad, &ccpm, &superpowers, &tina, &agentOS,
	&loose, &table, &backlog, &taskMaster, &ccpmFiles, &gsd,
}

// Names returns the names of all dialects that a comment in a file can set.
func Names() []string {
	all := make([]string, len(Listed))
	for i, d := range Listed {
		all[i] = d.Name
	}
	return all
}

// Of returns the dialect with a name, or nil.
func Of(name string) *Dialect {
	for _, d := range Listed {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// CriteriaOf returns the path of the file with the acceptance criteria of a plan, which may be the plan itself.
func CriteriaOf(plan, dialect string) string {
	name := "requirements.md"
	if d := Of(dialect); d != nil && d.Criteria != "" {
		name = d.Criteria
	}
	if name == "." {
		return plan
	}
	return path.Join(path.Dir(plan), name)
}

// Unknown says that a name is no dialect, and which one it may mean or where they are listed.
func Unknown(name string) string {
	fault := "there is no dialect " + strconv.Quote(lex.Clip(name))
	if near := nearest.Names(name, Names()); len(near) > 0 {
		return fault + "; perhaps: " + strings.Join(near, ", ")
	}
	return fault + ": `waybill plan --help` lists them"
}

// Folder returns the dialect of the tool folder that a path begins with, and the folder, or nil.
func Folder(path string) (d *Dialect, under string) {
	for _, d := range Listed {
		for _, under := range d.Folders {
			if strings.HasPrefix(path, under) {
				return d, under
			}
		}
	}
	return nil, ""
}

// HintPath returns the part of a path that begins with the last folder of a tool. Without such a folder, it returns
// the whole path. Callers pass the absolute path, so that plan.Hints.Path does not depend on the workspace.
func HintPath(path string) string {
	last := 0
	for _, d := range Listed {
		for _, under := range d.Folders {
			last = max(last, strings.LastIndex("/"+path, "/"+under))
		}
	}
	return path[last:]
}

// Has reports whether something speaks for the dialect.
func (d *Dialect) Has(l Look) bool { return slices.Contains(d.Looks, l) }

// Weak reports whether a plan may be one of the dialect only because nothing else speaks for another one.
func (d *Dialect) Weak() bool { return d == nil || d == Plain || d == &loose }

// Plain is the dialect of a plan that nothing speaks for.
var Plain = &specContext

// First returns the dialects in the order of Names, but one of them first. It may be nil.
func First(d *Dialect) []*Dialect {
	if d == nil {
		return Listed
	}
	return append([]*Dialect{d}, slices.DeleteFunc(slices.Clone(Listed), func(other *Dialect) bool { return other == d })...)
}

// Owner returns the dialect that a look speaks for most, the first one that has it.
func (l Look) Owner() *Dialect { return owners[l] }

var owners = func() (all [Looks]*Dialect) {
	for l := range all {
		for _, d := range All {
			if all[l] == nil && d.Has(Look(l)) {
				all[l] = d
			}
		}
	}
	return all
}()

// Shares reports whether plans with the fields of another dialect may be plans of this one, because both tools write
// them.
func (d *Dialect) Shares(other *Dialect) bool {
	return d == other || d == &specWorkflow && other == &specContext
}

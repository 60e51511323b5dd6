package file

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"waybill/plan"
)

// This file reads folder plans, with one file for each item or for a few items. All files are read as one text, so
// that the rest of the program handles one plan with one hash. Only the names decide which files belong to the plan,
// because such a folder also has notes, summaries and backup files of editors.

// maxFiles limits the files of one folder plan. Every check for changes reads the metadata of each file.
const maxFiles = 5000

// fileLike are the extensions of plan files. A folder with such a name, for example tasks.md, is not a plan.
var fileLike = []string{".md", ".json", ".txt", ".markdown"}

// isFolder reports whether name is a folder that may be a plan.
func (r *Root) isFolder(name string) bool {
	if !r.mayBeFolder(name) {
		return false
	}
	info, err := r.tree.stat(name)
	return err == nil && info.IsDir()
}

func (r *Root) mayBeFolder(name string) bool {
	return r.opts.Folders && !slices.Contains(fileLike, strings.ToLower(path.Ext(name)))
}

// Canonical returns the path under which Search lists a plan. For a folder with a tasks.json, this is the path of that
// file. Every other path is returned unchanged.
func (r *Root) Canonical(rel string) string {
	name, err := cleanPath(rel)
	if err != nil || !r.mayBeFolder(name) {
		return rel
	}
	whole := path.Join(name, wholePlan)
	if _, err := StatPath(r.tree.plain(whole)); err != nil { // the choice of a name needs no os.Root; Read uses one
		return rel
	}
	return whole
}

// readFolder reads all files of a folder plan. It repeats the reading, at most readTries times, until no file and no
// name changes during one try. A mixture of two saves is marked Unstable.
func (r *Root) readFolder(dir string) (file File, err error) {
	for range readTries {
		if file, err = r.readMembers(dir); err != nil || !file.Unstable {
			break
		}
	}
	file.Path = dir
	return file, err
}

func (r *Root) readMembers(dir string) (File, error) {
	now := r.opts.Now()
	names, err := membersOf(dir, r.tree.list)
	if err == nil {
		err = r.countable(names)
	}
	if err != nil {
		return File{}, err
	}
	var file File
	var parts []plan.PlanFile
	left, stable := r.opts.MaxBytes, true
	for _, name := range names {
		part, err := r.readMember(path.Join(dir, name), left)
		switch {
		case reasonOf(err) == Missing:
			stable = false // it was there when the folder was listed
			continue
		case reasonOf(err) == TooLarge:
			return File{}, r.tooLarge(dir, names)
		case err != nil:
			return File{}, err
		}
		left -= int64(len(part.Text))
		stable = stable && !part.Unstable
		parts = append(parts, plan.PlanFile{Name: name, Text: part.Text})
		file.members = append(file.members, member{name, part.Stat})
	}
	if r.betweenStats != nil {
		r.betweenStats()
	}
	file.Text = joined(parts)
	file.Stat = r.statFolder(dir, &file)
	file.Unstable = !stable || !r.tree.asListed(dir, file.members)
	file.Settled = !file.Unstable && settled(file.Stat, now)
	return file, nil
}

// joined returns the text of a folder plan: the text of its tasks.json, or all files joined.
func joined(parts []plan.PlanFile) string {
	if len(parts) == 1 && parts[0].Name == wholePlan {
		return parts[0].Text
	}
	return plan.JoinFiles(parts)
}

// countable returns an error for a folder with no plan files or with too many.
func (r *Root) countable(names []string) error {
	switch {
	case len(names) == 0:
		return &Error{Reason: Missing, Err: fmt.Errorf("the folder has no plan file (%s)", strings.Join(kinds, ", "))}
	case len(names) > r.maxFiles:
		return &Error{Reason: TooManyFiles, Size: int64(len(names)), Limit: int64(r.maxFiles), Err: TooManyFiles}
	}
	return nil
}

// readMember reads one file of a folder plan. A broken link is Unreadable, not Missing, because the folder lists it.
func (r *Root) readMember(name string, limit int64) (File, error) {
	file, err := r.readFile(name, limit)
	if err == nil {
		return file, nil
	}
	err = r.fileError(name, name, err)
	if e, ok := errors.AsType[*Error](err); ok && e.Reason == SymlinkDangling {
		e.Reason, e.Err = Unreadable, fmt.Errorf("it is a broken link: %w", plainly(e.Err))
	}
	return File{}, err
}

// tooLarge returns a TooLarge error with the total size of all files.
func (r *Root) tooLarge(dir string, names []string) error {
	var size int64
	for _, name := range names {
		if info, err := r.tree.stat(path.Join(dir, name)); err == nil {
			size += info.Size()
		}
	}
	return &Error{Reason: TooLarge, Size: size, Limit: r.opts.MaxBytes, Err: TooLarge}
}

// statFolder returns the Stat of a folder plan: the identity of the folder, the size of the joined text, and the
// newest times of its files. It also sets file.ListedNs.
func (r *Root) statFolder(dir string, file *File) Stat {
	st := Stat{Size: int64(len(file.Text))}
	if own, err := StatPath(r.tree.plain(dir)); err == nil {
		st.Inode, st.Dev, file.ListedNs = own.Inode, own.Dev, own.MtimeNs
	}
	for _, m := range file.members {
		st.MtimeNs, st.CtimeNs = max(st.MtimeNs, m.stat.MtimeNs), max(st.CtimeNs, m.stat.CtimeNs)
	}
	return st
}

// asListed reports whether the folder still has exactly these files, with unchanged Stats.
func (t *tree) asListed(dir string, members []member) bool {
	names, err := membersOf(t.plain(dir), t.listPlain)
	if err != nil || len(names) != len(members) {
		return false
	}
	for i, m := range members {
		now, err := StatPath(t.plain(dir + "/" + m.name))
		if err != nil || names[i] != m.name || now != m.stat {
			return false
		}
	}
	return true
}

package planfile

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"waybill/ledger"
)

// This file reads plans that are folders: a file for each item, or for a few of them. They are read as
// one text, so that the rest of the program knows one plan with one hash. Which files belong to the plan
// is told by their names alone, because a folder has others too: notes, summaries, what editors leave.

const (
	// maxFiles is how many files a plan may have. Each of them is looked at whenever the plan is.
	maxFiles = 5000
	// wholePlan is a file that has every item of its folder; the others then repeat it.
	wholePlan = "tasks.json"
)

// kinds are the names of plan files. A folder is made of the files of the first kind that it has. One with
// a slash is a file in a folder within the folder.
var kinds = []string{wholePlan, "*-PLAN.md", "task_*.txt", "*.md", "*/*-PLAN.md"}

// fileLike are the ends of names that are those of files, whatever has them: a folder of the name tasks.md
// is not what anybody means by a plan.
var fileLike = []string{".md", ".json", ".txt", ".markdown"}

// A member is a file of a folder as it was when it was read.
type member struct {
	name string // below the folder, with "/"
	stat Stat
}

// isFolder reports whether name is that of a folder which may be a plan.
func (r *Root) isFolder(name string) bool {
	if !r.mayBeFolder(name) {
		return false
	}
	info, err := r.stat(name)
	return err == nil && info.IsDir()
}

func (r *Root) mayBeFolder(name string) bool {
	return r.opts.Folders && !slices.Contains(fileLike, strings.ToLower(path.Ext(name)))
}

// Canonical gives the name by which a plan is found that a path means: of a folder with a file that has
// every item, that of the file. Any other path is given as it is.
func (r *Root) Canonical(rel string) string {
	name, err := cleanPath(rel)
	if err != nil || !r.mayBeFolder(name) {
		return rel
	}
	whole := path.Join(name, wholePlan)
	if _, err := StatPath(r.plain(whole)); err != nil { // only a name is chosen; Read looks at it with care
		return rel
	}
	return whole
}

// readFolder reads all files of a folder. They are read again, from the list on, until nothing has moved
// meanwhile, so that no two of them are of different saves; but only so often.
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
	names, err := membersOf(dir, r.list)
	if err == nil {
		err = r.countable(names)
	}
	if err != nil {
		return File{}, err
	}
	var file File
	var parts []ledger.PlanFile
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
		parts = append(parts, ledger.PlanFile{Name: name, Text: part.Text})
		file.members = append(file.members, member{name, part.Stat})
	}
	if r.betweenStats != nil {
		r.betweenStats()
	}
	file.Text = joined(parts)
	file.Stat = r.statFolder(dir, &file)
	file.Unstable = !stable || !r.asListed(dir, file.members)
	file.Settled = !file.Unstable && settled(file.Stat, now)
	return file, nil
}

// joined gives the text of a folder: that of the file that has everything, or of all files.
func joined(parts []ledger.PlanFile) string {
	if len(parts) == 1 && parts[0].Name == wholePlan {
		return parts[0].Text
	}
	return ledger.JoinFiles(parts)
}

// countable refuses a folder without files, and one with too many.
func (r *Root) countable(names []string) error {
	switch {
	case len(names) == 0:
		return &Error{Reason: Missing, Err: fmt.Errorf("the folder has no file of a plan (%s)", strings.Join(kinds, ", "))}
	case len(names) > r.maxFiles:
		return &Error{Reason: TooManyFiles, Size: int64(len(names)), Limit: int64(r.maxFiles), Err: TooManyFiles}
	}
	return nil
}

// readMember reads a file of a folder, of which a link to nothing is one that cannot be read.
func (r *Root) readMember(name string, limit int64) (file File, err error) {
	for range readTries {
		err = r.follow(name, func(name string) error {
			file, err = r.readOnce(name, limit)
			return err
		})
		if !r.busy(err) {
			break
		}
		time.Sleep(busyPause) //nolint:forbidigo // no event tells when the other program is done
	}
	if err == nil {
		return file, nil
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Reason: reasonOf(err), Err: err}
	}
	e.Path = name
	if e.Reason == Missing && r.danglingLink(name) {
		e.Reason, e.Err = Unreadable, fmt.Errorf("it is a link to nothing: %w", plainly(err))
	}
	return File{}, e
}

// tooLarge says how large all files are together.
func (r *Root) tooLarge(dir string, names []string) error {
	var size int64
	for _, name := range names {
		if info, err := r.stat(path.Join(dir, name)); err == nil {
			size += info.Size()
		}
	}
	return &Error{Reason: TooLarge, Size: size, Limit: r.opts.MaxBytes, Err: TooLarge}
}

// statFolder gives the Stat of a folder as a plan: its own identity, the size of the text, and the times
// of what changed last, a file or the list of them.
func (r *Root) statFolder(dir string, file *File) Stat {
	st := Stat{Size: int64(len(file.Text))}
	if own, err := StatPath(r.plain(dir)); err == nil {
		st.Inode, st.Dev, file.ListedNs = own.Inode, own.Dev, own.MtimeNs
	}
	for _, m := range file.members {
		st.MtimeNs, st.CtimeNs = max(st.MtimeNs, m.stat.MtimeNs), max(st.CtimeNs, m.stat.CtimeNs)
	}
	return st
}

// asListed reports whether a folder still has these files and no other, as they were.
func (r *Root) asListed(dir string, members []member) bool {
	names, err := membersOf(r.plain(dir), r.listPlain)
	if err != nil || len(names) != len(members) {
		return false
	}
	for i, m := range members {
		now, err := StatPath(r.plain(dir + "/" + m.name))
		if err != nil || names[i] != m.name || now != m.stat {
			return false
		}
	}
	return true
}

// listPlain gives the names in the folder at a plain path. What it says is only compared.
func (r *Root) listPlain(dir string) ([]string, error) {
	f, err := os.OpenFile(dir, openFlags, 0)
	if err != nil {
		return nil, err
	}
	return r.readNames(f, dir)
}

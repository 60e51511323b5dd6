package file

import (
	"fmt"
	"path"
	"slices"
	"sync"

	"waybill/plan"
)

// File is one reading of a plan.
type File struct {
	Path string // relative to the workspace, clean, with "/"
	// Text is the content of the file. For a folder plan, it is the result of plan.JoinFiles over its files.
	Text string
	// Stat belongs to the file. For a folder plan, the times are the newest of its files.
	Stat Stat
	// ListedNs is when the list of files of a folder plan last changed. It is 0 for a plan of one file.
	ListedNs int64
	// Settled means that the file had not changed for two seconds when it was read. Only then does an equal Stat prove
	// later that a new read is not needed.
	Settled bool
	// Unstable means that the file changed during every try. Text may then be incomplete or mix two versions. Keep the
	// last good reading and read again.
	Unstable bool
	// Unchanged means that prev was still valid and no file was read.
	Unchanged bool

	members []member // the files of a folder plan; nil for one file
}

// Folders returns the folders that contain the files of a folder plan, the plan itself first. It returns nil for a
// plan of one file.
func (f *File) Folders() []string {
	var dirs []string
	for _, m := range f.members {
		if dir := path.Dir(path.Join(f.Path, m.name)); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) > 0 && dirs[0] != f.Path {
		dirs = slices.Insert(dirs, 0, f.Path)
	}
	return dirs
}

// A member is one file of a folder plan, with its Stat when it was read.
type member struct {
	name string // relative to the folder, with "/"
	stat Stat
}

// sizeWith returns the size of the whole plan if file had the text next.
func (f *File) sizeWith(file *File, next string) int64 {
	size := int64(len(next))
	for _, m := range f.members {
		if path.Join(f.Path, m.name) != file.Path {
			size += m.stat.Size
		}
	}
	return size
}

// change returns the file to replace and its new text, so that the plan f becomes text. In a folder plan, exactly one
// file must differ; otherwise change returns an error.
func (f *File) change(text string) (old File, next string, err error) {
	if f.members == nil {
		return *f, text, nil
	}
	if len(f.members) == 1 && f.members[0].name == wholePlan {
		return f.part(0, f.Text), text, nil
	}
	was, _ := plan.SplitFiles(f.Text)
	is, ok := plan.SplitFiles(text)
	if !ok || len(was) != len(is) {
		return old, "", fmt.Errorf("write plan %q: the set of its files has changed", f.Path)
	}
	found := false
	for i := range was {
		switch {
		case was[i].Name != is[i].Name || found && was[i] != is[i]:
			return old, "", fmt.Errorf("write plan %q: more than one of its files would change", f.Path)
		case was[i] != is[i]:
			old, next, found = f.part(i, was[i].Text), is[i].Text, true
		}
	}
	if !found {
		return old, "", fmt.Errorf("write plan %q: none of its files would change", f.Path)
	}
	return old, next, nil
}

func (f *File) part(i int, text string) File {
	m := f.members[i]
	return File{Path: path.Join(f.Path, m.name), Text: text, Stat: m.stat}
}

// textOf returns the text of one file of the plan, by its path in the workspace. It returns "" for an unknown path.
func (f *File) textOf(name string) string {
	parts, joined := plan.SplitFiles(f.Text)
	if f.members == nil || !joined {
		return f.Text
	}
	for _, part := range parts {
		if path.Join(f.Path, part.Name) == name {
			return part.Text
		}
	}
	return ""
}

// hashBeside is the size in bytes above which hashing on a second goroutine saves time.
const hashBeside = 32 << 10

// Hash returns a function that returns the SHA-256 of the text in lower-case hex. A large text is hashed on another
// goroutine in the background. The function waits for that hash, or computes it itself.
func (f *File) Hash() func() string {
	text := f.Text
	sum := sync.OnceValue(func() string { return plan.Hash(text) })
	if len(text) >= hashBeside {
		go sum() // ends with the hash of a bounded text
	}
	return sum
}

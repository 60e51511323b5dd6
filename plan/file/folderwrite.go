package file

import (
	"errors"
	"fmt"
	"path"

	"waybill/plan"
)

// write replaces the text of the plan old. In a folder plan, it replaces the one file that differs.
func (r *Root) write(t *turn, rel string, old File, text string, edit func(File) (string, error)) (File, error) {
	file, next, err := old.change(text)
	if err != nil {
		return File{}, err
	}
	if size := r.sizeWith(&old, &file, next); size > r.opts.MaxBytes {
		return File{}, &Error{Path: rel, Reason: TooLarge, Size: size, Limit: r.opts.MaxBytes, Err: TooLarge}
	}
	kept, err := r.replace(t, file, next)
	left, ok := errors.AsType[*WriteError](err)
	if err != nil && !(ok && left.Left != "") {
		return File{}, r.replaceError(rel, old, kept, err)
	}
	is, unsure := r.confirm(rel, old, file.Path, next, edit)
	switch {
	case unsure != nil:
		return File{}, unsure
	case err != nil:
		return File{}, writeError(rel, err)
	}
	return is, nil
}

// sizeWith returns the size of the whole plan if file had the text next.
func (r *Root) sizeWith(old, file *File, next string) int64 {
	size := int64(len(next))
	for _, m := range old.members {
		if path.Join(old.Path, m.name) != file.Path {
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

package planfile

import (
	"fmt"
	"path"

	"waybill/ledger"
)

// write puts text in the place of old, or what differs in the place of one of its files.
func (r *Root) write(rel string, old File, text string) (File, error) {
	file, next, err := old.change(text)
	if err != nil {
		return File{}, err
	}
	if size := r.sizeWith(&old, &file, next); size > r.opts.MaxBytes {
		return File{}, &Error{Path: rel, Reason: TooLarge, Size: size, Limit: r.opts.MaxBytes, Err: TooLarge}
	}
	if err := r.replace(file, next); err != nil {
		return File{}, r.replaceError(rel, old, err)
	}
	return r.confirm(rel, old, file.Path, next)
}

// sizeWith gives how large the plan is with another text of one of its files.
func (r *Root) sizeWith(old, file *File, next string) int64 {
	size := int64(len(next))
	for _, m := range old.members {
		if path.Join(old.Path, m.name) != file.Path {
			size += m.stat.Size
		}
	}
	return size
}

// change says which file has to get which text so that the plan old says text. A folder is changed in one
// of its files; everything else is refused.
func (f *File) change(text string) (old File, next string, err error) {
	if f.members == nil {
		return *f, text, nil
	}
	if len(f.members) == 1 && f.members[0].name == wholePlan {
		return f.part(0, f.Text), text, nil
	}
	was, _ := ledger.SplitFiles(f.Text)
	is, ok := ledger.SplitFiles(text)
	if !ok || len(was) != len(is) {
		return old, "", fmt.Errorf("write plan %q: its files are others than before", f.Path)
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

// textOf gives what the plan has read from the file at a path.
func (f *File) textOf(name string) string {
	parts, joined := ledger.SplitFiles(f.Text)
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

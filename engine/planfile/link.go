package planfile

import (
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links os.Root follows; ours are counted the same.
const maxLinks = 8

// follow calls op with name. os.Root follows links that are relative and refuses all
// that are absolute, also those that lead into the workspace; follow spells such a
// link relative and tries again. It only chooses names: that nothing outside is
// reached stays the promise of os.Root.
func (r *Root) follow(name string, op func(name string) error) error {
	for range maxLinks {
		err := op(name)
		if err == nil || reasonOf(err) != OutsideWorkspace {
			return err
		}
		next, ok := r.expandLink(name)
		if !ok {
			return err
		}
		name = next
	}
	return syscall.ELOOP
}

func (r *Root) stat(name string) (info fs.FileInfo, err error) {
	err = r.follow(name, func(name string) error {
		info, err = r.root.Stat(name)
		return err
	})
	return info, err
}

// lstat is stat without following the last name.
func (r *Root) lstat(name string) (info fs.FileInfo, err error) {
	err = r.follow(name, func(name string) error {
		info, err = r.root.Lstat(name)
		return err
	})
	return info, err
}

// expandLink replaces the first link in name by what it says. It is false when there
// is none, or when it leads elsewhere. ".." is left for os.Root to resolve.
func (r *Root) expandLink(name string) (string, bool) {
	parts := strings.Split(name, "/")
	for i := range parts {
		prefix := strings.Join(parts[:i+1], "/")
		info, err := r.root.Lstat(prefix)
		if err != nil {
			return "", false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := r.root.Readlink(prefix)
		if err != nil {
			return "", false
		}
		head, ok := r.inside(target, parts[:i])
		if !ok {
			return "", false
		}
		return strings.Join(append(head, parts[i+1:]...), "/"), true
	}
	return "", false
}

// inside returns the names that lead from the workspace to target, which is the text
// of a link in the folder dir.
func (r *Root) inside(target string, dir []string) ([]string, bool) {
	if !filepath.IsAbs(target) {
		return append(append([]string{}, dir...), filepath.ToSlash(target)), true
	}
	for _, base := range []string{r.dir, r.real} {
		if rel, err := filepath.Rel(base, target); err == nil && filepath.IsLocal(rel) {
			return []string{filepath.ToSlash(rel)}, true
		}
	}
	return nil, false
}

// danglingLink reports whether a link on the way is the reason that name is missing.
func (r *Root) danglingLink(name string) bool {
	parts := strings.Split(name, "/")
	for i := range parts {
		prefix := strings.Join(parts[:i+1], "/")
		info, err := r.lstat(prefix)
		if err != nil {
			return false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if _, err := r.stat(prefix); err != nil {
			return reasonOf(err) == Missing
		}
	}
	return false
}

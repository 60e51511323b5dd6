package file

import (
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links os.Root follows. This package uses the same limit.
const maxLinks = 8

// follow calls op with name. os.Root follows relative links but refuses all absolute ones, even those into the
// workspace. follow rewrites such a link as a relative one and calls op again. It only changes the name: os.Root still
// prevents access outside the workspace.
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

// lstat is stat without following a link in the last name.
func (r *Root) lstat(name string) (info fs.FileInfo, err error) {
	err = r.follow(name, func(name string) error {
		info, err = r.root.Lstat(name)
		return err
	})
	return info, err
}

// expandLink replaces the first link in name by its target. It returns false if there is no link, or if the target is
// outside the workspace. ".." is left for os.Root to resolve.
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

// inside returns the target of a link in the folder dir, as names relative to the workspace. It returns false for an
// absolute target outside the workspace.
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

// danglingLink reports whether name is missing because of a broken link in its path.
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

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
func (t *tree) follow(name string, op func(name string) error) error {
	for range maxLinks {
		err := op(name)
		if err == nil || reasonOf(err) != OutsideWorkspace {
			return err
		}
		next, ok := t.expandLink(name)
		if !ok {
			return err
		}
		name = next
	}
	return syscall.ELOOP
}

func (t *tree) stat(name string) (info fs.FileInfo, err error) {
	err = t.follow(name, func(name string) error {
		info, err = t.root.Stat(name)
		return err
	})
	return info, err
}

// lstat is stat without following a link in the last name.
func (t *tree) lstat(name string) (info fs.FileInfo, err error) {
	err = t.follow(name, func(name string) error {
		info, err = t.root.Lstat(name)
		return err
	})
	return info, err
}

// expandLink replaces the first link in name by its target. It returns false if there is no link, or if the target is
// outside the workspace. ".." is left for os.Root to resolve.
func (t *tree) expandLink(name string) (string, bool) {
	parts := strings.Split(name, "/")
	for i := range parts {
		prefix := strings.Join(parts[:i+1], "/")
		info, err := t.root.Lstat(prefix)
		if err != nil {
			return "", false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := t.root.Readlink(prefix)
		if err != nil {
			return "", false
		}
		head, ok := t.inside(target, parts[:i])
		if !ok {
			return "", false
		}
		return strings.Join(append(head, parts[i+1:]...), "/"), true
	}
	return "", false
}

// inside returns the target of a link in the folder dir, as names relative to the folder. It returns false for an
// absolute target outside the folder.
func (t *tree) inside(target string, dir []string) ([]string, bool) {
	if !filepath.IsAbs(target) {
		return append(append([]string{}, dir...), filepath.ToSlash(target)), true
	}
	for _, base := range []string{t.dir, t.real} {
		if rel, err := filepath.Rel(base, target); err == nil && filepath.IsLocal(rel) {
			return []string{filepath.ToSlash(rel)}, true
		}
	}
	return nil, false
}

// danglingLink reports whether name is missing because of a broken link in its path.
func (t *tree) danglingLink(name string) bool {
	parts := strings.Split(name, "/")
	for i := range parts {
		prefix := strings.Join(parts[:i+1], "/")
		info, err := t.lstat(prefix)
		if err != nil {
			return false
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if _, err := t.stat(prefix); err != nil {
			return reasonOf(err) == Missing
		}
	}
	return false
}

package check

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"waybill/internal/glob"
)

// Protected returns the files in a folder that match one of the patterns, each with a hash over its content. The hash of a
// link also covers the file behind it. Files that git ignores only match a pattern that is their path. An error says why it
// is not known which files there are.
func Protected(ctx context.Context, dir string, patterns []string) (map[string]string, error) {
	ctx, stop := context.WithTimeout(ctx, treeTimeout)
	defer stop()
	match, err := matcher(patterns)
	if err != nil {
		return nil, err
	}
	found, size := map[string]string{}, int64(0)
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		switch name = filepath.ToSlash(name); {
		case err != nil:
			return err
		case entry.IsDir() && name == ".git":
			return fs.SkipDir
		case entry.IsDir() || !match(name):
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files := []fs.FileInfo{info}
		if target, err := os.Stat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			files = append(files, target)
		}
		var content []byte
		for _, file := range files {
			if size += file.Size(); len(found) == maxFiles || size > maxBytes {
				return errTooMuch
			}
			hash, err := hashFile(path, file)
			if err != nil {
				return err
			}
			content = append(content, hash...)
		}
		if content != nil {
			found[name] = hex.EncodeToString(content)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, dropIgnored(ctx, dir, patterns, found)
}

// matcher returns a function that reports whether a path matches one of the patterns.
func matcher(patterns []string) (func(name string) bool, error) {
	all := make([]*regexp.Regexp, len(patterns))
	for i, pattern := range patterns {
		var err error
		if all[i], err = glob.Compile(pattern); err != nil {
			return nil, err
		}
	}
	return func(name string) bool {
		for _, pattern := range all {
			if pattern.MatchString(name) {
				return true
			}
		}
		return false
	}, nil
}

// dropIgnored removes the files that git ignores, unless a pattern is the path of the file.
func dropIgnored(ctx context.Context, dir string, patterns []string, found map[string]string) error {
	r, err := openRepository(ctx, dir)
	if errors.Is(err, ErrNoRepository) {
		return nil
	}
	if err != nil {
		return err
	}
	out, err := r.run(ctx, nil, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return err
	}
	ignored := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		ignored[name] = true
	}
	exact := map[string]bool{}
	for _, pattern := range patterns {
		exact[pattern] = true
	}
	for name := range found {
		if !exact[name] && below(name, ignored) {
			delete(found, name)
		}
	}
	return nil
}

// below reports whether a path, or a folder on it, is in a set in which the names of folders end in a slash.
func below(name string, set map[string]bool) bool {
	if set[name] {
		return true
	}
	for i, r := range name {
		if r == '/' && set[name[:i+1]] {
			return true
		}
	}
	return false
}

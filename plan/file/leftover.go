package file

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"waybill/internal/lazyregexp"
	"waybill/internal/ownfile"
	"waybill/plan"
)

// A process that is killed while it replaces a plan leaves a temporary file next to the plan. The lock file lists that
// path before the file exists. The next process that holds the lock cleans up. It removes a text that waybill wrote or
// replaced, and keeps a text that a person saved in between. The hashes of both waybill texts are in the file name.

const (
	// mostLeft limits how many paths a lock file lists, and mostLeftBytes how much of it is read.
	mostLeft      = 16
	mostLeftBytes = 64 << 10
	// sumDigits is the number of hexadecimal digits of a hash in a temporary name.
	sumDigits = 32
	// draftMark precedes tempSuffix in the name of a text that is not yet complete. spareMark precedes it in the
	// second name that emulate uses.
	draftMark = ".draft"
	spareMark = ".old"
)

// ours matches exactly the temporary names that this package creates.
var ours = lazyregexp.New(`^(\.waybill-[A-Z2-7]{20,40})-([0-9a-f]{32})-([0-9a-f]{32})(\.draft|\.old)?\.tmp$`)

// keptNames matches the names that keep assigns.
var keptNames = lazyregexp.New(`^\.waybill-[A-Z2-7]{20,40}(\.old)?\.saved$`)

// tempName returns a new temporary name for replacing the text old of a plan with text.
func tempName(old, text string) string {
	return tempPrefix + rand.Text() + "-" + plan.Hash(old)[:sumDigits] + "-" + plan.Hash(text)[:sumDigits] + tempSuffix
}

// draftOf returns the name that a temporary file has until its text is complete.
func draftOf(temp string) string {
	return strings.TrimSuffix(temp, tempSuffix) + draftMark + tempSuffix
}

// spareOf returns the second temporary name, which emulate uses.
func spareOf(temp string) string {
	return strings.TrimSuffix(temp, tempSuffix) + spareMark + tempSuffix
}

// settle removes a temporary file if its text is not needed. Otherwise it renames the file and returns the new name.
func (s site) settle(temp string) (kept string, err error) {
	worthless, err := s.worthless(temp)
	if err != nil {
		return "", err
	}
	if worthless {
		return "", s.dir.Remove(temp)
	}
	return s.keep(temp)
}

// keep renames a temporary file that contains a person's text, so that no cleanup removes it. It returns the new name,
// or the old one if the rename fails.
func (s site) keep(temp string) (kept string, err error) {
	parts := ours.Compiled().FindStringSubmatch(temp)
	kept = parts[1] + parts[4] + savedSuffix
	if err := s.dir.Rename(temp, kept); err != nil {
		return temp, err
	}
	return kept, nil
}

// worthless reports whether a temporary file can be removed: it is an unfinished draft, its text is one of the two in
// its name, or another hard link keeps its text.
func (s site) worthless(temp string) (bool, error) {
	parts := ours.Compiled().FindStringSubmatch(temp)
	info, err := s.dir.Lstat(temp)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	if parts[4] == draftMark || names(info) > 1 {
		return true, nil
	}
	f, err := s.dir.OpenFile(temp, openFlags, 0)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return false, err
	}
	return slices.Contains(parts[2:4], hex.EncodeToString(sum.Sum(nil))[:sumDigits]), nil
}

// RemoveLeftovers removes the temporary files listed in a lock file, unless another writer holds the lock or lockPath is
// "". It creates no file. A temporary file that it cannot remove stays listed for the next call. A file with a text that
// a person saved is renamed instead; RemoveLeftovers returns the paths of those.
func RemoveLeftovers(lockPath string) (saved []string) {
	if info, err := os.Lstat(lockPath); err != nil || info.Size() <= 1 {
		return nil
	}
	if f, err := ownfile.TryLock(lockPath); err == nil && f != nil {
		_, saved = removeLeft(f)
		_ = f.Close() // the cleanup is already written
	}
	return saved
}

// removeLeft settles the files that a locked file lists, and rewrites the list with those that it could not settle. It
// returns the paths of these and of the files that it kept.
func removeLeft(f *os.File) (left, saved []string) {
	text, _ := io.ReadAll(io.NewSectionReader(f, 0, mostLeftBytes))
	for line := range strings.Lines(string(text)) {
		path := strings.TrimSuffix(line, "\n")
		if !filepath.IsAbs(path) || !ours.Compiled().MatchString(filepath.Base(path)) {
			continue
		}
		kept, err := settlePath(path)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			left = append(left, path)
		case kept != "":
			saved = append(saved, kept)
		}
	}
	left = left[max(0, len(left)-mostLeft):]
	writeLeft(f, left)
	return left, saved
}

// settlePath settles the file at an absolute path, and returns the path of a file that it kept.
func settlePath(path string) (kept string, err error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	defer func() { _ = dir.Close() }()
	kept, err = site{dir: dir}.settle(filepath.Base(path))
	if kept != "" {
		kept = filepath.Join(filepath.Dir(path), kept)
	}
	return kept, err
}

// SavedBeside returns the paths of kept files in a folder. Each has a text that another program saved while waybill
// replaced a plan. Waybill never removes them. An unreadable folder returns nil.
func SavedBeside(dir string) (paths []string) {
	entries, _ := os.ReadDir(dir) // nil for an unreadable folder
	for _, entry := range entries {
		if keptNames.Compiled().MatchString(entry.Name()) {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	return paths
}

// writeLeft replaces the list of a locked file. The write also changes its modification time, by which waiting
// processes see that the lock has a new holder.
func writeLeft(f *os.File, left []string) {
	text := strings.Join(append(left, ""), "\n")
	if len(left) == 0 {
		text = "\n"
	}
	_, _ = f.WriteAt([]byte(text), 0) // if this fails, the files stay until they are abandoned
	_ = f.Truncate(int64(len(text)))
}

package planfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"waybill/cli/program"
	"waybill/engine/workspace"
	"waybill/internal/safetext"
	"waybill/plan"
	planfile "waybill/plan/file"
)

// Turns names the file whose lock orders the writers of the plans in a folder, and creates the lock file's own folder.
type Turns func(dir string) (lockPath string, err error)

// NoTurns is the Turns of a reader, which needs no lock.
func NoTurns(string) (string, error) { return "", nil }

// OwnTurns returns the lock file for a writer without a store. The file is in a folder where only this user can write.
// In a shared folder another user could hold the lock, or put a link at its path.
func OwnTurns(dir string) (string, error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	private, err := privateFolder()
	if err != nil {
		return "", fmt.Errorf("find a place for the lock by which the writers of plans take turns: %w", err)
	}
	return filepath.Join(private, plan.Hash(dir)[:16]+".lock"), nil
}

// RemoveLeftovers removes the files that a killed plan set left in a folder. It creates no file and cannot fail.
func RemoveLeftovers(a *program.App, dir string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	lock := plan.Hash(dir)[:16] + ".lock"
	if cache, err := os.UserCacheDir(); err == nil {
		removeLeftBy(a, filepath.Join(cache, "waybill", lock))
	}
	removeLeftBy(a, filepath.Join(temporaryFolder(), lock))
}

// removeLeftBy removes the files that the holder of a lock left, and says which of them it has to keep.
func removeLeftBy(a *program.App, lock string) {
	for _, path := range planfile.RemoveLeftovers(lock) {
		SayKept(a, path)
	}
}

// SayKept prints that a file has a text that was saved while waybill changed an item.
func SayKept(a *program.App, path string) {
	_, _ = fmt.Fprintf(a.Err, "waybill: %s has a text that was saved while waybill changed an item: compare it with the plan, then remove it\n", safetext.Printable(path))
}

// privateFolder returns the folder of waybill in the cache of this person, or else one below that for temporary files.
func privateFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err == nil {
		dir := filepath.Join(cache, "waybill")
		if err = workspace.MakePrivate(dir); err == nil {
			return dir, nil
		}
	}
	dir := temporaryFolder()
	temp := privateTemp(dir)
	if temp == nil {
		return dir, nil
	}
	return "", fmt.Errorf("neither in the cache (%w) nor in %s (%w): set XDG_CACHE_HOME or TMPDIR to a folder of your own", err, os.TempDir(), temp)
}

func temporaryFolder() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("waybill-%d", os.Getuid()))
}

// privateTemp creates the folder for temporary files in one where every user may write. An existing folder must be
// private already, because other users may have put files into a public one.
func privateTemp(dir string) error {
	info, err := os.Lstat(dir)
	wide := err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 // modes mean nothing on Windows
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case wide:
		return fmt.Errorf("%s has the mode %v, and must be for its owner only", dir, info.Mode())
	}
	return workspace.MakePrivate(dir)
}

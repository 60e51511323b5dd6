package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"waybill/engine/workspace"
	"waybill/ledger"
)

// Turns names the file by whose lock the writers of the plans in a folder take turns, and makes sure that its own
// folder is there.
type turns func(dir string) (lockPath string, err error)

// noTurns is for who only reads.
func noTurns(string) (string, error) { return "", nil }

// ownTurns is for who writes where there is no store that the lock could lie beside. It lies where nobody looks for
// plans and nobody but this person can put anything: whoever could foresee its path in a folder of all could keep it
// locked, or put a link there.
func ownTurns(dir string) (string, error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	private, err := privateFolder()
	if err != nil {
		return "", fmt.Errorf("find a place for the lock by which the writers of plans take turns: %w", err)
	}
	return filepath.Join(private, ledger.Hash([]byte(dir))[:16]+".lock"), nil
}

// privateFolder gives the folder of waybill in the cache of this person, or else one below that for temporary files.
func privateFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err == nil {
		dir := filepath.Join(cache, "waybill")
		if err = workspace.MakePrivate(dir); err == nil {
			return dir, nil
		}
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("waybill-%d", os.Getuid()))
	temp := privateTemp(dir)
	if temp == nil {
		return dir, nil
	}
	return "", fmt.Errorf("neither in the cache (%w) nor in %s (%w): set XDG_CACHE_HOME or TMPDIR to a folder of your own", err, os.TempDir(), temp)
}

// privateTemp makes a folder in one that everybody may write to. One that is there must have been private all the
// time: what is made private now may have something of others in it.
func privateTemp(dir string) error {
	info, err := os.Lstat(dir)
	wide := err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 // there, modes say nothing
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case wide:
		return fmt.Errorf("%s has the mode %v, and must be for its owner only", dir, info.Mode())
	}
	return workspace.MakePrivate(dir)
}

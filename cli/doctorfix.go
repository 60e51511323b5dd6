package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"waybill/doctor"
	"waybill/store/sqlite"
)

// A mending is what became of a repair.
type mending struct {
	Check string `json:"check"`
	Path  string `json:"path"`
	Text  string `json:"text"`
	Err   string `json:"error,omitzero"`
	left  bool   // it has to wait
}

// word is what stands before it.
func (m mending) word() string {
	switch {
	case m.Err != "":
		return "fail"
	case m.left:
		return "left"
	}
	return "done"
}

// mend carries out what can be mended, each after another look at what it touches.
func (a *app) mend(ctx context.Context, facts *doctor.Facts) []mending {
	mended := []mending{}
	for _, r := range doctor.Repairs(facts) {
		m := mending{Check: r.Check, Path: r.Path}
		if r.Wait != "" {
			m.left, m.Text = true, r.Wait
			mended = append(mended, m)
			continue
		}
		var err error
		if m.Text, err = a.repair(ctx, facts, r); err != nil {
			m.Err, m.Text = err.Error(), err.Error()
		}
		mended = append(mended, m)
	}
	return mended
}

func (a *app) repair(ctx context.Context, facts *doctor.Facts, r doctor.Repair) (string, error) {
	switch r.Act {
	case doctor.PrivateFolder:
		return r.Path + " is for you alone now", private(r.Path, 0o700)
	case doctor.PrivateFile:
		return r.Path + " is for you alone now", private(r.Path, 0o600)
	case doctor.RemoveDoor:
		return r.Path + " was removed", removeDoor(ctx, r.Path, facts.Store.Peers)
	case doctor.RemoveLitter:
		return r.Path + " was removed", removeLitter(facts.Store.Path, r.Path)
	case doctor.MakeReserve:
		return "space is held back again", sqlite.MendReserve(ctx, a.storeOptions(r.Path))
	}
	panic("no act " + string(r.Act)) // the table has another one
}

// private takes all rights from other users. What is a link by now, or of others, is left alone.
func private(path string, mode os.FileMode) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() && !info.Mode().IsRegular() || !mine(info) {
		return fmt.Errorf("%s is another one than it was, and is left alone", path)
	}
	return os.Chmod(path, info.Mode().Perm()&mode)
}

// removeDoor removes a port file if its process is still as dead as it was.
func removeDoor(ctx context.Context, path string, peers []doctor.Peer) error {
	for _, d := range doorFacts(ctx, filepath.Dir(path), peers) {
		if d.Path == path && doctor.Gone(d) {
			return os.Remove(path)
		}
	}
	return fmt.Errorf("%s is another one than it was, and is left alone", path)
}

// removeLitter removes a temporary file. What a process has left to say that it was there is removed by who can take
// its lock.
func removeLitter(store, path string) error {
	if strings.HasPrefix(path, store+".peer-") {
		sqlite.Sweep(store)
		return nil
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !stale(info, time.Now()) {
		return fmt.Errorf("%s is in use again, and is left alone", path)
	}
	return os.Remove(path)
}

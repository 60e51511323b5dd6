package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"waybill/doctor"
	"waybill/engine/workspace"
	"waybill/store/sqlite"
)

// A mending is the result of a repair.
type mending struct {
	Check string `json:"check"`
	Path  string `json:"path"`
	Text  string `json:"text"`
	Err   string `json:"error,omitzero"`
	left  bool   // it has to wait
}

// word returns the status word that begins the line of the repair.
func (m mending) word() string {
	switch {
	case m.Err != "":
		return "fail"
	case m.left:
		return "left"
	}
	return "done"
}

// mend performs all possible repairs. Each repair examines its file again first.
func (a commands) mend(ctx context.Context, facts *doctor.Facts) []mending {
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

func (a commands) repair(ctx context.Context, facts *doctor.Facts, r doctor.Repair) (string, error) {
	switch r.Act {
	case doctor.PrivateFolder:
		return r.Path + " is open to you only now", workspace.MakePrivate(r.Path)
	case doctor.PrivateFile:
		_, err := sqlite.MakePrivate(facts.Store.Path, r.Path)
		return r.Path + " is open to you only now", err
	case doctor.RemoveDoor:
		return r.Path + " was removed", removeDoor(ctx, r.Path, facts.Store.Peers)
	case doctor.RemoveLitter:
		return r.Path + " was removed", removeLitter(facts.Store.Path, r.Path)
	case doctor.MakeReserve:
		return "space is held back again", sqlite.MendReserve(ctx, a.SQLiteOptions(r.Path))
	}
	panic("no act " + string(r.Act)) // the table has another one
}

// removeDoor removes a port file if its process is still as dead as it was.
func removeDoor(ctx context.Context, path string, peers []doctor.Peer) error {
	for _, d := range doorFacts(ctx, filepath.Dir(path), peers) {
		if d.Path == path && doctor.Gone(d) {
			return os.Remove(path)
		}
	}
	return fmt.Errorf("%s was replaced and is left alone", path)
}

// removeLitter removes a temporary file. sqlite.Sweep removes the peer file of a process, because it
// takes the lock of that file first.
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

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"waybill/doctor"
	"waybill/internal/ownfile"
	"waybill/store"
	"waybill/store/sqlstore"
)

// A Level says how a check ended.
type Level = doctor.Level

// The levels.
const (
	LevelOK   = doctor.OK
	LevelWarn = doctor.Warn // the store works, but not as it should
	LevelFail = doctor.Fail // the store cannot be used or is damaged
)

// A Finding is what one check of a store has found.
type Finding = doctor.Finding

// lowSpace is the free space below which a check warns: a busy store writes as much in some minutes.
const lowSpace = 64 << 20

// Examine checks the store at o.Path from the outside. It creates and repairs nothing, and changes only the files in
// which SQLite records its readers. Other processes continue. If Examine cannot finish, the last finding has the
// reason.
func Examine(ctx context.Context, o Options) []Finding { return examine(ctx, o).findings }

func examine(ctx context.Context, o Options) *examination {
	e := &examination{ctx: ctx, path: o.Path, allowRemote: o.AllowRemote}
	for _, check := range []func() bool{e.folder, e.sides, e.file, e.modes, e.volume, e.space, e.schema, e.contents} {
		if !check() {
			break
		}
	}
	return e
}

// examination is one Examine. Each check reports whether the next one makes sense.
type examination struct {
	ctx      context.Context
	path     string
	findings []Finding
	refusal  bool // the place must not be used, so that no file of the store is opened

	allowRemote bool
}

func (e *examination) find(check string, level Level, fix, format string, args ...any) bool {
	e.findings = append(e.findings, doctor.Find(check, level, fix, format, args...))
	return level != LevelFail
}

// broken notes an error that ended a check.
func (e *examination) broken(check string, err error) bool {
	kind := classify(e.path, err).Kind
	switch kind {
	case store.Corrupt:
		return e.find(check, LevelFail, salvageFix, "it is damaged or not a database: %v", err)
	case store.Full:
		return e.find(check, LevelFail, "free some space, and try again", "no space is left, and its log cannot be read without: %v", err)
	case store.IO, store.ReadOnly, store.NewerSchema, store.Busy, store.Lost, store.Unsafe, store.Closed, store.Cancelled:
	}
	return e.find(check, LevelFail, "check the disk and the permissions, and try again", "it cannot be read: %v", err)
}

const salvageFix = "end all processes that use the store, then run `waybill store salvage`; the damaged file is kept"

// IsDamage reports whether a finding is one of damage, which a salvage leaves behind.
func IsDamage(f Finding) bool { return f.Fix == salvageFix }

// refused adds the finding of a check that refuses a place. Another error is no refusal: the checks that follow say more.
func (e *examination) refused(check string, err error) bool {
	refusal, ok := errors.AsType[*ownfile.Refusal](err)
	if ok {
		e.refusal = true
		e.find(check, LevelFail, refusal.Mend, "%s", refusal.What)
	}
	return ok
}

// folder refuses the folders that Open refuses.
func (e *examination) folder() bool {
	named := e.path
	if real, err := filepath.EvalSymlinks(e.path); err == nil {
		e.path = real
	}
	return !e.refused("modes", checkFolders(named, e.path))
}

// sides refuses files beside the database that Open would refuse.
func (e *examination) sides() bool {
	for _, path := range (&place{path: e.path}).files()[1:] {
		e.refused("file", ownfile.Check(path))
	}
	return !e.refusal
}

func (e *examination) file() bool {
	p := place{path: e.path}
	err := p.checkFile()
	switch {
	case p.fresh:
		return e.missing()
	case e.refused("file", err):
		return false
	case err != nil:
		return e.broken("file", err)
	case len(p.notes) > 0:
		return e.find("file", LevelWarn, "remove the other names: opened by one of them, the store would be damaged",
			"%s: %s", e.path, p.notes[0])
	}
	return e.find("file", LevelOK, "", "%s has %d bytes", e.path, sizeOf(e.path))
}

// missing distinguishes a store that never existed from a lost one. In both cases there is nothing to check.
func (e *examination) missing() bool {
	p := place{path: e.path}
	if err := p.checkRescued(); err != nil && isKind(err, store.Lost) {
		return e.find("file", LevelFail, "follow what is said there", "%v", err)
	}
	if newest := e.record().newest; newest > 0 {
		e.find("file", LevelFail, "put a backup there, or remove "+p.lockPath()+" to begin anew",
			"there is no store at %s, but %d events were written to it", e.path, newest)
		return false
	}
	e.find("file", LevelWarn, "nothing: the first call that needs a store makes it", "there is no store at %s yet", e.path)
	return false
}

// record returns the contents of the lock file, or the zero record if it cannot be read.
func (e *examination) record() record {
	text, _ := (&place{path: e.path}).lockText()
	return parseRecord(text)
}

func (e *examination) modes() bool {
	if !modesCount {
		return true
	}
	var open []string
	for _, name := range (&place{path: e.path}).files() {
		if info, err := os.Lstat(name); err == nil && info.Mode().Perm()&0o077 != 0 {
			open = append(open, fmt.Sprintf("%s (%v)", filepath.Base(name), info.Mode().Perm()))
		}
	}
	if len(open) > 0 {
		return e.find("modes", LevelWarn, "nothing: they are made private when the store is opened next",
			"open to other users: %s", strings.Join(open, ", "))
	}
	return e.find("modes", LevelOK, "", "the files of the store are private")
}

func (e *examination) volume() bool {
	p := place{path: e.path}
	var err error
	if p.volume, err = volumeOf(p.dir()); err != nil {
		return e.broken("file system", err)
	}
	if err := p.checkVolume(e.allowRemote); err != nil {
		return e.find("file system", LevelFail, "move the store to a local disk or, for several machines, into a PostgreSQL database with `waybill store migrate --shared-disk`", "%v", err)
	}
	if p.volume.remote {
		return e.find("file system", LevelWarn, "move the store to a local disk", "it lies on %s, and is for one process at a time", p.volume.name)
	}
	if p.volume.volatile {
		return e.find("file system", LevelWarn, "move the store to a disk", "it is %s, which ends with this machine", p.volume.name)
	}
	return e.find("file system", LevelOK, "", "%s is on a local disk", p.dir())
}

func (e *examination) space() bool {
	p := place{path: e.path}
	v, err := volumeOf(p.dir())
	switch {
	case err != nil:
		return e.broken("space", err)
	case e.record().spent:
		return e.find("space", LevelWarn, "free some space", "the disk was full: the reserve for finishing existing work is in use, and %d MiB are free", v.free>>20)
	case v.free < lowSpace:
		return e.find("space", LevelWarn, "free some space", "only %d MiB are free", v.free>>20)
	}
	return e.find("space", LevelOK, "", "%d MiB are free", v.free>>20)
}

// reader runs fn with a connection that only reads. Where not even the files for that can be made, the
// write-ahead log is left out.
func (e *examination) reader(fn func(c *conn) error) error {
	var err error
	for _, mode := range []access{readOnly, frozen} {
		if err = readFile(e.ctx, e.path, mode, readPatience, fn); conclusive(e.path, err) {
			return err
		}
	}
	return err
}

// Read runs fn, which must only read, on one moment of the store at o.Path. It takes no lock and creates and repairs
// nothing, so a process can look at many stores.
func Read(ctx context.Context, o Options, fn func(tx store.Tx) error) error {
	e := examination{ctx: ctx, path: o.Path, allowRemote: o.AllowRemote}
	if !e.folder() || !e.sides() || !e.file() {
		last := e.findings[len(e.findings)-1]
		return fault(store.Unsafe, nil, "%s: %s", last.Text, last.Fix)
	}
	err := e.reader(func(c *conn) error {
		if found, err := readLabels(c); err != nil || !e.labelled(found) {
			return firstError(err, fault(store.NewerSchema, nil, "%s", e.findings[len(e.findings)-1].Text))
		}
		t, err := begin(ctx, c, sqlstore.Options{}, false)
		if err != nil {
			return err
		}
		defer t.End(sqlstore.ErrOver)
		return fn(sqlstore.Contracts(t))
	})
	if err != nil {
		return classify(e.path, err)
	}
	return nil
}

// readPatience is how long a connection for one purpose waits for programs that do not take turns with us.
const readPatience = 5 * time.Second

// readFile runs fn with a connection of its own to the database at path.
func readFile(ctx context.Context, path string, mode access, wait time.Duration, fn func(c *conn) error) (err error) {
	c, err := connect(ctx, path, mode)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, c.close()) }()
	if err := c.script(ctx, readerSettings(wait)); err != nil {
		return err
	}
	return fn(c)
}

func (e *examination) schema() bool {
	ok := false
	err := e.reader(func(c *conn) error {
		found, err := readLabels(c)
		if err != nil {
			return err
		}
		ok = e.labelled(found)
		if !ok {
			return nil
		}
		if err := checkTables(c); err != nil {
			ok = e.find("schema", LevelFail, salvageFix, "%v", err)
			return nil
		}
		e.find("schema", LevelOK, "", "the tables have version %d", found.version)
		return nil
	})
	if err != nil {
		return e.broken("schema", err)
	}
	return ok
}

// labelled reports whether the tables are those of this version, which alone it can check further.
func (e *examination) labelled(found labels) bool {
	switch {
	case found.empty() && e.record().newest > 0:
		e.find("schema", LevelFail, salvageFix, "the store is empty, but %d events were written to it", e.record().newest)
	case found.empty():
		e.find("schema", LevelWarn, "nothing: the tables are made when the store is opened next", "the store is empty")
	case found.application != applicationID:
		e.find("schema", LevelFail, "name another store", "it is a database of another program")
	case found.version > schemaVersion:
		e.find("schema", LevelWarn, "use the newer waybill; this one can only read the store", "the tables have version %d, and this waybill knows version %d", found.version, schemaVersion)
	default:
		return true
	}
	return false
}

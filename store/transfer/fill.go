package transfer

import (
	"errors"
	"fmt"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
)

// A filler puts the records of one store into another, in their order, within one transaction.
type filler struct {
	tx     store.Tx
	counts Counts

	before *kind // of the last record
	key    key

	seq   int64 // of the last event
	at    core.Instant
	chain store.Hash

	run, task string       // the ids of the last run and task, to which the following records belong
	facts     []store.Fact // facts of the run that are not stored yet
	waiting   task.Task    // the last one with its newest attempt, not yet compared
}

// newFiller starts with the root of the event log. It refuses a store with records.
func newFiller(tx store.Tx, root store.Root) (*filler, error) {
	found, err := contents(tx)
	if err != nil {
		return nil, err
	}
	if found != "" {
		return nil, &NotEmptyError{found}
	}
	if root.Seq > 0 {
		err = tx.PutRoot(root)
	}
	return &filler{tx: tx, seq: root.Seq, at: root.At, chain: root.Hash}, err
}

// contents describes the records in a store, or returns "" for an empty one.
func contents(tx store.Tx) (string, error) {
	_, newest, err := tx.Bounds()
	if err != nil || newest > 0 {
		return fmt.Sprintf("%d events", newest), err
	}
	for _, look := range []struct {
		what  string
		count func() (int, error)
	}{
		{"instructions", func() (int, error) { return tx.CountInstructions(store.InstructionQuery{}) }},
		{"runs", func() (int, error) { return runsOf(tx) }},
		{"tasks", func() (int, error) { return tx.CountTasks(store.TaskQuery{}) }},
		{"notices", tx.CountNotices},
		{"answers", func() (int, error) { some, err := tx.Answers("", 1); return len(some), err }},
		{"breakers", func() (int, error) { some, err := tx.Breakers("", 1); return len(some), err }},
	} {
		if n, err := look.count(); err != nil || n > 0 {
			return look.what, err
		}
	}
	return "", nil
}

func runsOf(tx store.RunRecords) (n int, err error) {
	counts, err := tx.RunCounts()
	for _, of := range counts {
		n += of
	}
	return n, err
}

// add puts a record. It must be in the place where a store returns it.
func (f *filler) add(r entry) error {
	k := r.kind()
	if err := f.inOrder(k, r); err != nil {
		return err
	}
	if k != &facts.kind {
		if err := f.putFacts(); err != nil {
			return err
		}
	}
	if k.rank == 0 {
		if err := f.endTask(); err != nil {
			return err
		}
	}
	f.before, f.key = k, r.key()
	f.counts.add(k)
	if err := r.put(f); err != nil {
		return named(r, err)
	}
	return nil
}

func (f *filler) inOrder(k *kind, r entry) error {
	if f.before != nil && !k.follows(f.before) {
		return fmt.Errorf("%s stands behind one of the %s, where none can stand", r.name(), f.before.plural)
	}
	if k == f.before && r.key() != (key{}) && !f.key.less(r.key()) {
		return fmt.Errorf("%s is there twice, or stands in the wrong place", r.name())
	}
	return nil
}

// end puts what was gathered.
func (f *filler) end() error { return errors.Join(f.putFacts(), f.endTask()) }

// endTask checks that the last task agrees with its newest attempt. The store would check it only at the end.
func (f *filler) endTask() error {
	t := f.waiting
	f.waiting = task.Task{}
	if t.ID == "" {
		return nil
	}
	return store.Coherent(t)
}

func (f *filler) putFacts() error {
	if len(f.facts) == 0 {
		return nil
	}
	err := f.tx.PutFacts(f.run, f.facts)
	f.facts = nil
	return err
}

// ofRun refuses a record that does not belong to the run before it.
func (f *filler) ofRun(id string) error {
	if id != f.run {
		return fmt.Errorf("it stands behind run %q", f.run)
	}
	return nil
}

func (f *filler) ofTask(id string) error {
	if id != f.task {
		return fmt.Errorf("it stands behind task %q", f.task)
	}
	return nil
}

// orTwice returns err, or an error for a duplicate record.
func orTwice(err error) error {
	if err != nil {
		return err
	}
	return errors.New("it is there twice")
}

// named says which record an error is about, unless the store is at fault.
func named(r entry, err error) error {
	if _, fault := errors.AsType[*store.Error](err); fault {
		return err
	}
	return fmt.Errorf("%s: %w", r.name(), err)
}

package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	digest "hash"
	"iter"

	"waybill/store"
)

// Migrate copies a store into an empty one, be they of one kind or not, and then compares the two, record by record.
// The source is only read. If it was written meanwhile, the error is a *ChangedError. Every other error but one of
// the comparison leaves the target as it was.
func Migrate(ctx context.Context, from, to store.Store) (Summary, error) {
	if err := soundOf(from.Verify(ctx)); err != nil {
		return Summary{}, err
	}
	copied, err := transfer(ctx, from, to)
	if err != nil {
		return Summary{}, err
	}
	if err := soundOf(to.Verify(ctx)); err != nil {
		return Summary{}, err
	}
	return copied.summary(), compare(ctx, from, to, copied)
}

// A measure sums up records.
type measure struct {
	counts Counts
	sum    digest.Hash
}

func newMeasure() *measure { return &measure{sum: sha256.New()} }

func (m *measure) add(r entry) error {
	m.counts.add(r.kind())
	m.sum.Write(written(r))
	return nil
}

func (m *measure) summary() Summary { return Summary{Counts: m.counts, Sum: wholeSum(m.sum)} }

// written returns what would be written of a record.
func written(r entry) []byte { return append([]byte(r.kind().name), append(r.line(), '\n')...) }

// transfer copies one moment of the source in one transaction of the target.
func transfer(ctx context.Context, from, to store.Store) (copied *measure, err error) {
	err = from.View(ctx, func(source store.Tx) error {
		return to.Update(ctx, func(target store.Tx) (err error) {
			copied, err = fill(source, target)
			return err
		})
	})
	return copied, err
}

// fill copies what one transaction sees into the empty store of another.
func fill(source, target store.Tx) (copied *measure, err error) {
	stands, err := source.Root()
	if err != nil {
		return nil, err
	}
	f, err := newFiller(target, stands)
	if err != nil {
		return nil, err
	}
	copied = newMeasure()
	if err := each(source, func(r entry) error {
		if err := copied.add(r); err != nil {
			return err
		}
		return f.add(r)
	}); err != nil {
		return nil, err
	}
	return copied, f.end()
}

// Copy copies a store into an empty one inside a transaction of the caller and compares the two. The caller rolls back
// after an error. The source is only read.
func Copy(ctx context.Context, from store.Store, to store.Tx) (Summary, error) {
	if err := soundOf(from.Verify(ctx)); err != nil {
		return Summary{}, err
	}
	var copied *measure
	if err := from.View(ctx, func(source store.Tx) (err error) {
		copied, err = fill(source, to)
		return err
	}); err != nil {
		return Summary{}, err
	}
	got := newMeasure()
	if err := each(to, got.add); err != nil {
		return Summary{}, err
	}
	if got.summary() != copied.summary() {
		return Summary{}, errors.New("the target does not hold what was put into it: it was left as it was")
	}
	return copied.summary(), nil
}

// compare reads both once more, side by side.
func compare(ctx context.Context, from, to store.Store, copied *measure) error {
	var where string
	got := newMeasure()
	if err := to.View(ctx, func(target store.Tx) error {
		if err := each(target, got.add); err != nil {
			return err
		}
		return from.View(ctx, func(source store.Tx) (err error) {
			where, err = difference(source, target)
			return err
		})
	}); err != nil {
		return err
	}
	switch {
	case got.summary() != copied.summary():
		return fmt.Errorf("the target does not hold what was put into it (%s): do not use it", where)
	case where != "":
		return &ChangedError{where}
	}
	return nil
}

// difference says where the records of two stores differ first, or "".
func difference(source, target store.Tx) (string, error) {
	a, b, err := roots(source, target)
	if err != nil || a != b {
		return "the beginning of the event log", err
	}
	next, stop := iter.Pull2(records(target))
	defer stop()
	for one, err := range records(source) {
		if err != nil {
			return "", err
		}
		other, err, more := next()
		if err != nil {
			return "", err
		}
		if !more {
			return one.name(), nil
		}
		if !bytes.Equal(written(one), written(other)) {
			return one.name(), nil
		}
	}
	if other, err, more := next(); more {
		if err != nil {
			return "", err
		}
		return other.name(), nil
	}
	return "", nil
}

func roots(source, target store.Tx) (a, b store.Root, err error) {
	if a, err = source.Root(); err == nil {
		b, err = target.Root()
	}
	return a, b, err
}

// errStopped ends a reading whose caller has stopped.
var errStopped = errors.New("nobody reads on")

// records returns all records of a store, and last an error if there is one.
func records(tx store.Tx) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		stopped := false
		err := each(tx, func(r entry) error {
			if stopped = !yield(r, nil); stopped {
				return errStopped
			}
			return nil
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"waybill/store"
)

// Import puts an export into an empty store in one transaction: all of it or nothing. A cut or altered file, one of a
// newer format, or another kind of file is a *FormatError. A store with records is a *NotEmptyError. Import reads the
// file from its beginning, and again if the store has to retry.
func Import(ctx context.Context, to store.Store, r io.ReadSeeker) (summary Summary, err error) {
	err = to.Update(ctx, func(tx store.Tx) error {
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read the export: %w", err)
		}
		summary, err = Read(tx, r)
		return err
	})
	return summary, err
}

// Read does the same within a transaction of the caller, who ends it after an error.
func Read(tx store.Tx, r io.Reader) (Summary, error) {
	lines := newLineReader(r)
	first, err := lines.header()
	if err != nil {
		return Summary{}, err
	}
	to, err := newFiller(tx, first.Root.value())
	if err != nil {
		return Summary{}, lines.blame(err)
	}
	sum, err := lines.fill(to)
	if err != nil {
		return Summary{}, err
	}
	if to.counts.counted() != first.Counts {
		return Summary{}, lines.wrong("the first line counts other records than there are" + again)
	}
	return Summary{Workspace: first.Workspace, Counts: to.counts, Sum: sum}, nil
}

// fill puts the records of all lines and returns the sum of the file.
func (r *lineReader) fill(to *filler) (sum string, err error) {
	for {
		before := wholeSum(r.sum)
		name, object, err := r.next()
		if err != nil {
			return "", err
		}
		if name == endKind {
			if err := to.end(); err != nil {
				return "", r.blame(err)
			}
			return before, r.end(object, before, to.counts)
		}
		if err := r.put(to, name, object); err != nil {
			return "", err
		}
	}
}

func (r *lineReader) put(to *filler, name string, object []byte) error {
	for _, k := range kinds {
		if k.facts().name != name {
			continue
		}
		one, err := k.read(object)
		if err != nil {
			return r.wrong("%v"+again, err)
		}
		return r.blame(to.add(one))
	}
	return r.wrong("it has a record of kind %q, which this waybill does not know"+again, name)
}

// blame says which line a store refuses. Other errors stay as they are.
func (r *lineReader) blame(err error) error {
	if err == nil {
		return nil
	}
	if _, fault := errors.AsType[*store.Error](err); fault {
		return err
	}
	if _, full := errors.AsType[*NotEmptyError](err); full {
		return err
	}
	return r.wrong("%v"+again, err)
}

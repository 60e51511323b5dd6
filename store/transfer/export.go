package transfer

import (
	"context"
	"io"

	"waybill/store"
)

// Export writes the whole store, as it is at one moment, as lines of JSON; processes that use the store go on. The
// same contents give the same bytes. A store that is damaged is refused. workspace is the id that the first line
// names.
func Export(ctx context.Context, from store.Store, w io.Writer, workspace string) (Summary, error) {
	if err := soundOf(from.Verify(ctx)); err != nil {
		return Summary{}, err
	}
	e := exporter{w: newLineWriter(w), summary: Summary{Workspace: workspace}}
	schema := from.Status(ctx).SchemaVersion
	err := from.View(ctx, func(tx store.Tx) error { return e.all(tx, schema) })
	return e.summary, err
}

type exporter struct {
	w       *lineWriter
	summary Summary
}

func (e *exporter) all(tx store.Tx, schema int) error {
	stands, err := tx.Root()
	if err != nil {
		return err
	}
	told, err := count(tx)
	if err != nil {
		return err
	}
	if err := e.w.write(headerKind, "the first line", header{
		Format: Format, Workspace: e.summary.Workspace, Schema: schema,
		Root: root{stands.Seq, hash(stands.Hash), stands.At}, Counts: told,
	}); err != nil {
		return err
	}
	if err := each(tx, e.one); err != nil {
		return err
	}
	if e.summary.Counts.counted() != told {
		return damaged("%+v is what it counts, and %+v is what could be read", told, e.summary.Counts.counted())
	}
	e.summary.Sum = wholeSum(e.w.sum)
	if err := e.w.write(endKind, "the last line", trailer{e.summary.Counts, e.summary.Sum}); err != nil {
		return err
	}
	return e.w.to.Flush()
}

func (e *exporter) one(r entry) error {
	e.summary.Counts.add(r.kind())
	return e.w.object(r.kind().name, r.name(), r.line())
}

// count returns the counts that the store keeps.
func count(tx store.Tx) (c counted, err error) {
	oldest, newest, err := tx.Bounds()
	if err != nil {
		return c, err
	}
	c.Events = int(newest - oldest + 1)
	for _, ask := range []struct {
		n    *int
		from func() (int, error)
	}{
		{&c.Instructions, func() (int, error) { return tx.CountInstructions(store.InstructionQuery{}) }},
		{&c.Runs, func() (int, error) { return runsOf(tx) }},
		{&c.Tasks, func() (int, error) { return tx.CountTasks(store.TaskQuery{}) }},
		{&c.Notices, tx.CountNotices},
	} {
		if *ask.n, err = ask.from(); err != nil {
			return c, err
		}
	}
	return c, nil
}

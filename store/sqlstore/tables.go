package sqlstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/store"
)

// A Table describes how Verify and Salvage read, check and write the rows of a table.
type Table struct {
	// Name is that of the table.
	Name    string
	columns string
	keys    int // how many of the first columns are the primary key
	take    func(r *Row, buf *encoder) (item any, err error)
	// Insert writes an item, which the table must not have yet.
	Insert func(t *Tx, item any) error
	from   string // where the columns come from, if they are more than the table's own
	// whole returns the fault of a row with correct checksums in Detail. It is nil for tables whose rows cannot have
	// such a fault.
	whole func(c Conn, item any) (store.Damage, error)
}

type numberedRun struct {
	number int64
	run    run.Run
}

type factOf struct {
	runID string
	fact  store.Fact
}

// Tables returns all tables with independent rows, in an order in which they can be filled. The records of the event
// log depend on each other and have their own code.
func Tables() []Table {
	own := []Table{
		{
			Name: "instructions", columns: instructionColumns, keys: 1,
			take:   func(r *Row, buf *encoder) (any, error) { return takeInstruction(r, buf) },
			Insert: func(t *Tx, item any) error { return t.create(item.(instruction.Instruction)) },
		},
		{
			Name: "runs", columns: runColumns, keys: 1,
			take: func(r *Row, buf *encoder) (any, error) {
				number, run, err := takeRun(r, buf)
				return numberedRun{number, run}, err
			},
			Insert: func(t *Tx, item any) error {
				n := item.(numberedRun)
				_, err := t.c.Exec(insertRun, runArgs(n.number, n.run, &t.buf)...)
				return err
			},
		},
		{
			Name: "facts", columns: factColumns, keys: 2,
			take: func(r *Row, buf *encoder) (any, error) {
				id, f, err := takeFact(r, buf)
				return factOf{id, f}, err
			},
			Insert: func(t *Tx, item any) error {
				f := item.(factOf)
				return t.insertFact(f.runID, f.fact)
			},
		},
		{
			Name: "notices", columns: noticeColumns, keys: 1,
			take: func(r *Row, buf *encoder) (any, error) { return takeNotice(r, buf) },
			Insert: func(t *Tx, item any) error {
				_, err := t.c.Exec(insertNotice, noticeArgs(item.(store.Notice), &t.buf)...)
				return err
			},
		},
		{
			Name: "answers", columns: answerColumns, keys: 1,
			take:   func(r *Row, buf *encoder) (any, error) { return takeAnswer(r, buf) },
			Insert: func(t *Tx, item any) error { return t.PutAnswer(item.(store.Answer)) },
		},
	}
	return append(append(own, talliesTable(), promptsTable()), taskTables()...)
}

const pageSize = 500

// Scan reads the rows of the table in ascending or descending key order, page by page, so that no page holds back the
// write-ahead log for long. Each row is given with the error of its check. The reading ends where each returns an
// error, or where the file cannot be read.
func (tb Table) Scan(ctx context.Context, c Conn, backwards bool, each func(key []any, item any, damage error) error) error {
	var buf encoder
	var last []any
	for {
		n := 0
		text, args := tb.page(last, backwards)
		err := c.Query(func(r *Row) error {
			n++
			last = append(last[:0], r.values[:tb.keys]...)
			item, damage := tb.take(r, &buf)
			return each(last, item, damage)
		}, text, args...)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || n < pageSize {
			return err
		}
	}
}

// page returns the statement for the next page behind the key.
func (tb Table) page(last []any, backwards bool) (text string, args []any) {
	columns := strings.Join(strings.SplitN(strings.ReplaceAll(tb.columns, "\n", " "), ",", tb.keys+1)[:tb.keys], ",")
	compare, direction := ">", " ASC"
	if backwards {
		compare, direction = "<", " DESC"
	}
	text = "SELECT " + tb.columns + " FROM " + cmp.Or(tb.from, tb.Name) + " WHERE " + tb.Name + ".workspace = :w"
	if len(last) > 0 {
		text += " AND (" + columns + ") " + compare + " (?" + strings.Repeat(", ?", tb.keys-1) + ")"
		args = slices.Clone(last)
	}
	return text + " ORDER BY " + strings.ReplaceAll(columns, ",", direction+",") + direction + limited, append(args, int64(pageSize))
}

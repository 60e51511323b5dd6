package sqlite

import (
	"context"
	"slices"
	"strings"

	"waybill/core"
	"waybill/store"
)

// A table is what Verify and Salvage know of one: how its rows are read, checked and written.
type table struct {
	name    string
	columns string
	keys    int // how many of the first columns are the primary key
	take    func(r *row, buf *encoder) (item any, err error)
	insert  func(t *tx, item any) error
}

type numberedRun struct {
	number int64
	run    core.Run
}

type factOf struct {
	runID string
	fact  store.Fact
}

// tables gives all tables whose rows stand for themselves, in an order in which they can be filled.
// The records of the event log depend on each other and are treated by themselves.
func tables() []table {
	return []table{
		{
			"instructions", instructionColumns, 1,
			func(r *row, buf *encoder) (any, error) { return takeInstruction(r, buf) },
			func(t *tx, item any) error { return t.create(item.(core.Instruction)) },
		},
		{
			"runs", runColumns, 1,
			func(r *row, buf *encoder) (any, error) {
				number, run, err := takeRun(r, buf)
				return numberedRun{number, run}, err
			},
			func(t *tx, item any) error {
				n := item.(numberedRun)
				_, err := t.c.exec(insertRun, runArgs(n.number, n.run, &t.buf)...)
				return err
			},
		},
		{
			"facts", factColumns, 2,
			func(r *row, buf *encoder) (any, error) {
				id, f, err := takeFact(r, buf)
				return factOf{id, f}, err
			},
			func(t *tx, item any) error {
				f := item.(factOf)
				return t.insertFact(f.runID, f.fact)
			},
		},
		{
			"notices", noticeColumns, 1,
			func(r *row, buf *encoder) (any, error) { return takeNotice(r, buf) },
			func(t *tx, item any) error {
				_, err := t.c.exec(insertNotice, noticeArgs(item.(store.Notice), &t.buf)...)
				return err
			},
		},
		{
			"answers", answerColumns, 1,
			func(r *row, buf *encoder) (any, error) { return takeAnswer(r, buf) },
			func(t *tx, item any) error { return t.PutAnswer(item.(store.Answer)) },
		},
	}
}

const pageSize = 500

// scan reads the rows of the table, in the order of its key or against it, page by page, so that no
// page holds back the write-ahead log for long. Each row is given with the error of its check. The
// reading ends where each returns an error, or where the file cannot be read.
func (tb table) scan(ctx context.Context, c *conn, backwards bool, each func(key []any, item any, damage error) error) error {
	var buf encoder
	var last []any
	for {
		n := 0
		text, args := tb.page(last, backwards)
		err := c.query(func(r *row) error {
			n++
			last = last[:0]
			for _, value := range r.values[:tb.keys] {
				last = append(last, value)
			}
			item, damage := tb.take(r, &buf)
			return each(last, item, damage)
		}, text, args...)
		if err = firstError(err, ctx.Err()); err != nil || n < pageSize {
			return err
		}
	}
}

// page gives the statement for the next page behind the key.
func (tb table) page(last []any, backwards bool) (text string, args []any) {
	columns := strings.Join(strings.SplitN(strings.ReplaceAll(tb.columns, "\n", " "), ",", tb.keys+1)[:tb.keys], ",")
	compare, direction := ">", " ASC"
	if backwards {
		compare, direction = "<", " DESC"
	}
	text = "SELECT " + tb.columns + " FROM " + tb.name
	if len(last) > 0 {
		text += " WHERE (" + columns + ") " + compare + " (?" + strings.Repeat(", ?", tb.keys-1) + ")"
		args = slices.Clone(last)
	}
	return text + " ORDER BY " + strings.ReplaceAll(columns, ",", direction+",") + direction + limited, append(args, int64(pageSize))
}

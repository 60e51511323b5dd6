package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"waybill/core/instruction"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/record"
)

// A Table describes how Verify and Salvage read, check and write the rows of a table.
type Table struct {
	// Name is that of the table.
	Name    string
	columns string
	keys    []string // of the primary key, which are the first columns
	from    string   // where the columns come from
	take    func(r *Row) (item any, err error)
	// Insert writes an item, which the table must not have yet.
	Insert func(t *Tx, item any) error
	// whole returns the fault of a row with correct checksums in Detail. It is nil for tables whose rows cannot have
	// such a fault.
	whole func(c Conn, item any) (store.Damage, error)
}

// Tables returns all tables with independent rows, in an order in which they can be filled. The records of the event
// log depend on each other and have their own code.
func Tables() []Table {
	instructions := tableOf(&instructionRows)
	instructions.Insert = func(t *Tx, item any) error { return instructionRecords{t}.create(item.(instruction.Instruction)) }
	return []Table{
		instructions, tableOf(&runRows), tableOf(&factRows), tableOf(&noticeRows), tableOf(&answerRows), tableOf(&tallyRows),
		tableOf(&promptRows), TasksTable(),
		ownedTable(&attemptRows, func(a *record.Attempt) *string { return &a.TaskID }),
		ownedTable(&replyRows, func(r *record.Reply) *string { return &r.TaskID }),
		tableOf(&dependencyRows), tableOf(&breakerRows),
	}
}

// tableOf returns the table of a kind of record.
func tableOf[R any](rs *rows[R]) Table {
	return Table{
		Name: rs.kind.Table, columns: rs.columns(), keys: rs.kind.Columns()[:rs.kind.KeyColumns], from: rs.kind.Table,
		take: func(r *Row) (any, error) { return rs.take(r) },
		Insert: func(t *Tx, item any) error {
			text, args := rs.insert(item.(R))
			return t.run(text, args)
		},
	}
}

// ownedTable returns the table of a kind of record that belongs to tasks. A record whose task is missing is damaged.
func ownedTable[R any](rs *rows[R], taskID func(*R) *string) Table {
	tb := tableOf(rs)
	tb.from, tb.columns = owned(rs)
	tb.take = func(r *Row) (any, error) { return takeOwned(r, rs, taskID) }
	return tb
}

// TasksTable is the table of the tasks, with their specs and newest attempts.
func TasksTable() Table {
	tb := tableOf(&taskRows)
	tb.from, tb.columns = taskTable(""), taskColumns()
	tb.take = func(r *Row) (any, error) { return takeTask(r) }
	tb.Insert = func(t *Tx, item any) error { return taskRecords{t}.createTask(item.(task.Task)) }
	tb.whole = func(c Conn, item any) (store.Damage, error) {
		task := item.(task.Task)
		detail, err := Half(c, task)
		return store.Damage{What: "task " + task.ID, Detail: detail}, err
	}
	return tb
}

const pageSize = 500

// Scan reads the rows of the table in ascending or descending key order, page by page, so that no page holds back the
// write-ahead log for long. Each row is given with the error of its check. The reading ends where each returns an
// error, or where the file cannot be read.
func (tb Table) Scan(ctx context.Context, c Conn, backwards bool, each func(key []any, item any, damage error) error) error {
	var last []any
	for {
		n := 0
		text, args := tb.page(last, backwards)
		err := c.Query(func(r *Row) error {
			n++
			last = append(last[:0], r.values[:len(tb.keys)]...)
			item, damage := tb.take(r)
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
	columns := tb.Name + "." + strings.Join(tb.keys, ", "+tb.Name+".")
	compare, direction := ">", " ASC"
	if backwards {
		compare, direction = "<", " DESC"
	}
	text = "SELECT " + tb.columns + " FROM " + tb.from + " WHERE " + tb.Name + ".workspace = :w"
	if len(last) > 0 {
		text += " AND (" + columns + ") " + compare + " (?" + strings.Repeat(", ?", len(tb.keys)-1) + ")"
		args = slices.Clone(last)
	}
	return text + " ORDER BY " + strings.ReplaceAll(columns, ",", direction+",") + direction + limited, append(args, int64(pageSize))
}

// Half returns the missing part of a task, or "".
func Half(c Conn, task task.Task) (detail string, err error) {
	if err := store.Coherent(task); err != nil {
		return err.Error(), nil
	}
	for _, of := range []string{"attempts", "replies"} {
		missing, err := Number(c, "SELECT coalesce(max(number), 0) - count(*) FROM "+of+" WHERE workspace = :w AND task = ?", task.Position)
		if err != nil {
			return "", err
		}
		if missing > 0 {
			return fmt.Sprintf("%d of its %s are missing", missing, of), nil
		}
	}
	return "", nil
}

package sqlstore

import (
	"slices"
	"strings"
	"sync"

	"waybill/core/instruction"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/record"
)

// rows reads and writes the rows of one kind of record.
type rows[R any] struct {
	kind *record.Kind[R]

	mu      sync.Mutex // guards the statements, which are put together when they are first needed
	list    string
	inserts map[uint64]string // by the columns that they name
	updates map[uint64]string
}

// columns lists the columns and the checksum, as a SELECT over several tables names them.
func (rs *rows[R]) columns() string {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.list == "" {
		table := rs.kind.Table + "."
		rs.list = table + strings.Join(rs.kind.Columns(), ", "+table) + ", " + table + "sum"
	}
	return rs.list
}

// selecting returns the statement that reads all rows. Conditions are added with AND.
func (rs *rows[R]) selecting() string {
	return "SELECT " + rs.columns() + " FROM " + rs.kind.Table + " WHERE " + rs.kind.Table + ".workspace = :w"
}

// take takes the columns and compares them with their checksum.
func (rs *rows[R]) take(r *Row) (one R, err error) {
	rest, sound := rs.kind.Take(r.values[r.next:], &one)
	if r.next = len(r.values) - len(rest); !sound {
		err = Damaged(rs.kind.Label(&one))
	}
	return one, err
}

// insert returns the statement that inserts a record, and its arguments. It names no column that is NULL, because each
// value that need not be bound counts.
func (rs *rows[R]) insert(one R) (text string, args []any) {
	row := rs.kind.Row(&one)
	args = row[:0]
	var named uint64
	for i, v := range row {
		if v != nil {
			named |= 1 << i
			args = append(args, v)
		}
	}
	return rs.text(&rs.inserts, named, rs.inserting), args
}

func (rs *rows[R]) inserting(names []string) string {
	return "INSERT INTO " + rs.kind.Table + " (workspace, " + strings.Join(names, ", ") + ") VALUES (:w" +
		strings.Repeat(", ?", len(names)) + ")"
}

// replace returns the statement that inserts a record in the place of the one with the same values of the key.
func (rs *rows[R]) replace(one R, key ...string) (text string, args []any) {
	args = rs.kind.Row(&one)
	return rs.text(&rs.updates, 1<<len(args), func([]string) string {
		var set []string
		for _, name := range rs.named(1<<len(args) - 1) {
			if !slices.Contains(key, name) {
				set = append(set, name+" = excluded."+name)
			}
		}
		return rs.inserting(rs.named(1<<len(args)-1)) + " ON CONFLICT (workspace, " + strings.Join(key, ", ") + ") DO UPDATE SET " +
			strings.Join(set, ", ")
	}), args
}

// update returns the statement that writes those values of a record that differ from those before, or "" if none do. A
// column that a statement does not name costs no index anything.
func (rs *rows[R]) update(before, after R) (text string, args []any) {
	old, row := rs.kind.Values(&before), rs.kind.Row(&after)
	changed := uint64(1) << len(old) // the checksum
	for i := range old {
		if sum, ok := old[i].([]byte); ok && string(sum) == string(row[i].([]byte)) {
			continue
		} else if ok || old[i] != row[i] {
			changed |= 1 << i
			args = append(args, row[i])
		}
	}
	if len(args) == 0 {
		return "", nil
	}
	keys := rs.kind.Columns()[:rs.kind.KeyColumns]
	text = rs.text(&rs.updates, changed, func(names []string) string {
		return "UPDATE " + rs.kind.Table + " SET " + strings.Join(names, " = ?, ") + " = ? WHERE " + rs.kind.Table + ".workspace = :w AND " +
			strings.Join(keys, " = ? AND ") + " = ?"
	})
	return text, append(append(args, row[len(old)]), row[:len(keys)]...)
}

// text returns a statement about some of the columns.
func (rs *rows[R]) text(of *map[uint64]string, columns uint64, made func(names []string) string) string {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	text, ok := (*of)[columns]
	if !ok {
		if *of == nil {
			*of = make(map[uint64]string)
		}
		text = made(rs.named(columns))
		(*of)[columns] = text
	}
	return text
}

// named returns the names of some of the columns.
func (rs *rows[R]) named(columns uint64) (names []string) {
	for i, name := range append(slices.Clip(rs.kind.Columns()), "sum") {
		if columns&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// run runs a statement of insert, replace or update. If it breaks a rule of the tables, Refused reports true for the error
// and the transaction continues.
func (t *Tx) run(text string, args []any) error {
	if text == "" {
		return nil
	}
	_, err := t.c.Try(text, args...)
	return err
}

// read runs a query of records and hands over each with the error of its check.
func read[R any](c Conn, rs *rows[R], each func(one R, damage error) error, more string, args ...any) error {
	return c.Query(func(r *Row) error { return each(rs.take(r)) }, rs.selecting()+more, args...)
}

// one returns the record that a query selects; ok is false without one.
func one[R any](c Conn, rs *rows[R], more string, args ...any) (found R, ok bool, err error) {
	err = read(c, rs, func(one R, damage error) error {
		found, ok = one, damage == nil
		return damage
	}, more, args...)
	return found, ok, err
}

// every returns the records that a query selects. A damaged one is an error.
func every[R any](c Conn, rs *rows[R], more string, args ...any) (found []R, err error) {
	err = read(c, rs, func(one R, damage error) error {
		found = append(found, one)
		return damage
	}, more, args...)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// sound returns the sound records that a query selects, and leaves the damaged ones out.
func sound[R any](t *Tx, rs *rows[R], more string, args ...any) (found []R, err error) {
	err = read(t.c, rs, func(one R, damage error) error {
		if damage != nil {
			return t.leaveOut(damage)
		}
		found = append(found, one)
		return nil
	}, more, args...)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// The rows of each kind.
var (
	instructionRows = rows[instruction.Instruction]{kind: &record.Instructions}
	runRows         = rows[record.Run]{kind: &record.Runs}
	factRows        = rows[record.Fact]{kind: &record.Facts}
	tallyRows       = rows[record.Tally]{kind: &record.Tallies}
	promptRows      = rows[store.Prompt]{kind: &record.Prompts}
	eventRows       = rows[store.Event]{kind: &record.Events}
	noticeRows      = rows[store.Notice]{kind: &record.Notices}
	answerRows      = rows[store.Answer]{kind: &record.Answers}
	taskRows        = rows[task.Task]{kind: &record.Tasks}
	specRows        = rows[task.Task]{kind: &record.Specs}
	attemptRows     = rows[record.Attempt]{kind: &record.Attempts}
	replyRows       = rows[record.Reply]{kind: &record.Replies}
	dependencyRows  = rows[record.Dependency]{kind: &record.Dependencies}
	breakerRows     = rows[task.Breaker]{kind: &record.Breakers}
)

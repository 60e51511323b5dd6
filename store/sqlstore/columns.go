package sqlstore

import (
	"bytes"
	"slices"
	"strings"
)

// Rows of the task tables are stored by column: the values in the order of the column names, each int64, string or nil.
// The sum covers these values.

// columns writes the values of a row, each after its type, so that no two rows produce the same bytes.
func (e encoder) columns(values []any) encoder {
	for _, v := range values {
		e = e.column(v)
	}
	return e
}

func (e encoder) column(value any) encoder {
	switch v := value.(type) {
	case nil:
		return append(e, 0)
	case int64:
		return append(e, 1).integer(v)
	case string:
		return append(e, 2).text(v)
	}
	return append(e, 3) // a type that waybill never writes
}

// summed returns the values with their sum behind them.
func (t *Tx) summed(table byte, values []any) []any {
	t.buf = t.buf.table(table).columns(values)
	return append(values, t.buf.sum())
}

// sound reports whether the checksum after the next n values is theirs.
func (r *Row) sound(table byte, n int, buf *encoder) bool {
	sum, ok := r.values[r.next+n].([]byte)
	if !ok {
		return false
	}
	*buf = buf.table(table)
	for _, v := range r.values[r.next : r.next+n] {
		*buf = buf.column(v)
	}
	return bytes.Equal(sum, buf.sum())
}

// qualified lists the columns of a table and its sum, as a SELECT over several tables names them.
func qualified(table string, names []string) string {
	return table + "." + strings.Join(names, ", "+table+".") + ", " + table + ".sum"
}

// inserting returns the statement that inserts a whole row.
func inserting(table string, names []string) string {
	return "INSERT INTO " + table + " (workspace, " + strings.Join(names, ", ") + ", sum) VALUES (:w, ?" +
		strings.Repeat(", ?", len(names)) + ")"
}

// replacing returns the one that puts a whole row in the place of the one with its key, which is the first of the names.
func replacing(table string, keys int, names []string) string {
	var set []string
	for _, name := range append(slices.Clone(names[keys:]), "sum") {
		set = append(set, name+" = excluded."+name)
	}
	return inserting(table, names) + " ON CONFLICT (workspace, " + strings.Join(names[:keys], ", ") + ") DO UPDATE SET " +
		strings.Join(set, ", ")
}

// replace writes those values of a row that are others than before. A column that a statement does not
// name costs no index anything.
func (t *Tx) replace(table string, kind byte, names []string, before, after []any, where string, keys ...any) error {
	var set []string
	var args []any
	for i, name := range names {
		if before[i] != after[i] {
			set, args = append(set, name+" = ?"), append(args, after[i])
		}
	}
	if len(set) == 0 {
		return nil
	}
	t.buf = t.buf.table(kind).columns(after)
	args = append(append(args, t.buf.sum()), keys...)
	_, err := t.c.Try("UPDATE "+table+" SET "+strings.Join(set, ", ")+", sum = ? WHERE "+table+".workspace = :w AND "+where, args...)
	return err
}

// orNull returns NULL for the empty text.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

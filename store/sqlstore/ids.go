package sqlstore

import (
	"strings"
	"unicode/utf8"

	"waybill/internal/lazy"
	"waybill/store"
)

// selectIDs reads the ids of each kind, in the order of bytes, from an index alone.
var selectIDs = lazy.Value[map[store.IDKind]string]{Of: func() map[store.IDKind]string {
	const among = "id >= ? AND id < ? AND substr(id, length(id) - length(?) + 1) = ? ORDER BY id"
	return map[store.IDKind]string{
		store.TaskID:        "SELECT id FROM tasks WHERE tasks.workspace = :w AND " + among,
		store.AttemptID:     "SELECT id FROM attempts WHERE attempts.workspace = :w AND " + among,
		store.RunID:         "SELECT id FROM runs WHERE runs.workspace = :w AND " + among,
		store.InstructionID: "SELECT id FROM instructions WHERE instructions.workspace = :w AND " + among,
		store.NoticeID:      "SELECT id FROM notices WHERE notices.workspace = :w AND " + among,
		store.SessionID: "SELECT DISTINCT parent FROM tasks WHERE tasks.workspace = :w AND parent <> '' AND " +
			strings.ReplaceAll(among, "id", "parent"),
	}
}}

// IDs checks no sums: the caller reads the row of an id before it uses it.
func (t whole) IDs(q store.IDQuery) ([]string, error) {
	text, ok := selectIDs.Get()[q.Kind]
	if !ok {
		return nil, refuse("there are no ids of the kind %d", q.Kind)
	}
	take := func(r *Row) (string, error) { return r.Text(), r.err }
	return listed(t.Tx, q.Limit, take, text, q.Prefix, behind(q.Prefix), q.Suffix, q.Suffix)
}

// behind returns the first text in byte order after all texts with a prefix. It returns U+10FFFF as the end of all
// texts, because no assigned character equals or follows it.
func behind(prefix string) string {
	r, width := utf8.DecodeLastRuneInString(prefix)
	switch {
	case prefix == "" || r == utf8.MaxRune:
		return prefix + string(utf8.MaxRune)
	case r+1 == 0xD800: // skip the surrogates, which no text contains
		r = 0xDFFF
	}
	return prefix[:len(prefix)-width] + string(r+1)
}

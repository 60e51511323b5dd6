package plan_test

import (
	"waybill/plan"
	"waybill/plan/dialect"
	"waybill/plan/read"
)

// readBytes reads a plan of which no more is known than its bytes, and sets its hash.
func readBytes(src []byte) (*plan.Reading, error) {
	r, err := read.Read(string(src), plan.Hints{})
	if err != nil {
		return nil, err
	}
	r.Hash = plan.Hash(string(src))
	return r, nil
}

// marksOf returns what is written for each status of a dialect: in a box, and where an item has a word or a sign for its
// status. A dialect without either is read-only.
func marksOf(name string) (boxes, words [plan.Skipped + 1][]string, written bool) {
	d := dialect.Of(name)
	return d.Boxes, d.Words, d.Writable()
}

// pathHints returns how the paths of plans begin that are likely those of a dialect, each with that dialect.
func pathHints() (under, dialects []string) {
	for _, name := range dialect.Names() {
		for _, folder := range dialect.Of(name).Folders {
			under, dialects = append(under, folder), append(dialects, name)
		}
	}
	return under, dialects
}

// textOf returns the lines of the source that an item is read from.
func textOf(r *plan.Reading, i int) string {
	rows := r.Rows()
	text := rows.Text[rows.Entries[i].From:rows.Entries[i].To]
	for _, more := range rows.Rests {
		if int(more.Item) == i {
			text += rows.Text[more.From:more.To]
		}
	}
	return text
}

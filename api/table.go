package api

import (
	"context"

	"waybill/engine/commit"
	"waybill/schema"
)

// ErrHurry is the cause to cancel a context with when the host leaves. Its changes are still applied.
var ErrHurry = commit.ErrHurry

// An Answer is the result or the error of a method, never both.
type Answer struct {
	// Result is encoded with codec.Encode. Nil is null.
	Result any
	Err    *schema.Error
	// Cause is the cause of an INTERNAL error for the log of the front door, which adds the incident number;
	// otherwise nil.
	Cause error
	// Undelivered, if not nil, is called when the answer could not be written to the host, and takes back the work
	// that it handed out. It does not block.
	Undelivered func()
}

// An Entry is a method together with its handler.
type Entry struct {
	schema.Method
	// Start begins the method and calls done exactly once, from any goroutine.
	//
	// A Control method calls done before Start returns, and waits for nothing. A Read method also calls done before
	// Start returns, but may take long. A Change method returns from Start once the change is queued, so changes that
	// are started one after the other are applied in that order.
	//
	// If ctx ends before the change is applied, the answer is CANCELLED; later ctx has no effect. With the cause
	// ErrHurry, the change is still applied, and a waiting one is answered with its current result. done must not
	// block.
	Start func(ctx context.Context, params []byte, done func(Answer))
}

// A Table finds entries by their names and aliases, and counts their calls. Its entries do not change after NewTable.
type Table struct {
	entries map[string]*Entry
	names   []string
	meters  map[string]*meter // by name
}

// NewTable returns a table that owns the entries. It panics if two have the same name.
func NewTable(entries []Entry) *Table {
	t := &Table{entries: make(map[string]*Entry, 2*len(entries)), meters: make(map[string]*meter, len(entries))}
	for i := range entries {
		e := &entries[i]
		m := newMeter(e.Name)
		if t.meters[e.Name] = m; e.Start != nil {
			e.Start = m.around(e.Start)
		}
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			if t.entries[name] != nil {
				panic("api: two methods are called " + name)
			}
			t.entries[name] = e
		}
		t.names = append(t.names, e.Name)
	}
	return t
}

// Entry returns the entry with that name or alias.
func (t *Table) Entry(name string) (*Entry, bool) {
	e, ok := t.entries[name]
	return e, ok
}

// Names returns the names without aliases, in the order of NewTable.
func (t *Table) Names() []string { return t.names }

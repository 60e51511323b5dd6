package api

import (
	"context"

	"waybill/engine"
	"waybill/schema"
)

// ErrHurry is the cause to end a context with when the host is leaving: nobody will wait any more,
// but what was asked for is still wanted.
var ErrHurry = engine.ErrHurry

// An Answer is what a method came to: a result or an error, never both.
type Answer struct {
	// Result is encoded with schema.Encode. Nil is null.
	Result any
	Err    *schema.Error
	// Cause is what an INTERNAL error is about, for the log of the front door, which adds the
	// incident by which it can be found there; nil otherwise.
	Cause error
	// Undelivered, if not nil, is called when the answer could not be written to the host, so that
	// what was handed out with it can be taken back. It waits for nothing.
	Undelivered func()
}

// An Entry is a method together with the function that carries it out.
type Entry struct {
	schema.Method
	// Start begins the method and calls done exactly once, at any time, from any goroutine.
	//
	// Start of a Control method has called done when it returns, and waits for nothing. Start of a
	// Read method may take its time, and has called done when it returns. Start of a Change method
	// returns as soon as the change has its place in the order of changes: whoever starts changes
	// one after the other gets them applied in that order, while their answers are still to come.
	//
	// A ctx that ends before anything was applied makes the answer CANCELLED; after that it has no
	// influence. If its cause is ErrHurry, a change is applied all the same, and one that waits for
	// something is answered with what there is. done must not block.
	Start func(ctx context.Context, params []byte, done func(Answer))
}

// A Table finds entries by their names and aliases, and counts the calls. It does not change otherwise after NewTable.
type Table struct {
	entries map[string]*Entry
	names   []string
	meters  map[string]*meter // by name
	opening func() bool
}

// NewTable gives a table of the entries, which are its own from then on. It panics if two have the same name.
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

// Opening reports whether calls wait for the store to be opened. A front door that leaves may give them time for it.
func (t *Table) Opening() bool { return t.opening != nil && t.opening() }

// Entry gives the entry of that name or alias.
func (t *Table) Entry(name string) (*Entry, bool) {
	e, ok := t.entries[name]
	return e, ok
}

// Names lists the names, without the aliases, in the order of NewTable.
func (t *Table) Names() []string { return t.names }

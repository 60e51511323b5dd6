// Package transfer carries a whole store from one place to another: as lines of JSON in a file, or straight from one
// database into another.
//
// It speaks to stores by store.Store alone, so that every database is the same to it. It refuses to copy a part of a
// store, a damaged record, and anything into a store that is not empty. A copy is complete or does not exist.
package transfer

import (
	"fmt"

	"waybill/store"
)

// Format is the version of the files that Export writes, and the newest that Import reads.
const Format = 1

// A Summary is the result of a copy.
type Summary struct {
	Workspace string // the id of the workspace that the file names; of Migrate, ""
	Counts    Counts
	// Sum is the SHA-256, in hexadecimal digits, of all lines of an export before its last, or, for Migrate, of all
	// records.
	Sum string
}

// Counts say how many records of each kind there are.
type Counts struct {
	Events       int `json:"events"`
	Instructions int `json:"instructions"`
	Runs         int `json:"runs"`
	Facts        int `json:"facts"`
	Tallies      int `json:"tallies"`
	Prompts      int `json:"prompts"`
	Tasks        int `json:"tasks"`
	Attempts     int `json:"attempts"`
	Replies      int `json:"replies"`
	Dependencies int `json:"dependencies"`
	Breakers     int `json:"breakers"`
	Notices      int `json:"notices"`
	Answers      int `json:"answers"`
}

// Each calls fn with the name and the number of each kind, in the order in which they are moved.
func (c Counts) Each(fn func(name string, n int)) {
	for _, k := range kinds {
		fn(k.facts().plural, *k.facts().counter(&c))
	}
}

func (c *Counts) add(k *kind) { *k.counter(c)++ }

// A FormatError means that a file is not a readable export. Nothing of it was stored.
type FormatError struct {
	Line    int // from 1
	Message string
	Newer   bool // it was written by a newer waybill
}

// Error names the line, its fault, and what to do.
func (e *FormatError) Error() string {
	return fmt.Sprintf("line %d of the export: %s", e.Line, e.Message)
}

// NotEmptyError says that a store has something in it already. It is as it was.
type NotEmptyError struct{ Found string }

// Error describes the records that were found.
func (e *NotEmptyError) Error() string {
	return "the store has " + e.Found + " already, and only an empty one is filled: name a new store"
}

// A ChangedError means that the source was written during the copy. The target has the source's contents at the
// beginning of the copy.
type ChangedError struct{ Where string }

// Error says where the two differ and what to do.
func (e *ChangedError) Error() string {
	return "the source was written while it was copied, and the target lacks that (" + e.Where +
		"): end the processes that use the source, and copy it to a new store"
}

// damaged is the error for a store that is not what was written.
func damaged(format string, args ...any) error {
	return &store.Error{
		Kind:    store.Corrupt,
		Message: "the store is damaged and was not copied, " + fmt.Sprintf(format, args...) + ": `waybill store salvage` saves what is sound",
	}
}

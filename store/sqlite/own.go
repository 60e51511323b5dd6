package sqlite

import (
	"errors"
	"os"

	"waybill/internal/ownfile"
	"waybill/store"
)

// Files beside the database follow the rule of package ownfile. waybill changes them only through open descriptors.
// SQLite opens the database, -wal and -shm by name: waybill checks them before, and no other user can write to the
// folder of a store.

// openOwn opens a file beside the database, or creates a private one if the flags allow it. A file that must not be
// used is an error of kind Unsafe.
func openOwn(path string, flags int) (*os.File, error) {
	f, err := ownfile.Open(path, flags)
	if refusal, ok := errors.AsType[*ownfile.Refusal](err); ok {
		return nil, unsafe(refusal)
	}
	return f, err
}

func unsafe(refusal *ownfile.Refusal) *store.Error { return fault(store.Unsafe, nil, "%v", refusal) }

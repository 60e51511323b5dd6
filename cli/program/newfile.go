package program

import (
	"errors"
	"io/fs"
	"os"

	"waybill/internal/atomicfile"
	"waybill/schema"
)

// NewFile has fill write a file that only its owner can read. It never replaces one.
func NewFile(path string, fill func(f *os.File) error) error {
	err := atomicfile.Create(path, fill)
	if errors.Is(err, fs.ErrExist) {
		return Occupied(path)
	}
	return err
}

func Occupied(path string) error {
	return schema.NewError(schema.InvalidState, path+" is there already and is not replaced: name a new file")
}

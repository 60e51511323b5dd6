package planfile

import (
	"errors"
	"io/fs"
	"os"
)

// Absent reports whether nothing has the name rel, for the price of one look. False says only that Read has to
// find out. A name that cannot be one of a file is not absent: Read says what is wrong with it.
func (r *Root) Absent(rel string) bool {
	name, err := cleanPath(rel)
	if err != nil {
		return false
	}
	_, err = os.Lstat(r.plain(name))
	return errors.Is(err, fs.ErrNotExist)
}

package file

import (
	"errors"
	"io/fs"
	"os"
)

// Absent reports whether no file or folder has the name rel. It costs one lstat. False proves nothing: the caller must
// Read the file. An invalid path is not absent, because Read reports its error.
func (r *Root) Absent(rel string) bool {
	name, err := cleanPath(rel)
	if err != nil {
		return false
	}
	_, err = os.Lstat(r.plain(name))
	return errors.Is(err, fs.ErrNotExist)
}

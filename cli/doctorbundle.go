package cli

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"waybill/doctor"
	"waybill/schema"
)

// writeBundle writes what may be given to others to a new file, which is there as a whole or not at all, and gives
// its whole path.
func writeBundle(path string, facts *doctor.Facts, found []doctor.Finding) (string, error) {
	path = whole(path)
	if _, err := os.Lstat(path); err == nil {
		return "", occupied(path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*") // mode 0600
	if err != nil {
		return "", fmt.Errorf("write the bundle: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // it has another name by then, or is not wanted
	err = pack(f, doctor.Extract(facts, found), facts.Now)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Link(f.Name(), path) // unlike a rename, it takes the place of nothing
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return "", occupied(path)
	case err != nil:
		return "", fmt.Errorf("write the bundle: %w", err)
	}
	return path, nil
}

func occupied(path string) error {
	return schema.NewError(schema.InvalidState, path+" is there already and is not replaced: name a new file")
}

// pack writes files as a .tar.gz.
func pack(w io.Writer, files []doctor.File, at time.Time) error {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for _, file := range files {
		header := &tar.Header{
			Name: "waybill-doctor/" + file.Name, Mode: 0o600, Size: int64(len(file.Text)),
			ModTime: at.Truncate(time.Second), Typeflag: tar.TypeReg,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(file.Text); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

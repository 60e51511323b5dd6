package cli

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
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
	err := newFile(path, func(f *os.File) error { return pack(f, doctor.Extract(facts, found), facts.Now) })
	if _, told := errors.AsType[*schema.Error](err); told {
		return "", err
	}
	if err != nil {
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

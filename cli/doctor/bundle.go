package doctor

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"waybill/cli/program"
	"waybill/cli/settings"
	"waybill/doctor"
	"waybill/schema"
)

// writeBundle writes the shareable findings to a new file and returns its absolute path. The file appears complete or
// not at all.
func writeBundle(path string, facts *doctor.Facts, found []doctor.Finding) (string, error) {
	path = settings.Whole(path)
	if _, err := os.Lstat(path); err == nil {
		return "", program.Occupied(path)
	}
	err := program.NewFile(path, func(f *os.File) error { return pack(f, doctor.Extract(facts, found), facts.Now) })
	if _, told := errors.AsType[*schema.Error](err); told {
		return "", err
	}
	if err != nil {
		return "", fmt.Errorf("write the bundle: %w", err)
	}
	return path, nil
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

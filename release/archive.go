package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"path"
	"time"
)

// archive returns the archive for one platform: the program, and the documents.
func (r *release) archive(b binary) (file, error) {
	folder := fmt.Sprintf("%s_%s_%s_%s", name, r.version, b.os, b.arch)
	entries := []file{{path.Join(folder, b.program()), 0o755, b.data}}
	for _, d := range r.docs {
		entries = append(entries, file{path.Join(folder, d.name), d.mode, d.data})
	}
	if b.os == "windows" {
		data, err := zipped(r.date, entries)
		return file{folder + ".zip", 0o644, data}, err
	}
	data, err := tarred(r.date, entries)
	return file{folder + ".tar.gz", 0o644, data}, err
}

// checksums returns the list of the files that sha256sum checks.
func (r *release) checksums(files []file) file {
	var list bytes.Buffer
	for _, f := range files {
		fmt.Fprintf(&list, "%s  %s\n", f.sum(), f.name)
	}
	return file{"checksums.txt", 0o644, list.Bytes()}
}

// tarred returns a compressed tar file. Its bytes depend on nothing but the arguments.
func tarred(date time.Time, files []file) ([]byte, error) {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	if err := writeTar(tar.NewWriter(packed), date, files); err != nil {
		return nil, err
	}
	err := packed.Close()
	return out.Bytes(), err
}

func writeTar(to *tar.Writer, date time.Time, files []file) error {
	for _, f := range files {
		header := tar.Header{Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.data)), ModTime: date, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if f.mode.IsDir() {
			header.Typeflag = tar.TypeDir
		}
		if err := to.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := to.Write(f.data); err != nil {
			return err
		}
	}
	return to.Close()
}

// zipped returns a zip file. Its bytes depend on nothing but the arguments.
func zipped(date time.Time, files []file) ([]byte, error) {
	var out bytes.Buffer
	to := zip.NewWriter(&out)
	for _, f := range files {
		header := zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
		header.SetMode(f.mode)
		entry, err := to.CreateHeader(&header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := to.Close()
	return out.Bytes(), err
}

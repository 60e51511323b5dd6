// Package atomicfile writes files that a reader sees whole or not at all. It keeps no mode, owner or link of a
// replaced file. Plan files and files of other programs need more care.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a private file, replacing any file of that name. A reader finds the old text or the new one. A
// killed process may leave a file path.new-….
func Replace(path string, text []byte) error {
	temp, err := write(path+".new-*", func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

// Create lets fill write a private file, and then names it path. It returns fs.ErrExist if the name is taken, and
// never replaces a file. A killed process may leave a file path.part-….
func Create(path string, fill func(f *os.File) error) error {
	temp, err := write(path+".part-*", fill)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }() // after a link both names exist; after an error only this one
	// A link never replaces a file, but some file systems have no links.
	err = os.Link(temp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fs.ErrExist, err)
	}
	return os.Rename(temp, path)
}

// write returns the name of a new synced file.
func write(pattern string, fill func(f *os.File) error) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(pattern), filepath.Base(pattern)) // mode 0600
	if err != nil {
		return "", err
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

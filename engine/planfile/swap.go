package planfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"strings"
)

// swap exchanges the names of the file and of temp, which has the new text. What comes out must be the
// text that was read; if it is not, it was saved a moment ago and goes back, and so on with what was
// saved while that happened: the last one to save wins. What comes out last is removed.
func (s site) swap(temp, old, text string) error {
	expected, placed, saved := old, text, error(nil)
	for range maxSwaps {
		if err := s.exchange(temp); err != nil {
			return errors.Join(saved, err, s.discard(temp, saved))
		}
		out, err := s.read(temp)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // the system can only replace, and the old file is gone
		case err != nil: // it is no file any more, or none that can be read
			return errors.Join(errSaved, err, s.exchange(temp))
		case out == expected:
			return errors.Join(saved, s.discard(temp, nil))
		}
		expected, placed, saved = placed, out, errSaved
	}
	return errors.Join(saved, s.discard(temp, saved))
}

// discard removes a temporary file, unless it has what somebody saved; then it gets a name that is kept.
func (s site) discard(temp string, saved error) error {
	if saved == nil {
		return s.dir.Remove(temp)
	}
	return s.dir.Rename(temp, strings.TrimSuffix(temp, tempSuffix)+".saved")
}

// emulate exchanges the names step by step, for systems that cannot do it in one. The file has a text at
// any moment. Where files have one name only, the old one is replaced for good.
func (s site) emulate(temp string) error {
	spare := tempPrefix + rand.Text() + tempSuffix
	linked := s.dir.Link(s.base, spare)
	if err := s.dir.Rename(temp, s.base); err != nil {
		_ = s.dir.Remove(spare)
		return err
	}
	if linked == nil && s.dir.Rename(spare, temp) != nil {
		_ = s.dir.Remove(spare) // the new text has its name, which cannot be taken back now
	}
	return nil
}

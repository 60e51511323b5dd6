package file

import (
	"errors"
	"io/fs"
)

// swap exchanges the names of the plan and of temp, which has the new text. It then checks the replaced text. If this
// is not old, another program has just saved it, and swap exchanges the names again, so that the last save wins. It
// removes the text that is not needed. If that text can be neither restored nor removed, swap returns the name of the
// file that keeps it.
func (s site) swap(temp, old, text string) (kept string, err error) {
	expected, placed, saved := old, text, error(nil)
	for range maxSwaps {
		if err := s.exchange(temp); err != nil {
			if saved == nil {
				return "", errors.Join(err, s.dir.Remove(temp))
			}
			kept, left := s.keep(temp)
			if expected == text { // the plan has the new text
				return kept, swapped("", errors.Join(err, left))
			}
			return kept, errors.Join(saved, err, left)
		}
		if s.exchanged != nil {
			s.exchanged()
		}
		out, err := s.read(temp)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", nil // the system could only replace, and the old file is gone
		case err != nil: // not a regular readable file any more
			return s.putBack(temp, text, err)
		case out == expected:
			err := s.dir.Remove(temp)
			if saved == nil && err != nil {
				return "", swapped(temp, err)
			}
			return "", errors.Join(saved, err)
		}
		expected, placed, saved = placed, out, errSaved
	}
	kept, err = s.keep(temp)
	return kept, errors.Join(saved, err)
}

// putBack restores the plan's name to a file that cannot be read. At present, the plan has the content text.
func (s site) putBack(temp, text string, err error) (kept string, _ error) {
	if back := s.exchange(temp); back != nil {
		kept, left := s.keep(temp)
		return kept, swapped("", errors.Join(err, back, left))
	}
	if out, err := s.read(temp); err == nil && out == text {
		return "", errors.Join(errSaved, err, s.dir.Remove(temp))
	}
	kept, left := s.keep(temp)
	return kept, errors.Join(errSaved, err, left)
}

// swapped returns the error for a failure after the new text replaced the plan. left is the temporary file that
// remains, or "".
func swapped(left string, err error) error {
	return &WriteError{Reason: writeReason(err), Swapped: true, Left: left, Err: err}
}

// emulate exchanges the two names in several steps, for systems without an atomic exchange. The plan has a complete
// text at any moment. Without hard links, the old text is replaced and lost.
func (s site) emulate(temp string) error {
	spare := spareOf(temp)
	linked := s.dir.Link(s.base, spare)
	if err := s.dir.Rename(temp, s.base); err != nil {
		_ = s.dir.Remove(spare)
		return err
	}
	if linked == nil && s.dir.Rename(spare, temp) != nil {
		_, _ = s.settle(spare) // the plan has the new text, which cannot be undone here
	}
	return nil
}

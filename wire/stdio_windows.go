package wire

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// Stdio takes stdin and stdout over for a conversation, and must be called once, before anything else
// can read or write them. It gives them on handles of their own, which no child inherits. What the
// program itself prints to stdout from here on goes to stderr.
//
// Whether Close interrupts a Read depends on what the host made the pipe of.
func Stdio() (in, out *os.File, err error) {
	if in, err = private(windows.STD_INPUT_HANDLE, "stdin"); err != nil {
		return nil, nil, err
	}
	if out, err = private(windows.STD_OUTPUT_HANDLE, "stdout"); err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	log, err := windows.GetStdHandle(windows.STD_ERROR_HANDLE)
	if err == nil {
		err = windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, log)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("point stdout at stderr: %w", err), in.Close(), out.Close())
	}
	os.Stdout = os.Stderr //nolint:forbidigo // what is printed by mistake must not reach the host
	return in, out, nil
}

// private gives a standard handle a duplicate that is not inherited.
func private(which uint32, name string) (*os.File, error) {
	handle, err := windows.GetStdHandle(which)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", name, err)
	}
	self := windows.CurrentProcess()
	var second windows.Handle
	if err := windows.DuplicateHandle(self, handle, self, &second, 0, false, windows.DUPLICATE_SAME_ACCESS); err != nil {
		return nil, fmt.Errorf("duplicate %s: %w", name, err)
	}
	return os.NewFile(uintptr(second), name), nil
}

package wire

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// Stdio takes over stdin and stdout for a connection. It must be called once, before anything else reads or writes
// them. It returns separate handles, which no child inherits. Afterwards, output that the program prints to stdout goes
// to stderr.
//
// Whether Close interrupts a Read depends on the kind of pipe that the host has created.
func Stdio() (in, out *os.File, err error) {
	if in, err = ownDescriptor(windows.STD_INPUT_HANDLE, "stdin"); err != nil {
		return nil, nil, err
	}
	if out, err = ownDescriptor(windows.STD_OUTPUT_HANDLE, "stdout"); err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	log, err := windows.GetStdHandle(windows.STD_ERROR_HANDLE)
	if err == nil {
		err = windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, log)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("point stdout at stderr: %w", err), in.Close(), out.Close())
	}
	os.Stdout = os.Stderr // text printed by mistake must not reach the host
	return in, out, nil
}

// ownDescriptor returns a duplicate of a standard handle that is not inherited.
func ownDescriptor(which uint32, name string) (*os.File, error) {
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

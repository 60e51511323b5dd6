package wire

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// A process is held by a handle, so that another one which gets its id later is not mistaken for it.
type process struct{ handle windows.Handle }

// findProcess reports whether there is such a process. It gives nil for one that may not be watched.
func findProcess(id int) (p *process, there bool) {
	const access = windows.SYNCHRONIZE | windows.PROCESS_QUERY_LIMITED_INFORMATION
	handle, err := windows.OpenProcess(access, false, uint32(id))
	if err != nil {
		return nil, !errors.Is(err, windows.ERROR_INVALID_PARAMETER) // which means that there is none
	}
	return &process{handle: handle}, true
}

func (p *process) gone() bool {
	event, err := windows.WaitForSingleObject(p.handle, 0)
	return err == nil && event == windows.WAIT_OBJECT_0
}

func (p *process) close() { _ = windows.CloseHandle(p.handle) }

// bornBefore reports whether the process is older than another one, as far as that can be known.
func (p *process) bornBefore(other windows.Handle) bool {
	var born, otherBorn, exit, kernel, user windows.Filetime
	if windows.GetProcessTimes(p.handle, &born, &exit, &kernel, &user) != nil ||
		windows.GetProcessTimes(other, &otherBorn, &exit, &kernel, &user) != nil {
		return true
	}
	return born.Nanoseconds() <= otherBorn.Nanoseconds()
}

// A parent is watched like any process: here a child keeps the id of its parent for ever. What is
// younger than its child has only inherited the id.
type parent struct{ process *process }

func findParent() *parent {
	p, _ := findProcess(os.Getppid())
	if p != nil && !p.bornBefore(windows.CurrentProcess()) {
		p.close()
		p = nil
	}
	return &parent{process: p}
}

// gone is false for a parent that cannot be watched: then only the end of the input tells.
func (p *parent) gone() bool { return p.process != nil && p.process.gone() }

// elsewhere is false: process ids are the same for everyone here.
func (p *parent) elsewhere() bool { return false }

func (p *parent) close() {
	if p.process != nil {
		p.process.close()
	}
}

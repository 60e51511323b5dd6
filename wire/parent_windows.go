package wire

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// A process holds a handle, so that a later process with the same id is not mistaken for it.
type process struct{ handle windows.Handle }

// findProcess returns the process with this id and whether it exists. It returns nil for one that may not be watched.
func findProcess(id int) (p *process, there bool) {
	const access = windows.SYNCHRONIZE | windows.PROCESS_QUERY_LIMITED_INFORMATION
	handle, err := windows.OpenProcess(access, false, uint32(id))
	if err != nil {
		return nil, !errors.Is(err, windows.ERROR_INVALID_PARAMETER) // this error means that no process has the id
	}
	return &process{handle: handle}, true
}

func (p *process) gone() bool {
	event, err := windows.WaitForSingleObject(p.handle, 0)
	return err == nil && event == windows.WAIT_OBJECT_0
}

func (p *process) close() { _ = windows.CloseHandle(p.handle) }

// bornBefore reports whether the process is older than another one. It reports true if their ages are unknown.
func (p *process) bornBefore(other windows.Handle) bool {
	var born, otherBorn, exit, kernel, user windows.Filetime
	if windows.GetProcessTimes(p.handle, &born, &exit, &kernel, &user) != nil ||
		windows.GetProcessTimes(other, &otherBorn, &exit, &kernel, &user) != nil {
		return true
	}
	return born.Nanoseconds() <= otherBorn.Nanoseconds()
}

// A parent is watched like any process, because a child keeps the id of its parent forever. A process that is younger
// than the child has only reused the id.
type parent struct{ process *process }

func findParent() *parent {
	p, _ := findProcess(os.Getppid())
	if p != nil && !p.bornBefore(windows.CurrentProcess()) {
		p.close()
		p = nil
	}
	return &parent{process: p}
}

// gone is false for a parent that cannot be watched; then only the end of the input reveals its end.
func (p *parent) gone() bool { return p.process != nil && p.process.gone() }

// otherNamespace is false, because Windows has no PID namespaces.
func (p *parent) otherNamespace() bool { return false }

func (p *parent) close() {
	if p.process != nil {
		p.process.close()
	}
}

//go:build unix && !linux

package wire

// A process is identified by its id.
type process struct{ id int }

// findProcess returns the process with this id and whether it exists.
func findProcess(id int) (p *process, there bool) {
	if !exists(id) {
		return nil, false
	}
	return &process{id: id}, true
}

func (p *process) gone() bool { return !exists(p.id) }

func (p *process) close() {}

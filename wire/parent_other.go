//go:build unix && !linux

package wire

// A process is known by its id.
type process struct{ id int }

// findProcess reports whether there is such a process.
func findProcess(id int) (p *process, there bool) {
	if !exists(id) {
		return nil, false
	}
	return &process{id: id}, true
}

func (p *process) gone() bool { return !exists(p.id) }

func (p *process) close() {}

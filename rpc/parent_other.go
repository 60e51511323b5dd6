//go:build unix && !linux

package rpc

// A process is known by its id.
type process struct{ id int }

// findProcess gives nil if there is no such process.
func findProcess(id int) *process {
	if !exists(id) {
		return nil
	}
	return &process{id: id}
}

func (p *process) gone() bool { return !exists(p.id) }

func (p *process) close() {}

package wire

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// lookEvery is how often a ParentWatch looks.
const lookEvery = time.Second

// A ParentWatch notices that the host is gone: the process that started this one, or one that is named.
// The end of the input says the same sooner, but not if another process holds the other end of the pipe.
type ParentWatch struct {
	parent *parent
	named  atomic.Int64
	wake   chan struct{} // holds a token if named may have changed; never closed
}

// NewParentWatch takes note of the parent, so that it is known from then on. It starts nothing: call Run.
func NewParentWatch() *ParentWatch {
	return &ParentWatch{parent: findParent(), wake: make(chan struct{}, 1)}
}

// Name has the process with this id watched too, in place of one that was named before; 0 is none. It
// is looked at at once. It may be called by any goroutine, and does not block.
func (w *ParentWatch) Name(id int64) {
	w.named.Store(id)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run returns nil within two seconds after the host is gone, and at once if the process that is named is
// gone already. A number that cannot be that of a process is not watched. Nor is any if the parent is in
// another PID namespace, as it is for what is started in a container: then a host's id means nothing
// here. If ctx ends before, Run returns its error. It is called once.
func (w *ParentWatch) Run(ctx context.Context) error {
	defer w.parent.close()
	named := watched{}
	defer named.close()
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	for {
		if !w.parent.elsewhere() {
			named.turnTo(w.named.Load())
		}
		if w.parent.gone() || named.gone() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.wake:
		case <-again.C:
		}
	}
}

// A watched is a process that was named, or none.
type watched struct {
	id      int64
	absent  bool     // there is no process with this id
	process *process // nil if it is absent or may not be watched
}

// turnTo watches the process with this id from now on.
func (w *watched) turnTo(id int64) {
	if id == w.id {
		return
	}
	w.close()
	*w = watched{id: id}
	if id > 0 && id <= math.MaxInt32 {
		var there bool
		w.process, there = findProcess(int(id))
		w.absent = !there
	}
}

func (w *watched) gone() bool { return w.absent || w.process != nil && w.process.gone() }

func (w *watched) close() {
	if w.process != nil {
		w.process.close()
	}
}

package wire

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// checkInterval is the time between two checks of a ParentWatch.
const checkInterval = time.Second

// A ParentWatch detects that the host has ended: the parent process, or one given by its id. The end of the input
// reports that sooner, but not if another process holds the pipe open.
type ParentWatch struct {
	parent *parent
	named  atomic.Int64
	wake   chan struct{} // holds a token if named may have changed; never closed
}

// NewParentWatch returns a ParentWatch of the current parent. It starts no goroutine: call Run.
func NewParentWatch() *ParentWatch {
	return &ParentWatch{parent: findParent(), wake: make(chan struct{}, 1)}
}

// WatchProcess makes Run watch the process with this id too, instead of an earlier one; 0 means none. Any goroutine may
// call it, and it does not block.
func (w *ParentWatch) WatchProcess(id int64) {
	w.named.Store(id)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run returns nil within two seconds after the host has ended, or at once if the given process does not exist. It
// ignores an impossible id. It also ignores ids if the parent is in another PID namespace, as in a container, where the
// host's id means another process. If ctx ends before, Run returns its error. It may be called once.
func (w *ParentWatch) Run(ctx context.Context) error {
	defer w.parent.close()
	named := namedProcess{}
	defer named.close()
	again := time.NewTicker(checkInterval)
	defer again.Stop()
	for {
		if !w.parent.otherNamespace() {
			named.watch(w.named.Load())
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

// A namedProcess is the process given by WatchProcess, or none.
type namedProcess struct {
	id      int64
	missing bool     // no process has this id
	process *process // nil if it is missing or may not be watched
}

// watch replaces the watched process by the one with this id.
func (w *namedProcess) watch(id int64) {
	if id == w.id {
		return
	}
	w.close()
	*w = namedProcess{id: id}
	if id > 0 && id <= math.MaxInt32 {
		var there bool
		w.process, there = findProcess(int(id))
		w.missing = !there
	}
}

func (w *namedProcess) gone() bool { return w.missing || w.process != nil && w.process.gone() }

func (w *namedProcess) close() {
	if w.process != nil {
		w.process.close()
	}
}

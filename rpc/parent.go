package rpc

import (
	"context"
	"time"
)

// lookEvery is how often WatchParent looks.
const lookEvery = time.Second

// WatchParent returns nil within two seconds after the host is gone: the process that started this
// one, or the one whose id host gives. host may be nil, and may give another id later, or 0 for none;
// an id that is not that of a living process when it is first given belongs to another machine, and
// is not watched. If ctx ends before, WatchParent returns its error.
//
// The end of the input says the same sooner, but not if another process holds the other end of the pipe.
func WatchParent(ctx context.Context, host func() int64) error {
	parent := findParent()
	defer parent.close()
	named := watched{}
	defer named.close()
	again := time.NewTicker(lookEvery)
	defer again.Stop()
	for {
		if host != nil {
			named.turnTo(host())
		}
		if parent.gone() || named.gone() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
		}
	}
}

// A watched is a process that was named, or none.
type watched struct {
	id      int64
	process *process // nil if there was none with this id
}

// turnTo watches the process with this id from now on.
func (w *watched) turnTo(id int64) {
	if id == w.id {
		return
	}
	w.close()
	*w = watched{id: id}
	if id > 0 && id == int64(int32(id)) {
		w.process = findProcess(int(id))
	}
}

func (w *watched) gone() bool { return w.process != nil && w.process.gone() }

func (w *watched) close() {
	if w.process != nil {
		w.process.close()
	}
}

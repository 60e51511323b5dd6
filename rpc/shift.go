package rpc

import (
	"io"
	"sync"
	"time"
)

// relief is how long the reader may be at a call itself until another one reads on in its place.
const relief = 2 * time.Millisecond

// A shift is the time of one reader, which is a goroutine of the library. The stream has one reader at a time; who was
// relieved reads no more.
type shift struct {
	*stream
	over bool // set while the reader is at a call, and looked at when it has left that
}

// ReadObject gives the library the next request of the stream, as long as the shift lasts.
func (s *shift) ReadObject(v any) error {
	if s.over {
		return io.EOF
	}
	return s.stream.ReadObject(v)
}

// A rota sees to it that the input has a reader while one is at a call.
type rota struct {
	next    func() *shift   // starts a reader
	running *sync.WaitGroup // of those who were relieved, too, until they are done

	mu    sync.Mutex // guards what follows
	now   *shift     // nil before the first
	at    *call      // that the reader carries out itself, or nil
	since time.Time  // it does
	watch *time.Timer
	looks bool // the watch is set
	over  bool // nobody is relieved any more
}

// begin has the first reader start.
func (r *rota) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.next()
}

// end is called when nothing is read any more.
func (r *rota) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	if r.watch != nil {
		r.watch.Stop()
	}
}

// enter notes that the reader begins to carry c out itself. The watch stays set from one call to the next, so that
// a host that asks one thing after the other does not pay for it each time.
func (r *rota) enter(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.since = c, time.Now()
	switch {
	case r.looks:
	case r.watch == nil:
		r.watch = time.AfterFunc(relief, r.relieve)
	default:
		r.watch.Reset(relief)
	}
	r.looks = true
}

// leave notes that c is carried out.
func (r *rota) leave(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == c {
		r.at = nil
		return
	}
	r.running.Done()
}

// relieve starts another reader if the one that there is has been at a call for long.
func (r *rota) relieve() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil || r.over {
		r.looks = false
		return
	}
	if left := relief - time.Since(r.since); left > 0 {
		r.watch.Reset(left)
		return
	}
	r.running.Add(1)
	r.now.over = true
	r.now, r.at, r.looks = r.next(), nil, false
}

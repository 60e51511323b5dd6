package rpc

import (
	"io"
	"sync"
	"time"
)

// handOverAfter is how long the reader may run a call itself before another reader replaces it.
const handOverAfter = 2 * time.Millisecond

// A readTurn is the stream of one reader, a goroutine of the library. Only one reader reads at a time. A reader that
// was replaced gets io.EOF.
type readTurn struct {
	*stream
	replaced bool // set while the reader runs a call, read after that
}

// ReadObject reads the next request of the stream for the library. It returns io.EOF after the reader was replaced.
func (s *readTurn) ReadObject(v any) error {
	if s.replaced {
		return io.EOF
	}
	return s.stream.ReadObject(v)
}

// A readerHandOver starts another reader when the current one is busy with a call.
type readerHandOver struct {
	startReader func() *readTurn // starts a reader
	running     *sync.WaitGroup  // includes replaced readers until their call ends

	mu       sync.Mutex // guards the fields below
	current  *readTurn  // nil before the first
	call     *call      // that the reader runs itself, or nil
	since    time.Time  // call runs
	timer    *time.Timer
	timerSet bool // the timer is set
	ended    bool // no reader is replaced any more
}

// start starts the first reader.
func (r *readerHandOver) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = r.startReader()
}

// end stops the replacing of readers. It is called after the last read.
func (r *readerHandOver) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.timer != nil {
		r.timer.Stop()
	}
}

// beginCall records that the reader runs c itself. The timer stays set between calls, because setting it for each
// call would cost a host that sends one request after the other.
func (r *readerHandOver) beginCall(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.call, r.since = c, time.Now()
	switch {
	case r.timerSet:
	case r.timer == nil:
		r.timer = time.AfterFunc(handOverAfter, r.handOver)
	default:
		r.timer.Reset(handOverAfter)
	}
	r.timerSet = true
}

// endCall records that c has ended.
func (r *readerHandOver) endCall(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.call == c {
		r.call = nil
		return
	}
	r.running.Done()
}

// handOver starts another reader if the current one has run a call for handOverAfter.
func (r *readerHandOver) handOver() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.call == nil || r.ended {
		r.timerSet = false
		return
	}
	if left := handOverAfter - time.Since(r.since); left > 0 {
		r.timer.Reset(left)
		return
	}
	r.running.Add(1)
	r.current.replaced = true
	r.current, r.call, r.timerSet = r.startReader(), nil, false
}

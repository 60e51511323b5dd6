package conn

import (
	"sync"
	"time"
)

// handOverAfter is how long the reader may run a call itself before another reader replaces it.
const handOverAfter = 2 * time.Millisecond

// A handOver starts another reader when the current one is busy with a call. A reader is a Conn of the library, which
// runs its handler on the goroutine that reads. Running a call there saves waking another goroutine, which takes longer
// than most calls.
type handOver struct {
	startReader func() *reader // starts a reader
	running     *sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	current  *reader    // nil before the first
	call     *Call      // that the reader runs itself, or nil
	since    time.Time  // call runs
	timer    *time.Timer
	timerSet bool // the timer is set
	asking   int  // requests to the host without an answer: their reader must stay, because it matches the answers
	ended    bool // no reader is replaced any more
}

// start starts the first reader.
func (h *handOver) start() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.current = h.startReader()
}

// end stops the replacing of readers. It is called after the last read.
func (h *handOver) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	if h.timer != nil {
		h.timer.Stop()
	}
}

// reader returns the current reader.
func (h *handOver) reader() *reader {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current
}

// ask returns the reader for a request to the host, which stays until answered is called.
func (h *handOver) ask() *reader {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.call != nil && !h.ended {
		h.replace()
	}
	h.asking++
	return h.current
}

func (h *handOver) answered() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asking--
}

// beginCall records that the reader runs c itself, unless it must not. The timer stays set between calls, because
// setting it for each call would cost a host that sends one request after the other.
func (h *handOver) beginCall(c *Call) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.asking > 0 {
		return false
	}
	h.call, h.since = c, time.Now()
	switch {
	case h.timerSet:
	case h.timer == nil:
		h.timer = time.AfterFunc(handOverAfter, h.check)
	default:
		h.timer.Reset(handOverAfter)
	}
	h.timerSet = true
	return true
}

// endCall records that c has ended.
func (h *handOver) endCall(c *Call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.call == c {
		h.call = nil
		return
	}
	h.running.Done()
}

// check starts another reader if the current one has run a call for handOverAfter.
func (h *handOver) check() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timerSet = false
	if h.call == nil || h.ended {
		return
	}
	if left := handOverAfter - time.Since(h.since); left > 0 {
		h.timer.Reset(left)
		h.timerSet = true
		return
	}
	h.replace()
}

// replace starts another reader. The caller holds mu.
func (h *handOver) replace() {
	h.running.Add(1) // until the call ends
	h.current.replaced = true
	h.current, h.call = h.startReader(), nil
}

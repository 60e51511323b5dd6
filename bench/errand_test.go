package bench

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"
)

// An errand is a host's way with instructions: each of its slots queues one, acknowledges it, and
// queues the next; the id of a request is that of its slot. With passes, each instruction is handed out
// in between. All requests are changes, so the figures are in changes.
type errand struct {
	host    *host
	session string // each slot has its own, which begins with this
	passes  bool

	slots   []slot
	latency series // of every change, in µs
}

// A slot is one request in flight.
type slot struct {
	step        step
	instruction string
	sent        time.Time // zero until it is
}

// A step is what a slot does next, or is about.
type step int

const (
	queueing step = iota
	passing
	acknowledging
)

// firstID makes the ids of all slots three digits long.
const firstID = 100

func newErrand(h *host, session string, inFlight int) *errand {
	return &errand{host: h, session: session, slots: make([]slot, inFlight)}
}

// run carries out n changes and returns their rate.
func (e *errand) run(b *testing.B, n int) float64 {
	start := time.Now()
	if err := e.begin(); err != nil {
		b.Fatal(err)
	}
	for answered := 0; answered < n; {
		more, err := e.turn(n - answered)
		if err != nil {
			b.Fatal(err)
		}
		answered += more
	}
	return rate(n, time.Since(start))
}

// begin fills every slot.
func (e *errand) begin() error {
	e.host.requests = e.host.requests[:0]
	for i := range e.slots {
		e.slots[i].step = queueing
		e.append(i)
	}
	return e.flush()
}

// turn takes the answers that are there, sends what follows them as long as more answers are wanted
// than are in flight, and counts them.
func (e *errand) turn(wanted int) (answered int, err error) {
	e.host.requests = e.host.requests[:0]
	answer, err := e.host.answer()
	for ; answer != nil && err == nil; answer, err = e.host.more() {
		i, err := e.take(answer)
		if err != nil {
			return answered, err
		}
		answered++
		if wanted-answered >= len(e.slots) {
			e.append(i)
		}
	}
	return answered, errors.Join(err, e.flush())
}

// drain takes the answers that are still to come, without sending anything.
func (e *errand) drain() error {
	for range e.slots {
		answer, err := e.host.answer()
		if err != nil {
			return err
		}
		if _, err := e.take(answer); err != nil {
			return err
		}
	}
	return nil
}

// take returns the slot that an answer is for, which is free then.
func (e *errand) take(answer []byte) (i int, err error) {
	const at = len(`{"jsonrpc":"2.0","id":`)
	id, err := strconv.Atoi(string(answer[at : at+3]))
	if i = id - firstID; err != nil || i < 0 || i >= len(e.slots) {
		return 0, fmt.Errorf("an answer to nothing: %s", answer)
	}
	s := &e.slots[i]
	e.latency = append(e.latency, micros(time.Since(s.sent)))
	switch s.step {
	case queueing:
		s.instruction = member(answer, "instruction_id")
		s.step = acknowledging
		if e.passes {
			s.step = passing
		}
	case passing:
		s.step = acknowledging
	case acknowledging:
		s.step = queueing
	}
	return i, nil
}

// append encodes the next request of a slot.
func (e *errand) append(i int) {
	to := append(e.host.requests, `{"jsonrpc":"2.0","id":`...)
	to = strconv.AppendInt(to, int64(firstID+i), 10)
	switch s := &e.slots[i]; s.step {
	case queueing:
		to = e.appendSession(append(to, `,"method":"queue_instruction_with_ack","params":{"session_id":"`...), i)
		to = append(append(to, `","content":"`...), content...)
	case passing:
		to = e.appendSession(append(to, `,"method":"dispatch_instructions","params":{"session_id":"`...), i)
	case acknowledging:
		to = append(append(to, `,"method":"acknowledge","params":{"instruction_id":"`...), s.instruction...)
	}
	e.host.requests = append(to, `"}}`+"\n"...)
	e.slots[i].sent = time.Time{}
}

func (e *errand) appendSession(to []byte, i int) []byte {
	return strconv.AppendInt(append(to, e.session...), int64(i), 10)
}

// flush sends what was appended.
func (e *errand) flush() error {
	if len(e.host.requests) == 0 {
		return nil
	}
	now := time.Now()
	for i := range e.slots {
		if e.slots[i].sent.IsZero() {
			e.slots[i].sent = now
		}
	}
	return e.host.send(e.host.requests)
}

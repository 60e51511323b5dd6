package bench

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"
)

// A shift is a host's work on a queue of tasks: each of its slots claims a task, reports it completed,
// and claims the next; the id of a request is that of its slot. All requests are changes.
type shift struct {
	host    *host
	slots   []worker
	latency series // of every change, in µs
}

// A worker is one request in flight: a claim, or the report about what was claimed.
type worker struct {
	task, lease string    // "" while it claims
	sent        time.Time // zero until it is
}

func newShift(h *host, inFlight int) *shift { return &shift{host: h, slots: make([]worker, inFlight)} }

// create puts n tasks into the queue, a window of them at a time.
func (h *host) create(b *testing.B, n int) {
	for n > 0 {
		k := min(window, n)
		h.requests = h.requests[:0]
		for i := range k {
			h.requests = fmt.Appendf(h.requests, `{"jsonrpc":"2.0","id":%d,"method":"create_task","params":{"prompt":"%s",`+
				`"models":[{"provider_id":"acme","model_id":"large"}]}}`+"\n", firstID+i, content)
		}
		if err := h.send(h.requests); err != nil {
			b.Fatal(err)
		}
		for n -= k; k > 0; {
			k -= h.countAnswers(b)
		}
	}
}

// run claims and finishes tasks until n changes are made, and returns their rate. There must be n of them.
func (s *shift) run(b *testing.B, n int) float64 {
	start := time.Now()
	s.host.requests = s.host.requests[:0]
	for i := range s.slots {
		s.slots[i] = worker{}
		s.append(i)
	}
	err := s.flush()
	for answered := 0; answered < n && err == nil; {
		var more int
		more, err = s.turn(n - answered)
		answered += more
	}
	if err != nil {
		b.Fatal(err)
	}
	return rate(n, time.Since(start))
}

// turn takes the answers that are there, sends what follows them as long as more answers are wanted
// than are in flight, and counts them.
func (s *shift) turn(wanted int) (answered int, err error) {
	s.host.requests = s.host.requests[:0]
	answer, err := s.host.answer()
	for ; answer != nil && err == nil; answer, err = s.host.more() {
		i, err := s.take(answer)
		if err != nil {
			return answered, err
		}
		answered++
		if wanted-answered >= len(s.slots) {
			s.append(i)
		}
	}
	return answered, errors.Join(err, s.flush())
}

// take returns the slot that an answer is for, which is free then.
func (s *shift) take(answer []byte) (i int, err error) {
	const at = len(`{"jsonrpc":"2.0","id":`)
	id, err := strconv.Atoi(string(answer[at : at+3]))
	if i = id - firstID; err != nil || i < 0 || i >= len(s.slots) {
		return 0, fmt.Errorf("an answer to nothing: %s", answer)
	}
	w := &s.slots[i]
	s.latency = append(s.latency, micros(time.Since(w.sent)))
	if w.lease != "" {
		if !bytes.Contains(answer, []byte(`"applied":true`)) {
			err = fmt.Errorf("a report was not applied: %s", answer)
		}
		*w = worker{}
		return i, err
	}
	w.task, w.lease = member(answer, "task_id"), member(answer, "token")
	if w.lease == "" {
		err = fmt.Errorf("there is no task left: %s", answer)
	}
	return i, err
}

// append encodes the next request of a slot.
func (s *shift) append(i int) {
	to := append(s.host.requests, `{"jsonrpc":"2.0","id":`...)
	to = strconv.AppendInt(to, int64(firstID+i), 10)
	if w := s.slots[i]; w.lease == "" {
		to = append(to, `,"method":"claim_task","params":{"worker":"bench`...)
	} else {
		to = append(append(to, `,"method":"finish_attempt","params":{"status":"completed","output":"`...), content...)
		to = append(append(to, `","task_id":"`...), w.task...)
		to = append(append(to, `","lease_token":"`...), w.lease...)
	}
	s.host.requests = append(to, `"}}`+"\n"...)
	s.slots[i].sent = time.Time{}
}

// flush sends what was appended.
func (s *shift) flush() error {
	if len(s.host.requests) == 0 {
		return nil
	}
	now := time.Now()
	for i := range s.slots {
		if s.slots[i].sent.IsZero() {
			s.slots[i].sent = now
		}
	}
	return s.host.send(s.host.requests)
}

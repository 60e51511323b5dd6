//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// What was answered is there after kill -9, exactly as it was answered, whenever it comes; and beside
// it there is nothing but what was on its way, one call of each caller.
func TestAnswersSurviveKill(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, seed))
	w := newWorld(t)
	var all history
	for range 12 {
		all.add(w.workUntilKilled(t, r.Int64N(400)))
	}
	got := w.serve(t).states()
	for id, states := range all.states {
		require.Contains(t, states, got[id], "%s", id)
	}
	strangers := 0
	for id, state := range got {
		if all.states[id] == nil {
			require.Equal(t, "queued", state, "%s was never answered", id)
			strangers++
		}
	}
	require.LessOrEqual(t, strangers, all.queueing, "more instructions than were asked for")
	require.NotEmpty(t, all.states)
}

// A history is what callers know: the states that an instruction may be in, by its id, and how many
// calls that queue another one had no answer.
type history struct {
	states   map[string][]string
	queueing int
}

func (h *history) add(other history) {
	if h.states == nil {
		h.states = map[string][]string{}
	}
	maps.Copy(h.states, other.states)
	h.queueing += other.queueing
}

// workUntilKilled has several callers queue and acknowledge, and kills the process when so many calls
// were answered and others are on their way.
func (w world) workUntilKilled(t *testing.T, calls int64) history {
	t.Helper()
	const callers = 8
	p := w.serve(t)
	p.must("ping", `{}`, nil)
	switchboard := p.share()
	var answered atomic.Int64
	var wg sync.WaitGroup
	enough := make(chan struct{}) // closed by the caller that gets the decisive answer
	known := make([]history, callers)
	for i := range callers {
		wg.Go(func() {
			known[i] = work(switchboard, func() {
				if answered.Add(1) == calls+1 {
					close(enough)
				}
			})
		})
	}
	<-enough
	require.NoError(t, p.cmd.Process.Kill())
	wg.Wait()
	_ = p.cmd.Wait()
	var all history
	for _, h := range known {
		all.add(h)
	}
	return all
}

// work queues an instruction, acknowledges it, and so on until the process is gone.
func work(s *switchboard, answered func()) history {
	h := history{states: map[string][]string{}}
	for {
		r, ok := s.call("queue_instruction_with_ack", `{"content":"x"}`)
		if !ok {
			h.queueing++
			return h
		}
		var queued struct {
			ID string `json:"instruction_id"`
		}
		if r.Error != nil || json.Unmarshal(r.Result, &queued) != nil {
			h.states[string(r.Result)] = []string{"refused"} // which nothing is
			return h
		}
		h.states[queued.ID] = []string{"queued"}
		answered()
		h.states[queued.ID] = []string{"queued", "acknowledged"} // while it is on its way
		if _, ok = s.call("acknowledge", fmt.Sprintf(`{"instruction_id":%q}`, queued.ID)); !ok {
			return h
		}
		h.states[queued.ID] = []string{"acknowledged"}
		answered()
	}
}

// A switchboard lets several callers share one process.
type switchboard struct {
	p *peer

	mu    sync.Mutex // guards what follows, and the writing
	next  int
	calls map[int]chan reply // filled once, or closed when the process is gone
	gone  bool
}

// share gives the process to several callers. From here on nobody else may call.
func (p *peer) share() *switchboard {
	s := &switchboard{p: p, calls: map[int]chan reply{}}
	go s.listen() // ends with the process
	return s
}

func (s *switchboard) listen() {
	for {
		line, err := s.p.out.ReadBytes('\n')
		s.mu.Lock()
		if err != nil {
			s.gone = true
			for _, waiting := range s.calls {
				close(waiting)
			}
			s.mu.Unlock()
			return
		}
		var r reply
		if json.Unmarshal(line, &r) == nil && s.calls[r.ID] != nil {
			s.calls[r.ID] <- r
			delete(s.calls, r.ID)
		}
		s.mu.Unlock()
	}
}

// call reports whether an answer came.
func (s *switchboard) call(method, params string) (reply, bool) {
	answer := make(chan reply, 1)
	s.mu.Lock()
	if s.gone {
		s.mu.Unlock()
		return reply{}, false
	}
	s.next++
	s.calls[1000+s.next] = answer
	_, _ = fmt.Fprintf(s.p.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", 1000+s.next, method, params) // listen finds out
	s.mu.Unlock()
	r, ok := <-answer
	return r, ok
}

// states gives the state of every instruction by its id.
func (p *peer) states() map[string]string {
	p.t.Helper()
	got, cursor := map[string]string{}, ""
	for {
		var page struct {
			Items []struct {
				ID    string `json:"instruction_id"`
				State string `json:"state"`
			} `json:"items"`
			Next string `json:"next_cursor"`
		}
		p.must("list_instructions", fmt.Sprintf(`{"limit":500,"cursor":%q}`, cursor), &page)
		for _, in := range page.Items {
			require.NotContains(p.t, got, in.ID)
			got[in.ID] = in.State
		}
		if cursor = page.Next; cursor == "" {
			return got
		}
	}
}

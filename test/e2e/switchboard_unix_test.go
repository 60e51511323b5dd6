//go:build unix

package e2e_test

import (
	"encoding/json"
	"fmt"
	"sync"
)

// A switchboard lets several callers share one process.
type switchboard struct {
	p *peer

	mu    sync.Mutex // guards what follows, and the writing
	next  int
	calls map[int]chan reply // filled once, or closed when the process is gone
	gone  bool
}

// share makes the process usable by several callers. From here on only they may call.
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

package postgres

import (
	"context"
	"fmt"
	"time"
)

// A commit is announced to listening processes (see listen.go). NOTIFY holds a lock of the whole server during its commit,
// so it is not part of a change. It runs in a separate transaction that the server does not sync, once for all recent changes.
const (
	// tellInterval is the least time between two of them.
	tellInterval = 20 * time.Millisecond
	// tellLimit is the time for a notification. Processes that miss one read the commit count anyway.
	tellLimit = time.Second
)

// topic returns the channel of the notifications.
func (s *Store) topic() string { return fmt.Sprintf("waybill_%d", s.number) }

// tell schedules a notification of the commit count to the other processes, and returns at once.
func (s *Store) tell() {
	if s.o.mute {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.tells && !s.closed {
		s.tells = true
		s.working.Go(s.telling) // ends with Close
	}
	select {
	case s.unsent <- struct{}{}:
	default:
	}
}

// telling announces commits until the store is closed, and announces the last ones then.
func (s *Store) telling() {
	for {
		select {
		case <-s.unsent:
			s.tellNow()
		case <-s.ended:
			select {
			case <-s.unsent:
				s.tellNow()
			default:
			}
			return
		}
		s.holdOn(s.o.tellEvery)
	}
}

// holdOn waits for that long, or for the end.
func (s *Store) holdOn(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.ended:
	case <-timer.C:
	}
}

func (s *Store) tellNow() {
	within, cancel := context.WithTimeout(context.Background(), tellLimit)
	defer cancel()
	if err := s.tellOnce(within); err != nil {
		s.o.Logger.Debug("the others were not told of a commit", "place", s.place, "err", s.fault(err))
	}
}

func (s *Store) tellOnce(within context.Context) error {
	c, err := s.takeLate(within)
	if err != nil {
		return err
	}
	defer s.give(c)
	_, err = c.script(within, fmt.Sprintf("NOTIFY %s, '%d'", s.topic(), s.knownCommits()))
	return err
}

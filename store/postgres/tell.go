package postgres

import (
	"context"
	"fmt"
	"time"
)

// Whoever has committed tells the others, who may be listening (see ear.go). A transaction that has called NOTIFY holds a
// lock of the whole server while it commits, so that telling is no part of a change: it has a transaction of its own,
// which the server does not sync, and is shared by all changes of a moment.
const (
	// tellInterval is the least time between two of them.
	tellInterval = 20 * time.Millisecond
	// tellLimit is how long telling may take. Who was not told looks by himself.
	tellLimit = time.Second
)

// topic names what is told about.
func (s *Store) topic() string { return fmt.Sprintf("waybill_%d", s.number) }

// tell has the others told how many commits there are, soon. It does not wait.
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
	case s.untold <- struct{}{}:
	default:
	}
}

// telling tells whenever there is something untold, until the store is closed. What is left then is told, too.
func (s *Store) telling() {
	for {
		select {
		case <-s.untold:
			s.tellNow()
		case <-s.ended:
			select {
			case <-s.untold:
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

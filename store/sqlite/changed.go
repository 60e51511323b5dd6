package sqlite

import (
	"bytes"
	"os"
	"time"
)

// Who asks for the changes of others is woken by the system where it can watch the lock file, and looks at
// that now and then all the same, for what no system tells. Without a watch the looks are all there is. One
// costs a short read and a wake-up, together up to 100 µs, so they are frequent only while others are at work.
const (
	pollInterval = 100 * time.Millisecond
	busyInterval = 20 * time.Millisecond
	// busyFor is how long after a commit of another process the next one is looked for so often.
	busyFor = 10 * time.Second
	// netInterval is how often one looks beside a watch.
	netInterval = time.Second
	// breather is how long one does not heed the watch after a look. What is written meanwhile rings once, so
	// that a process that writes without a pause wakes the others a hundred times a second and not thousands.
	breather = 10 * time.Millisecond
	// doubtful is how many looks follow soon upon a ring while the lock is held: the system tells that a file was
	// closed before it lets go of the lock, and whoever died with it rings no more.
	doubtful = 5
)

// Changed gives the channel that is signalled after commits of other processes. The first call begins
// to look for them; who never asks pays nothing.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.polls && !s.closed {
		s.polls = true
		s.polling.Go(s.poll) // ends with Close
	}
	return s.changed
}

// poll looks at the lock file whenever it was written, and from time to time.
func (s *Store) poll() {
	n := neighbour{s: s, watch: s.watchLock(), doubts: doubtful}
	defer func() { n.watch.close() }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.ended:
			return
		case _, heard := <-n.watch.rings():
			if !heard {
				n.deafen()
			}
			n.doubts = doubtful
		case <-timer.C:
			n.watch.renew()
			n.doubts--
		}
		if rests := n.look(); rests && n.watch != nil && !s.pause(breather) {
			return
		}
		timer.Reset(n.interval())
	}
}

// watchLock gives a watch of the lock file, or nil if there can be none. What another machine writes to a shared
// disk no system tells.
func (s *Store) watchLock() *watch {
	if s.place.volume.remote || s.o.unwatched {
		return nil
	}
	w, err := newWatch(s.place.lockPath())
	if err != nil {
		s.o.Logger.Debug("the lock file is looked at and not watched", "path", s.place.lockPath(), "err", err)
	}
	return w
}

// pause waits for that long and reports whether the store is still open.
func (s *Store) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.ended:
		return false
	case <-timer.C:
		return true
	}
}

// A neighbour looks at what other processes do to the lock file. One goroutine has it.
type neighbour struct {
	s      *Store
	watch  *watch    // nil if there is none
	text   []byte    // of the file, at the last look
	found  time.Time // when the last commit of another process was
	held   bool      // the lock was held at the last look
	doubts int       // how many looks are to follow soon, if it is
}

// deafen goes on without the watch.
func (n *neighbour) deafen() {
	n.watch.close()
	n.watch = nil
}

// interval gives the longest time until the next look.
func (n *neighbour) interval() time.Duration {
	switch {
	case n.watch != nil && n.held && n.doubts > 0:
		return busyInterval
	case n.watch != nil:
		return n.s.o.net
	case time.Since(n.found) < busyFor:
		return busyInterval
	}
	return pollInterval
}

// look signals what is new, and says whether the next look may wait a little: not while somebody is at a commit
// and nothing else was new, because what he writes when he is done is what one waits for.
func (n *neighbour) look() (rests bool) {
	text, err := os.ReadFile(n.s.place.lockPath())
	if err != nil {
		return true
	}
	says := parseRecord(text)
	news := n.s.learn(says.commits)
	if news {
		n.s.signal()
		n.found = time.Now()
	}
	again := bytes.Equal(text, n.text)
	n.text, n.held = text, says.state == locked
	if !n.held {
		return true
	}
	if again && n.s.inherit() {
		n.found = time.Now()
	}
	return news
}

// inherit notices that who has the lock by what the file says has died: then it can be had. He may have
// committed. Whoever is at a change of ours finds that out himself.
func (s *Store) inherit() bool {
	select {
	case s.turn <- struct{}{}:
	default:
		return false
	}
	defer s.turn.give()
	if s.refusal() != nil || !s.lock.acquireDead() {
		return false
	}
	defer s.lock.release()
	s.hear()
	return true
}

// hear signals what others have committed before we got the lock, which is held.
func (s *Store) hear() {
	if now := s.lock.says.commits; s.seen.Swap(now) != now {
		s.signal()
	}
}

// learn notes that there were that many commits and reports whether some of them are news.
func (s *Store) learn(commits int64) bool {
	for {
		seen := s.seen.Load()
		if commits <= seen {
			return false
		}
		if s.seen.CompareAndSwap(seen, commits) {
			return true
		}
	}
}

// signal leaves a signal unless one is waiting to be taken.
func (s *Store) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

package memory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"waybill/core"
)

// sit gives the attempt that is in a seat.
func (s *tasks) sit(in seat) core.Attempt {
	of, _ := s.attempts.get(in.taskID)
	a, _ := of.get(in.number)
	return a
}

func (t *tx) Attempt(id string) (a core.Attempt, ok bool, err error) {
	return t.attemptIn(t.state.seats, id)
}

func (t *tx) AttemptOf(session string) (a core.Attempt, ok bool, err error) {
	if err := t.getting(); err != nil {
		return a, false, err
	}
	in, ok := t.state.sessions.get(session)
	if !ok {
		return a, false, nil
	}
	return t.state.sit(in.last().value), true, nil
}

func (t *tx) AttemptUnder(token string) (a core.Attempt, ok bool, err error) {
	return t.attemptIn(t.state.tokens, token)
}

func (t *tx) attemptIn(seats *node[string, seat], key string) (a core.Attempt, ok bool, err error) {
	if err := t.getting(); err != nil {
		return a, false, err
	}
	in, ok := seats.get(key)
	if !ok {
		return a, false, nil
	}
	return t.state.sit(in), true, nil
}

func (t *tx) PutAttempt(a core.Attempt) error {
	if err := t.putting(); err != nil {
		return err
	}
	old, exists := t.state.seats.get(a.ID)
	err := t.free(a)
	switch {
	case err != nil:
	case exists:
		err = replaceable(t.state.sit(old), a)
	default:
		err = t.next(a)
	}
	if err != nil {
		return fmt.Errorf("put attempt %s: %w", a.ID, err)
	}
	t.state.putAttempt(a)
	t.touch(a.TaskID)
	return nil
}

// free reports whether another attempt has the token, or one of another task the session.
func (t *tx) free(a core.Attempt) error {
	if in, ok := t.state.tokens.get(a.Token()); ok && t.state.sit(in).ID != a.ID {
		return errors.New("its token is that of another attempt")
	}
	if in, ok := t.state.sessions.get(a.Session()); ok && in.last().value.taskID != a.TaskID {
		return errors.New("its session is that of another task")
	}
	return nil
}

// replaceable reports why the one value cannot take the place of the other, or nil.
func replaceable(old, a core.Attempt) error {
	if old.TaskID != a.TaskID || old.Number != a.Number || old.Cause != a.Cause || old.CreatedAt != a.CreatedAt {
		return errors.New("its task, number, cause and creation cannot be replaced")
	}
	old.Stale = a.Stale
	if old.Finished() && old != a {
		return errors.New("it is finished")
	}
	return nil
}

// next reports why the attempt cannot be the next one of its task, or nil.
func (t *tx) next(a core.Attempt) error {
	task, ok := t.state.task(a.TaskID)
	switch newest := task.Current; {
	case !ok:
		return fmt.Errorf("there is no task %q", a.TaskID)
	case newest.Number > 0 && !newest.Finished():
		return fmt.Errorf("attempt %s is not finished", newest.ID)
	case a.Number != newest.Number+1:
		return fmt.Errorf("number %d does not follow %d", a.Number, newest.Number)
	}
	return nil
}

// putAttempt puts an attempt that is permitted.
func (s *tasks) putAttempt(a core.Attempt) {
	in := seat{a.TaskID, a.Number}
	if old := s.sit(in); old.Number > 0 {
		s.tokens = s.tokens.remove(old.Token())
		s.leaveSession(old)
		s.running = s.running.remove(old.ID)
	}
	of, _ := s.attempts.get(a.TaskID)
	s.attempts = s.attempts.put(a.TaskID, of.put(a.Number, a))
	s.seats = s.seats.put(a.ID, in)
	if a.Token() != "" {
		s.tokens = s.tokens.put(a.Token(), in)
	}
	if session := a.Session(); session != "" {
		carried, _ := s.sessions.get(session)
		s.sessions = s.sessions.put(session, carried.put(a.Number, in))
	}
	if _, running := a.Phase.(core.Running); running {
		s.running = s.running.put(a.ID, in)
	}
}

// leaveSession forgets that the attempt runs or ran in its session.
func (s *tasks) leaveSession(a core.Attempt) {
	carried, _ := s.sessions.get(a.Session())
	if carried = carried.remove(a.Number); carried == nil {
		s.sessions = s.sessions.remove(a.Session())
	} else {
		s.sessions = s.sessions.put(a.Session(), carried)
	}
}

func (t *tx) Attempts(taskID string, after, limit int) ([]core.Attempt, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	of, _ := t.state.attempts.get(taskID)
	var page []core.Attempt
	for _, a := range of.after(after) {
		if len(page) >= limit {
			break
		}
		page = append(page, a)
	}
	return page, nil
}

func (t *tx) Leased(after core.Instant, limit int) ([]core.Attempt, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	var page []core.Attempt
	for _, in := range t.state.running.all() { // by id, which a stable sort keeps
		if a := t.state.sit(in); leaseEnd(a) > after {
			page = append(page, a)
		}
	}
	slices.SortStableFunc(page, func(a, b core.Attempt) int { return cmp.Compare(leaseEnd(a), leaseEnd(b)) })
	return page[:min(max(limit, 0), len(page))], nil
}

func leaseEnd(a core.Attempt) core.Instant { return a.Phase.(core.Running).Lease.ExpiresAt }

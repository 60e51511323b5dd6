package memory

import (
	"fmt"

	"waybill/core"
	"waybill/store"
)

func (t *tx) AddReply(r store.Reply) error {
	if err := t.putting(); err != nil {
		return err
	}
	if _, ok := t.state.taskPositions.get(r.TaskID); !ok {
		return fmt.Errorf("add reply %d: there is no task %q", r.Number, r.TaskID)
	}
	given, _ := t.state.replies.get(r.TaskID)
	if r.Number != given.count()+1 {
		return fmt.Errorf("add reply %d to task %s: the next one is %d", r.Number, r.TaskID, given.count()+1)
	}
	t.state.replies = t.state.replies.put(r.TaskID, given.put(r.Number, r))
	t.writes++
	return nil
}

func (t *tx) Replies(taskID string, after, limit int) ([]store.Reply, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	given, _ := t.state.replies.get(taskID)
	var page []store.Reply
	for _, r := range given.after(after) {
		if len(page) >= limit {
			break
		}
		page = append(page, r)
	}
	return page, nil
}

func (t *tx) Breaker(key string) (b core.Breaker, ok bool, err error) {
	if err := t.getting(); err != nil {
		return b, false, err
	}
	b, ok = t.state.breakers.get(key)
	return b, ok, nil
}

func (t *tx) PutBreaker(b core.Breaker) error {
	if err := t.putting(); err != nil {
		return err
	}
	t.state.breakers = t.state.breakers.put(b.Key, b)
	t.writes++
	return nil
}

func (t *tx) OpenedBreakers() ([]core.Breaker, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	var opened []core.Breaker
	for _, b := range t.state.breakers.all() {
		if b.Opened > 0 {
			opened = append(opened, b)
		}
	}
	return opened, nil
}

func (t *tx) Breakers(after string, limit int) ([]core.Breaker, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	return pageOf(t.state.breakers, after, limit), nil
}

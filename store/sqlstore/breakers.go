package sqlstore

import (
	"waybill/core/task"
)

// Breaker returns a damaged breaker as absent, and lists omit it. A breaker only remembers failures, and no task must
// wait for ever because of one.
func (t breakerRecords) Breaker(key string) (b task.Breaker, ok bool, err error) {
	err = t.get(func() error {
		found, err := sound(t.Tx, &breakerRows, " AND key = ?", key)
		if ok = len(found) > 0; ok {
			b = found[0]
		}
		return err
	})
	return b, ok, err
}

func (t breakerRecords) OpenedBreakers() (opened []task.Breaker, err error) {
	err = t.get(func() error {
		opened, err = sound(t.Tx, &breakerRows, " AND opened > 0 ORDER BY key")
		return err
	})
	return opened, err
}

func (t breakerRecords) Breakers(after string, limit int) ([]task.Breaker, error) {
	return listed(t.Tx, limit, breakerRows.take, breakerRows.selecting()+" AND key > ? ORDER BY key", after)
}

func (t breakerRecords) PutBreaker(b task.Breaker) error {
	return t.put(func() error {
		text, args := breakerRows.replace(b, "key")
		err := t.run(text, args)
		if err == nil {
			t.writes++
		}
		return err
	})
}

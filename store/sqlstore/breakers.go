package sqlstore

import (
	"waybill/core"
	"waybill/core/task"
)

var (
	breakerNames   = []string{"key", "failures", "opened", "until", "probe", "probed_at"}
	breakerColumns = text{Of: func() string { return qualified("breakers", breakerNames) }}
	selectBreakers = text{Of: func() string {
		return "SELECT " + breakerColumns.Get() + " FROM breakers WHERE breakers.workspace = :w"
	}}
	putBreaker = text{Of: func() string { return replacing("breakers", 1, breakerNames) }}
)

func breakerRow(b task.Breaker) []any {
	return []any{b.Key, int64(b.Failures), int64(b.Opened), int64(b.Until), b.Probe, int64(b.ProbedAt)}
}

// takeBreaker takes breakerColumns and checks them against their sum.
func takeBreaker(r *Row, buf *encoder) (b task.Breaker, err error) {
	sound := r.sound(kindBreaker, len(breakerNames), buf)
	b = task.Breaker{
		Key: r.Text(), Failures: int(r.Integer()), Opened: int(r.Integer()), Until: core.Instant(r.Integer()),
		Probe: r.Text(), ProbedAt: core.Instant(r.Integer()),
	}
	if !sound || r.err != nil {
		return b, Damaged("the breaker of model " + b.Key)
	}
	return b, nil
}

// Breaker returns a damaged breaker as absent, and lists omit it. A breaker only remembers failures, and no task must
// wait for ever because of one.
func (t *Tx) Breaker(key string) (b task.Breaker, ok bool, err error) {
	err = t.get(func() error {
		found, err := t.breakers(" AND key = ?", key)
		if ok = len(found) > 0; ok {
			b = found[0]
		}
		return err
	})
	return b, ok, err
}

func (t *Tx) OpenedBreakers() (opened []task.Breaker, err error) {
	err = t.get(func() error {
		opened, err = t.breakers(" AND opened > 0 ORDER BY key")
		return err
	})
	return opened, err
}

func (t *Tx) Breakers(after string, limit int) ([]task.Breaker, error) {
	return listed(t, limit, func(r *Row) (task.Breaker, error) { return takeBreaker(r, &t.buf) },
		selectBreakers.Get()+" AND key > ? ORDER BY key", after)
}

func (t *Tx) breakers(more string, args ...any) (found []task.Breaker, err error) {
	err = t.c.Query(func(r *Row) error {
		b, err := takeBreaker(r, &t.buf)
		if err != nil {
			return t.leaveOut(err)
		}
		found = append(found, b)
		return nil
	}, selectBreakers.Get()+more, args...)
	return found, err
}

func (t *Tx) PutBreaker(b task.Breaker) error {
	return t.put(func() error {
		_, err := t.c.Exec(putBreaker.Get(), t.summed(kindBreaker, breakerRow(b))...)
		if err == nil {
			t.writes++
		}
		return err
	})
}

package sqlite

import "waybill/core"

var (
	breakerNames   = []string{"key", "failures", "opened", "until", "probe", "probed_at"}
	breakerColumns = qualified("breakers", breakerNames)
	selectBreakers = "SELECT " + breakerColumns + " FROM breakers"
	putBreaker     = replacing("breakers", breakerNames)
)

func breakerRow(b core.Breaker) []any {
	return []any{b.Key, int64(b.Failures), int64(b.Opened), int64(b.Until), b.Probe, int64(b.ProbedAt)}
}

// takeBreaker takes breakerColumns and checks them against their sum.
func takeBreaker(r *row, buf *encoder) (b core.Breaker, err error) {
	sound := r.sound(kindBreaker, len(breakerNames), buf)
	b = core.Breaker{
		Key: r.text(), Failures: int(r.integer()), Opened: int(r.integer()), Until: core.Instant(r.integer()),
		Probe: r.text(), ProbedAt: core.Instant(r.integer()),
	}
	if !sound || r.err != nil {
		return b, damaged("the breaker of model " + b.Key)
	}
	return b, nil
}

// Breaker gives a breaker that is not what was written as one that was never put, and so do lists leave it
// out: it is no more than a memory of failures, and nobody is to wait for ever because of it.
func (t *tx) Breaker(key string) (b core.Breaker, ok bool, err error) {
	err = t.get(func() error {
		found, err := t.breakers(" WHERE key = ?", key)
		if ok = len(found) > 0; ok {
			b = found[0]
		}
		return err
	})
	return b, ok, err
}

func (t *tx) OpenedBreakers() (opened []core.Breaker, err error) {
	err = t.get(func() error {
		opened, err = t.breakers(" WHERE opened > 0 ORDER BY key")
		return err
	})
	return opened, err
}

func (t *tx) breakers(where string, args ...any) (found []core.Breaker, err error) {
	err = t.c.query(func(r *row) error {
		b, err := takeBreaker(r, &t.buf)
		if err != nil {
			return t.leaveOut(err)
		}
		found = append(found, b)
		return nil
	}, selectBreakers+where, args...)
	return found, err
}

func (t *tx) PutBreaker(b core.Breaker) error {
	return t.put(func() error {
		_, err := t.c.exec(putBreaker, t.summed(kindBreaker, breakerRow(b))...)
		if err == nil {
			t.writes++
		}
		return err
	})
}

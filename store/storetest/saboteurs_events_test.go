package storetest_test

import (
	"context"
	"strings"
	"sync/atomic"

	"waybill/core"
	"waybill/store"
)

func eventSaboteurs() map[string]sabotage {
	return map[string]sabotage{
		"numbers have no gaps, whatever fails": updates(func(s store.Store) do {
			return func(ctx context.Context, fn func(store.Tx) error) error {
				err := s.Update(ctx, fn)
				if err != nil { // the number is burnt
					_ = s.Update(ctx, func(tx store.Tx) error { _, err := tx.Append(store.Event{Subject: "a"}); return err })
				}
				return err
			}
		}),
		"numbers follow the order of commits": func(s store.Store) store.Store {
			var next atomic.Int64
			return txs(func(tx store.Tx) store.Tx { return &ownNumbers{tx, &next} })(s)
		},
		"who reads on skips no number that another handle commits": txs(func(tx store.Tx) store.Tx {
			return &records{Tx: tx, change: func(evs []store.Event) []store.Event {
				if len(evs) > 0 && evs[0].Seq == 1 { // is seen when it is too late
					return evs[1:]
				}
				return evs
			}}
		}),
		"time runs forwards in the log": func(s store.Store) store.Store {
			times := make(map[int64]core.Instant)
			return txs(func(tx store.Tx) store.Tx { return rawTimes{tx, times} })(s)
		},
		"records are chained": txs(func(tx store.Tx) store.Tx {
			return &records{Tx: tx, change: func(evs []store.Event) []store.Event {
				if len(evs) > 1 {
					evs[1].Data += " "
				}
				return evs
			}}
		}),
		"records come back as they were appended": txs(func(tx store.Tx) store.Tx {
			return &records{Tx: tx, change: func(evs []store.Event) []store.Event {
				for i := range evs {
					evs[i].Subject = strings.TrimPrefix(evs[i].Subject, "about ")
				}
				return evs
			}}
		}),
		"events are paged and picked by type": txs(func(tx store.Tx) store.Tx { return untyped{tx} }),
		"events of a subject are paged":       txs(func(tx store.Tx) store.Tx { return subjectless{tx} }),
		"a log ends with its newest record":   txs(func(tx store.Tx) store.Tx { return endless{tx} }),
		"an empty log has bounds":             txs(func(tx store.Tx) store.Tx { return zeroBounds{tx} }),
		"a number is found by its time":       txs(func(tx store.Tx) store.Tx { return atOrBefore{tx} }),
	}
}

// ownNumbers gives numbers that are counted down.
type ownNumbers struct {
	store.Tx
	next *atomic.Int64
}

func (o *ownNumbers) Append(ev store.Event) (int64, error) {
	_, err := o.Tx.Append(ev)
	return 1_000_000 - o.next.Add(1), err
}

type rawTimes struct {
	store.Tx
	times map[int64]core.Instant
}

func (r rawTimes) Append(ev store.Event) (int64, error) {
	seq, err := r.Tx.Append(ev)
	r.times[seq] = ev.At
	return seq, err
}

func (r rawTimes) Events(after int64, limit int, types []core.EventType) ([]store.Event, error) {
	evs, err := r.Tx.Events(after, limit, types)
	for i := range evs {
		evs[i].At = r.times[evs[i].Seq]
	}
	return evs, err
}

type records struct {
	store.Tx
	change func([]store.Event) []store.Event
}

func (r *records) Events(after int64, limit int, types []core.EventType) ([]store.Event, error) {
	evs, err := r.Tx.Events(after, limit, types)
	return r.change(evs), err
}

type untyped struct{ store.Tx }

func (u untyped) Events(after int64, limit int, _ []core.EventType) ([]store.Event, error) {
	return u.Tx.Events(after, limit, nil)
}

type subjectless struct{ store.Tx }

func (s subjectless) EventsOf(_ string, after int64, limit int) ([]store.Event, error) {
	return s.Events(after, limit, nil)
}

type zeroBounds struct{ store.Tx }

func (z zeroBounds) Bounds() (int64, int64, error) {
	_, newest, err := z.Tx.Bounds()
	return 0, newest, err
}

type atOrBefore struct{ store.Tx }

func (a atOrBefore) SeqBefore(at core.Instant) (int64, error) { return a.Tx.SeqBefore(at + 1) }

// endless gives no hash for the end of a log.
type endless struct{ store.Tx }

func (e endless) Tip() (store.Point, error) {
	p, err := e.Tx.Tip()
	return store.Point{Seq: p.Seq}, err
}

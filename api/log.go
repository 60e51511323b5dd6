package api

import (
	"context"
	"slices"
	"strconv"

	"waybill/core"
	"waybill/engine"
	"waybill/schema"
	"waybill/store"
)

func (s *Service) eventsSince(ctx context.Context, p *schema.EventsSinceParams) (*schema.EventList, error) {
	e, _, err := s.backend()
	if err != nil {
		return nil, err
	}
	types, err := eventTypes(p.Types)
	if err != nil {
		return nil, err
	}
	limit := or(p.Limit, schema.DefaultPage)
	var events []store.Event
	var tip store.Point
	if err := e.View(ctx, func(tx store.Tx) error {
		after, known, err := position(tx, p.Cursor)
		if err == nil {
			tip, err = tx.Tip()
		}
		if err == nil && !known {
			err = cursorGone(tx, tip)
		}
		if err != nil {
			return err
		}
		events, err = tx.Events(after, limit+1, types)
		return err
	}); err != nil {
		return nil, err
	}
	return eventPage(events, limit, tip), nil
}

// cursorGone says that a cursor leads nowhere, and from where to go on.
func cursorGone(tx store.Tx, tip store.Point) error {
	root, err := tx.Root()
	if err != nil {
		return err
	}
	return schema.NewError(schema.CursorGone, "the log does not reach to this cursor, or not any more, or another log took its place; "+
		"read the lists anew and go on from details.newest, or from details.oldest with all that the log has").
		With("oldest", cursorOf(store.Point{Seq: root.Seq, Hash: root.Hash})).
		With("newest", cursorOf(tip))
}

// eventPage cuts a page off. A page that holds all there is moves the cursor to the newest event,
// also past those of other types.
func eventPage(events []store.Event, limit int, tip store.Point) *schema.EventList {
	list := &schema.EventList{Events: []schema.Event{}, Cursor: cursorOf(tip)}
	size := 0
	for i, ev := range events {
		size += len(ev.Data)
		if i == limit || (i > 0 && size > pageBytes) {
			list.More, list.Cursor = true, cursorOf(store.Point{Seq: events[i-1].Seq, Hash: events[i-1].Hash})
			break
		}
		list.Events = append(list.Events, wireEvent(ev))
	}
	return list
}

func eventTypes(names []string) ([]core.EventType, error) {
	known := core.EventTypes()
	types := make([]core.EventType, 0, len(names))
	for i, name := range names {
		if !slices.Contains(known, core.EventType(name)) {
			return nil, badParam("/types/"+strconv.Itoa(i), "a type of event", name).
				With("known", known)
		}
		types = append(types, core.EventType(name))
	}
	return types, nil
}

func (s *Service) listNotices(ctx context.Context, p *schema.ListNoticesParams) (*schema.NoticeList, error) {
	e, _, err := s.backend()
	if err != nil {
		return nil, err
	}
	after, err := pageAfter(p.Page)
	if err != nil {
		return nil, err
	}
	limit := or(p.Limit, schema.DefaultPage)
	var found []store.Notice
	if err := e.View(ctx, func(tx store.Tx) error {
		found, err = tx.Notices(p.SessionID, after, limit+1)
		return err
	}); err != nil {
		return nil, err
	}
	list := &schema.NoticeList{}
	if len(found) > limit {
		found = found[:limit]
		list.NextCursor = strconv.FormatInt(found[limit-1].Position, 10)
	}
	if !p.Peek {
		delivered(e, found)
	}
	list.Items = mapped(found, func(n store.Notice) schema.Notice {
		if !p.Peek {
			n.Deliveries++ // this one
		}
		return wireNotice(n)
	})
	return list, nil
}

// delivered counts in the background that notices were handed out: nobody waits for a tally.
func delivered(e *engine.Engine, notices []store.Notice) {
	if len(notices) == 0 {
		return
	}
	ids := mapped(notices, func(n store.Notice) string { return n.ID })
	e.Submit(context.Background(), engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		return nil, tx.Delivered(ids)
	}}, func(any, error) {})
}

func (s *Service) consumeNotices(_ context.Context, p *schema.ConsumeNoticesParams) (*work[schema.ConsumeNoticesResult], error) {
	if len(p.NoticeIDs) > schema.MaxPage {
		return nil, badParam("/notice_ids", "a list of at most 500 ids", len(p.NoticeIDs))
	}
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.ConsumeNoticesResult, error) {
		consumed, err := tx.Consume(p.NoticeIDs)
		if err != nil {
			return nil, err
		}
		seq, err := tx.Seq()
		return &schema.ConsumeNoticesResult{Consumed: consumed, Seq: seq}, err
	}))
}

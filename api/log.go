package api

import (
	"context"
	"slices"
	"strconv"

	"waybill/api/entity"
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
		events, err = store.EventsAfter(tx, p.Subject, after, limit+1, types)
		return err
	}); err != nil {
		return nil, err
	}
	return eventPage(events, limit, tip), nil
}

// cursorGone returns the error for a cursor outside the log, with cursors to continue from.
func cursorGone(tx store.EventLog, tip store.Point) error {
	root, err := tx.Root()
	if err != nil {
		return err
	}
	return schema.NewError(schema.CursorGone, "the event log does not contain this cursor: its events were removed, or the log was replaced; "+
		"read the lists again and continue from details.newest, or from details.oldest for all events").
		With("oldest", cursorOf(store.Point{Seq: root.Seq, Hash: root.Hash})).
		With("newest", cursorOf(tip))
}

// eventPage returns a page of events. The last page moves the cursor to the newest event, past events of other types.
func eventPage(events []store.Event, limit int, tip store.Point) *schema.EventList {
	list := &schema.EventList{Events: []schema.Event{}, Cursor: cursorOf(tip)}
	size := 0
	for i, ev := range events {
		size += len(ev.Data)
		if i == limit || (i > 0 && size > pageBytes) {
			list.More, list.Cursor = true, cursorOf(store.Point{Seq: events[i-1].Seq, Hash: events[i-1].Hash})
			break
		}
		list.Events = append(list.Events, entity.Event(ev))
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
		countDelivered(e, found)
	}
	list.Items = entity.All(found, func(n store.Notice) schema.Notice {
		if !p.Peek {
			n.Deliveries++ // this delivery
		}
		return entity.Notice(n)
	})
	return list, nil
}

// countDelivered counts deliveries of notices in the background.
func countDelivered(e *engine.Engine, notices []store.Notice) {
	if len(notices) == 0 {
		return
	}
	ids := entity.All(notices, func(n store.Notice) string { return n.ID })
	e.Submit(context.Background(), engine.Change{Apply: func(tx *engine.Tx) (any, error) {
		return nil, tx.Delivered(ids)
	}}, func(any, error) {})
}

func (s *Service) consumeNotices(_ context.Context, p *schema.ConsumeNoticesParams) (*prepared[schema.ConsumeNoticesResult], error) {
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

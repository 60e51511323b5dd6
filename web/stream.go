package web

import (
	"bytes"
	"context"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"waybill/schema"
	"waybill/schema/codec"
)

const (
	// keepAliveTime is the longest silence of a stream.
	keepAliveTime = 15 * time.Second
	// maxBatch limits the bytes of one write to a stream.
	maxBatch = 256 << 10
)

// streamParams are the params of the query of a stream.
type streamParams struct {
	Cursor string `json:"cursor,omitzero"`
}

// An eventStream is one stream of events. It has no queue: it reads the records of the logTail, or the log itself while
// it is too far behind for that. A stream that falls behind again ends.
type eventStream struct {
	s    *server
	v    *request
	tail *logTail
	out  *http.ResponseController

	started  bool   // the answer has begun
	caughtUp bool   // has reached the end of the log
	seq      int64  // of the last written event
	cursor   string // after that event
}

// stream answers with the events from a cursor, or from now, until the client leaves or the server shuts down.
func (s *server) stream(req *request) {
	cursor, fault := startOf(req.r)
	if fault != nil {
		req.refuse(encodable(fault))
		return
	}
	t := s.streams.join()
	if t == nil {
		req.refuse(overloaded(strconv.Itoa(maxStreams) + " streams are open"))
		return
	}
	defer s.streams.leave()
	req.clearReadDeadline()
	e := &eventStream{s: s, v: req, tail: t, out: http.NewResponseController(req.w)}
	fault = e.run(req.r.Context(), cursor)
	switch {
	case fault == nil: // the client is gone
	case e.started:
		e.end(fault)
	default:
		req.refuse(encodable(fault))
	}
}

// startOf returns the cursor from which a stream starts, or "" for now.
func startOf(r *http.Request) (string, *schema.Error) {
	params, fault := paramsOfQuery(reflect.TypeFor[streamParams](), object{}, nil, r.URL.RawQuery)
	var p streamParams
	if fault == nil {
		fault = codec.Decode(params, &p)
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" { // a reconnecting client continues there
		p.Cursor = last
	}
	return p.Cursor, fault
}

// run writes events until the client is gone. It returns the reason if the stream ends otherwise.
func (e *eventStream) run(ctx context.Context, cursor string) *schema.Error {
	if cursor != "" {
		if fault, gone := e.catchUp(ctx, cursor); fault != nil || gone {
			return fault
		}
	}
	select {
	case <-e.tail.ready:
	case <-e.s.shutdown:
		return shuttingDown()
	case <-ctx.Done():
		return nil
	}
	if !e.started {
		e.seq, e.cursor = e.tail.newest()
		if fault := e.tail.cause(); fault != nil {
			return fault
		}
		if !e.start() {
			return nil
		}
	}
	return e.keepUp(ctx)
}

// catchUp writes the events of the log after a cursor, page by page.
func (e *eventStream) catchUp(ctx context.Context, cursor string) (fault *schema.Error, gone bool) {
	for {
		page, fault := e.s.calls.events(ctx, cursor)
		if fault != nil || ctx.Err() != nil {
			return fault, ctx.Err() != nil
		}
		records, last := recordsOf(page)
		if !e.started {
			e.seq, e.cursor = last, page.Cursor
			if len(records) > 0 {
				e.seq = records[0].seq - 1
				e.cursor = cursorBefore(records[0].seq, cursor)
			}
			if !e.start() {
				return nil, true
			}
		}
		if !e.write(records) {
			return nil, true
		}
		e.seq, e.cursor = last, page.Cursor
		if cursor = page.Cursor; !page.More {
			return nil, false
		}
		select {
		case <-e.s.shutdown:
			return shuttingDown(), false
		default:
		}
	}
}

// cursorBefore returns a cursor that points before an event.
func cursorBefore(seq int64, cursor string) string {
	number := strconv.FormatInt(seq-1, 10)
	if strings.HasPrefix(cursor, number+".") {
		return cursor
	}
	return number
}

// keepUp writes new events.
func (e *eventStream) keepUp(ctx context.Context) *schema.Error {
	alive := time.NewTicker(keepAliveTime)
	defer alive.Stop()
	inbox, stop := e.s.watchInbox()
	defer stop()
	for {
		records, moved, missed, fault := e.tail.after(e.seq)
		switch {
		case missed && e.caughtUp:
			return tooSlow()
		case missed:
			if fault, gone := e.catchUp(ctx, e.cursor); fault != nil || gone {
				return fault
			}
			continue
		case !e.write(records):
			return nil
		case len(records) == 0 && fault != nil:
			return fault
		}
		e.caughtUp = true
		if len(records) > 0 {
			alive.Reset(keepAliveTime)
			continue
		}
		select {
		case <-moved:
		case <-alive.C:
			if !e.writeBytes([]byte(": alive\n\n")) {
				return nil
			}
		case <-inbox:
			if !e.writeBytes([]byte("event: inbox\ndata: {}\n\n")) {
				return nil
			}
		case <-e.s.shutdown:
			return shuttingDown()
		case <-ctx.Done():
			return nil
		}
	}
}

// tooSlow returns the error for a client that reads more slowly than events occur.
func tooSlow() *schema.Error {
	return overloaded("the client did not read the events as fast as they came").
		Hint("connect again with Last-Event-ID: the log has everything")
}

// start begins the answer with the current cursor, so that a client can resume before the first event.
func (e *eventStream) start() bool {
	e.started = true
	e.v.w.Header().Set("Content-Type", "text/event-stream")
	e.v.w.Header().Set("X-Accel-Buffering", "no") // a proxy that holds events back would make the stream useless
	return e.writeBytes(append([]byte("retry: 1000\n"), frame(e.cursor, "ready", []byte(`{"cursor":"`+e.cursor+`"}`))...))
}

// end writes why the stream ends and the cursor to continue from.
func (e *eventStream) end(fault *schema.Error) {
	text, err := codec.Encode(struct {
		Cursor string        `json:"cursor"`
		Error  *schema.Error `json:"error"`
	}{e.cursor, encodable(fault)})
	if err != nil {
		panic(err) // encodable has replaced invalid text
	}
	e.writeBytes(frame(e.cursor, "end", text))
}

// write writes events and reports whether the client received them.
func (e *eventStream) write(records []record) bool {
	var batch bytes.Buffer
	for i, r := range records {
		batch.Write(r.text)
		if batch.Len() < maxBatch && i < len(records)-1 {
			continue
		}
		if !e.writeBytes(batch.Bytes()) {
			return false
		}
		batch.Reset()
		e.seq, e.cursor = r.seq, r.cursor
	}
	return true
}

// writeBytes writes bytes and reports whether the client received them.
func (e *eventStream) writeBytes(text []byte) bool {
	if e.out.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil {
		return false
	}
	if _, err := e.v.w.Write(text); err != nil {
		return false
	}
	return e.out.Flush() == nil
}

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
)

const (
	// aliveTime is how long a stream may be silent.
	aliveTime = 15 * time.Second
	// maxBatch bounds what is written to a stream at once.
	maxBatch = 256 << 10
)

// streamParams are what the query of a stream may say.
type streamParams struct {
	Cursor string `json:"cursor,omitzero"`
}

// A follower is one stream. It has no queue: it takes what the tail has kept, or reads the log by itself as long as
// that is behind what is kept. Once it has caught up, it has to keep up.
type follower struct {
	s    *server
	v    *visit
	tail *tail
	out  *http.ResponseController

	begun  bool   // the answer has begun
	live   bool   // it had caught up
	seq    int64  // of the last event that was written
	cursor string // that points behind it
}

// stream answers with the events of the log from a cursor on, or from now on, until somebody leaves.
func (s *server) stream(v *visit) {
	cursor, fault := startOf(v.r)
	if fault != nil {
		v.refuse(fit(fault))
		return
	}
	t := s.join()
	if t == nil {
		v.refuse(overloaded(strconv.Itoa(maxStreams) + " streams are open"))
		return
	}
	defer s.part()
	v.patient()
	f := &follower{s: s, v: v, tail: t, out: http.NewResponseController(v.w)}
	fault = f.run(v.r.Context(), cursor)
	switch {
	case fault == nil: // the client is gone
	case f.begun:
		f.end(fault)
	default:
		v.refuse(fit(fault))
	}
}

// startOf gives the cursor that a stream begins behind, "" for now.
func startOf(r *http.Request) (string, *schema.Error) {
	params, fault := queried(reflect.TypeFor[streamParams](), object{}, nil, r.URL.RawQuery)
	var p streamParams
	if fault == nil {
		fault = schema.Decode(params, &p)
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" { // a stream that was broken off goes on where it was
		p.Cursor = last
	}
	return p.Cursor, fault
}

// run writes events until the client is gone, or there is another reason, which it gives.
func (f *follower) run(ctx context.Context, cursor string) *schema.Error {
	if cursor != "" {
		if fault, gone := f.catchUp(ctx, cursor); fault != nil || gone {
			return fault
		}
	}
	select {
	case <-f.tail.ready:
	case <-f.s.leaving:
		return leaving()
	case <-ctx.Done():
		return nil
	}
	if !f.begun {
		f.seq, f.cursor = f.tail.newest()
		if fault := f.tail.cause(); fault != nil {
			return fault
		}
		if !f.begin() {
			return nil
		}
	}
	return f.keepUp(ctx)
}

// catchUp writes what is in the log behind a cursor, page by page.
func (f *follower) catchUp(ctx context.Context, cursor string) (fault *schema.Error, gone bool) {
	for {
		page, fault := f.s.events(ctx, cursor)
		if fault != nil || ctx.Err() != nil {
			return fault, ctx.Err() != nil
		}
		records, last := recordsOf(page)
		if !f.begun {
			f.seq, f.cursor = last, page.Cursor
			if len(records) > 0 {
				f.seq = records[0].seq - 1
				f.cursor = before(records[0].seq, cursor)
			}
			if !f.begin() {
				return nil, true
			}
		}
		if !f.write(records) {
			return nil, true
		}
		f.seq, f.cursor = last, page.Cursor
		if cursor = page.Cursor; !page.More {
			return nil, false
		}
		select {
		case <-f.s.leaving:
			return leaving(), false
		default:
		}
	}
}

// before gives the cursor before an event: the one that led there, unless that is a moment.
func before(seq int64, cursor string) string {
	number := strconv.FormatInt(seq-1, 10)
	if strings.HasPrefix(cursor, number+".") {
		return cursor
	}
	return number
}

// keepUp writes what happens.
func (f *follower) keepUp(ctx context.Context) *schema.Error {
	alive := time.NewTicker(aliveTime)
	defer alive.Stop()
	for {
		records, moved, missed, fault := f.tail.behind(f.seq)
		switch {
		case missed && f.live:
			return slow()
		case missed:
			if fault, gone := f.catchUp(ctx, f.cursor); fault != nil || gone {
				return fault
			}
			continue
		case !f.write(records):
			return nil
		case len(records) == 0 && fault != nil:
			return fault
		}
		f.live = true
		if len(records) > 0 {
			alive.Reset(aliveTime)
			continue
		}
		select {
		case <-moved:
		case <-alive.C:
			if !f.put([]byte(": alive\n\n")) {
				return nil
			}
		case <-f.s.leaving:
			return leaving()
		case <-ctx.Done():
			return nil
		}
	}
}

// slow ends a stream whose client reads more slowly than things happen.
func slow() *schema.Error {
	return overloaded("the client did not read the events as fast as they came").
		Hint("connect again with Last-Event-ID: the log has everything")
}

// begin begins the answer, and says where the stream is, so that it can be resumed before anything has happened.
func (f *follower) begin() bool {
	f.begun = true
	f.v.w.Header().Set("Content-Type", "text/event-stream")
	f.v.w.Header().Set("X-Accel-Buffering", "no") // a proxy that holds events back would make the stream useless
	return f.put(append([]byte("retry: 1000\n"), frame(f.cursor, "ready", []byte(`{"cursor":"`+f.cursor+`"}`))...))
}

// end says why the stream ends, and where to go on.
func (f *follower) end(fault *schema.Error) {
	text, err := schema.Encode(struct {
		Cursor string        `json:"cursor"`
		Error  *schema.Error `json:"error"`
	}{f.cursor, fit(fault)})
	if err != nil {
		panic(err) // fit made it fit
	}
	f.put(frame(f.cursor, "end", text))
}

// write writes events, and reports whether the client takes them.
func (f *follower) write(records []record) bool {
	var batch bytes.Buffer
	for i, r := range records {
		batch.Write(r.text)
		if batch.Len() < maxBatch && i < len(records)-1 {
			continue
		}
		if !f.put(batch.Bytes()) {
			return false
		}
		batch.Reset()
		f.seq, f.cursor = r.seq, r.cursor
	}
	return true
}

// put writes some bytes, and reports whether the client takes them.
func (f *follower) put(text []byte) bool {
	if f.out.SetWriteDeadline(time.Now().Add(writeTime)) != nil {
		return false
	}
	if _, err := f.v.w.Write(text); err != nil {
		return false
	}
	return f.out.Flush() == nil
}

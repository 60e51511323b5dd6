package web

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"waybill/api"
	"waybill/schema"
)

const (
	// maxStreams is how many streams there may be; the other connections are for calls.
	maxStreams = maxConnections / 2
	// maxKept and maxKeptBytes bound the events that are kept for the streams.
	maxKept      = 1024
	maxKeptBytes = 1 << 20
	// againTime is when a log that could not be read is tried again.
	againTime = time.Second
)

// The streams know who reads the log for them.
type streams struct {
	mu   sync.Mutex // guards what follows
	open int        // streams
	tail *tail      // nil when there are none
}

// A tail is the one reader of the event log for all streams: it keeps the last events, as they are sent. It never
// waits for a stream; those that come too late find that what they want is not kept any more.
type tail struct {
	ready chan struct{} // closed when last is known, or there is a fault
	stop  context.CancelFunc

	mu    sync.Mutex    // guards what follows
	moved chan struct{} // closed, and replaced by another, when something below changed
	first int64         // the seq before the oldest event that is kept
	last  int64         // the seq of the newest event
	end   string        // the cursor behind it
	kept  []record      // of first+1 to last; readers have parts of it, so it is never written over
	bytes int           // of what is kept
	fault *schema.Error // why it reads no more
}

// A record is one event as it is sent.
type record struct {
	seq    int64
	cursor string // that points behind it
	text   []byte
}

// join gives the tail to a stream, and begins to read if it is the first. Without room, it gives nil. The caller
// calls part.
func (s *server) join() *tail {
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	if s.streams.open == maxStreams {
		return nil
	}
	s.streams.open++
	if s.streams.tail == nil || s.streams.tail.cause() != nil {
		ctx, stop := context.WithCancel(s.work)
		t := &tail{ready: make(chan struct{}), moved: make(chan struct{}), stop: stop}
		s.inHand.Go(func() { s.follow(ctx, t) }) // ends with the last stream
		s.streams.tail = t
	}
	return s.streams.tail
}

// part takes a stream out, and stops reading if it was the last.
func (s *server) part() {
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	s.streams.open--
	if s.streams.open == 0 && s.streams.tail != nil {
		s.streams.tail.stop()
		s.streams.tail = nil
	}
}

// follow reads the log from now on, until ctx ends or it cannot be read.
func (s *server) follow(ctx context.Context, t *tail) {
	defer t.stop()
	wake, stop, err := s.o.Subscribe()
	if err != nil {
		t.fail(api.Fault(err))
		return
	}
	defer stop()
	cursor, fault := s.newest(ctx)
	for ctx.Err() == nil {
		var page *schema.EventList
		if fault == nil {
			page, fault = s.events(ctx, cursor)
		}
		switch {
		case fault == nil:
			t.add(page)
			cursor = page.Cursor
			if !page.More {
				rest(ctx, wake, nil)
			}
		case !fault.Data.Retryable:
			t.fail(fault)
			return
		default:
			again := time.NewTimer(againTime)
			rest(ctx, nil, again.C)
			again.Stop()
			fault = nil
			if cursor == "" {
				cursor, fault = s.newest(ctx)
			}
		}
	}
	t.fail(leaving())
}

// rest waits for one of them.
func rest(ctx context.Context, wake <-chan struct{}, again <-chan time.Time) {
	select {
	case <-ctx.Done():
	case <-wake:
	case <-again:
	}
}

// newest gives a cursor that points to now.
func (s *server) newest(ctx context.Context) (string, *schema.Error) {
	result, fault := s.ask(ctx, "initialize", []byte("{}"))
	if fault != nil {
		return "", fault
	}
	return result.(*schema.InitializeResult).Cursor, nil
}

// events reads a page of the log.
func (s *server) events(ctx context.Context, cursor string) (*schema.EventList, *schema.Error) {
	limit := schema.MaxPage
	params, err := schema.Encode(schema.EventsSinceParams{Cursor: cursor, Limit: &limit})
	if err != nil {
		return nil, schema.NewError(schema.InvalidUTF8, "the cursor is not valid UTF-8")
	}
	result, fault := s.ask(ctx, "events_since", params)
	if fault != nil {
		return nil, fault
	}
	return result.(*schema.EventList), nil
}

// ask carries a method out for the front door itself.
func (s *server) ask(ctx context.Context, method string, params []byte) (any, *schema.Error) {
	entry, ok := s.o.Table.Entry(method)
	if !ok {
		return nil, schema.NewError(schema.MethodNotFound, "there is no method "+method)
	}
	a := s.call(ctx, entry, params)
	return a.Result, a.Err
}

// add keeps a page. Of what is too much, the older half goes.
func (t *tail) add(page *schema.EventList) {
	records, last := recordsOf(page)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil {
		t.first = last
		if len(records) > 0 {
			t.first = records[0].seq - 1
		}
	}
	t.last, t.end = last, page.Cursor
	for _, r := range records {
		t.kept = append(t.kept, r)
		t.bytes += len(r.text)
		if len(t.kept) > maxKept || t.bytes > maxKeptBytes {
			t.halve()
		}
	}
	t.announce()
	if !page.More {
		t.settle()
	}
}

// halve forgets the older half; the caller holds mu.
func (t *tail) halve() {
	n := len(t.kept) / 2
	for _, r := range t.kept[:n] {
		t.bytes -= len(r.text)
		t.first = r.seq
	}
	t.kept = slices.Clone(t.kept[n:])
}

// announce wakes the streams; the caller holds mu.
func (t *tail) announce() {
	close(t.moved)
	t.moved = make(chan struct{})
}

// settle says that the tail knows where the log ends; the caller holds mu.
func (t *tail) settle() {
	select {
	case <-t.ready:
	default:
		close(t.ready)
	}
}

func (t *tail) fail(fault *schema.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fault = fault
	t.announce()
	t.settle()
}

// cause gives why the tail reads no more, or nil.
func (t *tail) cause() *schema.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.fault
}

// behind gives what is kept behind an event, and a channel that is closed when there is more. gone says that some
// of it is not kept any more.
func (t *tail) behind(seq int64) (records []record, moved <-chan struct{}, gone bool, fault *schema.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seq < t.first {
		return nil, t.moved, true, t.fault
	}
	i, _ := slices.BinarySearchFunc(t.kept, seq+1, func(r record, seq int64) int { return int(r.seq - seq) })
	return t.kept[i:len(t.kept):len(t.kept)], t.moved, false, t.fault
}

// newest gives the seq of the newest event, and the cursor behind it.
func (t *tail) newest() (int64, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, t.end
}

// recordsOf gives the events of a page as they are sent, and where the page ends. The cursor of the page tells its last
// event from others of that number; within a page, the number has to do.
func recordsOf(page *schema.EventList) (records []record, last int64) {
	if number, _, _ := strings.Cut(page.Cursor, "."); number != "" {
		last, _ = strconv.ParseInt(number, 10, 64)
	}
	for i := range page.Events {
		ev := &page.Events[i]
		text, err := schema.Encode(ev)
		if err != nil {
			text = []byte(`{"seq":` + strconv.FormatInt(ev.Seq, 10) + `}`) // a hint that events_since has one
		}
		cursor := strconv.FormatInt(ev.Seq, 10)
		if ev.Seq == last {
			cursor = page.Cursor
		}
		records = append(records, record{ev.Seq, cursor, frame(cursor, "", text)})
		last = max(last, ev.Seq)
	}
	return records, last
}

// frame gives an event of a stream. Without a name it is one of the log.
func frame(cursor, name string, data []byte) []byte {
	text := append(append([]byte("id: "), cursor...), '\n')
	if name != "" {
		text = append(append(append(text, "event: "...), name...), '\n')
	}
	return append(append(append(text, "data: "...), data...), "\n\n"...)
}

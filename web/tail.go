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
	"waybill/schema/codec"
)

const (
	// maxStreams limits the streams, so that connections are left for calls.
	maxStreams = maxConnections / 2
	// maxKept and maxKeptBytes limit the records of a logTail.
	maxKept      = 1024
	maxKeptBytes = 1 << 20
	// retryTime is the pause after a failed read of the log.
	retryTime = time.Second
)

// streams counts the open streams and holds their common logTail.
type streams struct {
	ctx       context.Context // of the logTail
	calls     caller
	subscribe func() (wake <-chan struct{}, stop func(), err error)
	readers   *sync.WaitGroup // counts the readers of the log

	mu   sync.Mutex // guards the fields below
	open int        // number of streams
	tail *logTail   // nil without streams
}

// count returns the number of open streams.
func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// A logTail reads the event log for all streams and keeps the last events in their encoded form. It never waits for a
// stream; a slow stream finds that its next event is dropped.
type logTail struct {
	ready chan struct{} // closed when last or fault is set
	stop  context.CancelFunc

	mu      sync.Mutex    // guards the fields below
	changed chan struct{} // closed and replaced when a field below has changed
	first   int64         // the seq before the oldest record
	last    int64         // the seq of the newest event
	cursor  string        // after the newest event
	records []record      // of first+1 to last; never overwritten, because streams share it
	bytes   int           // of records
	fault   *schema.Error // why the reading ended
}

// A record is one event in its encoded form.
type record struct {
	seq    int64
	cursor string // after the event
	text   []byte
}

// join returns the logTail for a new stream, and starts it for the first one. It returns nil if there are too many
// streams. The caller must call leave.
func (s *streams) join() *logTail {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == maxStreams {
		return nil
	}
	s.open++
	if s.tail == nil || s.tail.cause() != nil {
		ctx, stop := context.WithCancel(s.ctx)
		t := &logTail{ready: make(chan struct{}), changed: make(chan struct{}), stop: stop}
		s.readers.Go(func() { s.readLog(ctx, t) }) // ends with the last stream
		s.tail = t
	}
	return s.tail
}

// leave removes a stream, and stops the reading after the last one.
func (s *streams) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.open == 0 && s.tail != nil {
		s.tail.stop()
		s.tail = nil
	}
}

// readLog reads the log from now on until ctx ends or reading fails.
func (s *streams) readLog(ctx context.Context, t *logTail) {
	defer t.stop()
	wake, stop, err := s.subscribe()
	if err != nil {
		t.fail(api.Fault(err))
		return
	}
	defer stop()
	cursor, fault := s.calls.newest(ctx)
	for ctx.Err() == nil {
		var page *schema.EventList
		if fault == nil {
			page, fault = s.calls.events(ctx, cursor)
		}
		switch {
		case fault == nil:
			t.add(page)
			cursor = page.Cursor
			if !page.More {
				waitForChange(ctx, wake, nil)
			}
		case !fault.Data.Retryable:
			t.fail(fault)
			return
		default:
			again := time.NewTimer(retryTime)
			waitForChange(ctx, nil, again.C)
			again.Stop()
			fault = nil
			if cursor == "" {
				cursor, fault = s.calls.newest(ctx)
			}
		}
	}
	t.fail(shuttingDown())
}

// waitForChange blocks until ctx ends or one of the channels is ready.
func waitForChange(ctx context.Context, wake <-chan struct{}, again <-chan time.Time) {
	select {
	case <-ctx.Done():
	case <-wake:
	case <-again:
	}
}

// add appends a page. Beyond the limits it drops the older half of the records.
func (t *logTail) add(page *schema.EventList) {
	records, last := recordsOf(page)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.records == nil {
		t.first = last
		if len(records) > 0 {
			t.first = records[0].seq - 1
		}
	}
	t.last, t.cursor = last, page.Cursor
	for _, r := range records {
		t.records = append(t.records, r)
		t.bytes += len(r.text)
		if len(t.records) > maxKept || t.bytes > maxKeptBytes {
			t.dropOlderHalf()
		}
	}
	t.notify()
	if !page.More {
		t.markReady()
	}
}

// dropOlderHalf drops the older half of the records. The caller holds mu.
func (t *logTail) dropOlderHalf() {
	n := len(t.records) / 2
	for _, r := range t.records[:n] {
		t.bytes -= len(r.text)
		t.first = r.seq
	}
	t.records = slices.Clone(t.records[n:])
}

// notify wakes the streams. The caller holds mu.
func (t *logTail) notify() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// markReady closes ready. The caller holds mu.
func (t *logTail) markReady() {
	select {
	case <-t.ready:
	default:
		close(t.ready)
	}
}

func (t *logTail) fail(fault *schema.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fault = fault
	t.notify()
	t.markReady()
}

// cause returns why the reading ended, or nil.
func (t *logTail) cause() *schema.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.fault
}

// after returns the records after an event, and a channel that is closed when there are more. gone reports whether
// some of them were dropped.
func (t *logTail) after(seq int64) (records []record, moved <-chan struct{}, gone bool, fault *schema.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seq < t.first {
		return nil, t.changed, true, t.fault
	}
	i, _ := slices.BinarySearchFunc(t.records, seq+1, func(r record, seq int64) int { return int(r.seq - seq) })
	return t.records[i:len(t.records):len(t.records)], t.changed, false, t.fault
}

// newest returns the seq of the newest event and the cursor after it.
func (t *logTail) newest() (int64, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, t.cursor
}

// recordsOf returns the records of a page and the seq of its last event. The last event gets the cursor of the page;
// the others get their number.
func recordsOf(page *schema.EventList) (records []record, last int64) {
	if number, _, _ := strings.Cut(page.Cursor, "."); number != "" {
		last, _ = strconv.ParseInt(number, 10, 64)
	}
	for i := range page.Events {
		ev := &page.Events[i]
		text, err := codec.Encode(ev)
		if err != nil {
			text = []byte(`{"seq":` + strconv.FormatInt(ev.Seq, 10) + `}`) // the client can read the event with events_since
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

// frame returns an event of a stream. Events of the log have no name.
func frame(cursor, name string, data []byte) []byte {
	text := append(append([]byte("id: "), cursor...), '\n')
	if name != "" {
		text = append(append(append(text, "event: "...), name...), '\n')
	}
	return append(append(append(text, "data: "...), data...), "\n\n"...)
}

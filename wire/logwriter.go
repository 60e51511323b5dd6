package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// lastWriteTime is how long Run waits for the last write after its context ends.
const lastWriteTime = 100 * time.Millisecond

// logBytes limits the unwritten log.
const logBytes = 256 << 10

// A LogWriter lets a logger write to stderr, which may be closed or a pipe without a reader. Write never blocks and
// never fails: it drops and counts lines that do not fit, and a later line of the log reports their number.
type LogWriter struct {
	to      io.Writer
	wake    chan struct{} // holds a token if there is text to write; never closed
	dropped atomic.Int64

	mu         sync.Mutex // guards the fields below
	text       []byte
	unreported int64 // writes dropped since the last report in the log
}

// NewLogWriter returns a LogWriter. It writes nothing before Run is called.
func NewLogWriter(to io.Writer) *LogWriter {
	return &LogWriter{to: to, wake: make(chan struct{}, 1)}
}

// Write queues the text for Run. It always reports success. Any goroutine may call it.
func (l *LogWriter) Write(text []byte) (int, error) {
	l.mu.Lock()
	if len(l.text)+len(text) > logBytes {
		l.unreported++
		l.dropped.Add(1)
	} else {
		l.appendDropped()
		l.text = append(l.text, text...)
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return len(text), nil
}

// appendDropped appends a line with the number of dropped writes, if there are any. The caller holds mu.
func (l *LogWriter) appendDropped() {
	if l.unreported > 0 {
		l.text = fmt.Appendf(l.text, "level=WARN msg=\"log lines were dropped here\" dropped=%d\n", l.unreported)
		l.unreported = 0
	}
}

// Dropped returns the number of dropped writes.
func (l *LogWriter) Dropped() int64 { return l.dropped.Load() }

// Run writes the queued text until ctx ends, and then the rest within lastWriteTime. It abandons a write that blocks
// longer.
func (l *LogWriter) Run(ctx context.Context) error {
	ended := make(chan struct{})
	go func() { // ends after ctx, unless a write blocks
		defer close(ended)
		l.copy(ctx)
	}()
	<-ctx.Done()
	timer := time.NewTimer(lastWriteTime)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	return nil
}

func (l *LogWriter) copy(ctx context.Context) {
	var text []byte
	for {
		if text = l.take(text); len(text) > 0 {
			if _, err := l.to.Write(text); err != nil {
				l.dropped.Add(int64(bytes.Count(text, []byte("\n"))))
			}
			continue
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			if text = l.take(text); len(text) > 0 {
				_, _ = l.to.Write(text)
			}
			return
		}
	}
}

// take returns the queued text and continues with the used buffer.
func (l *LogWriter) take(used []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.text) == 0 {
		l.appendDropped()
	}
	text := l.text
	l.text = used[:0]
	return text
}

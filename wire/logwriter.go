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

// lastWords is how long Run waits for a write to end when its context has ended.
const lastWords = 100 * time.Millisecond

// logBytes is how much of the log may wait to be written.
const logBytes = 256 << 10

// A LogWriter stands between a logger and stderr, which may be closed, or a pipe that nobody reads.
// Write never waits and never fails: what does not fit is dropped and counted, and a line in the log
// says so later.
type LogWriter struct {
	to      io.Writer
	wake    chan struct{} // holds a token if there is something to write; never closed
	dropped atomic.Int64

	mu     sync.Mutex // guards what follows
	text   []byte
	missed int64 // writes that were dropped since the last line that says so
}

// NewLogWriter gives a writer that writes nothing until Run is called.
func NewLogWriter(to io.Writer) *LogWriter {
	return &LogWriter{to: to, wake: make(chan struct{}, 1)}
}

// Write keeps the text for Run. It always reports success. It may be called from any goroutine.
func (l *LogWriter) Write(text []byte) (int, error) {
	l.mu.Lock()
	if len(l.text)+len(text) > logBytes {
		l.missed++
		l.dropped.Add(1)
	} else {
		l.mark()
		l.text = append(l.text, text...)
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return len(text), nil
}

// mark says how much was dropped, if anything was. The caller holds mu.
func (l *LogWriter) mark() {
	if l.missed > 0 {
		l.text = fmt.Appendf(l.text, "level=WARN msg=\"lines of the log were dropped here\" dropped=%d\n", l.missed)
		l.missed = 0
	}
}

// Dropped counts the writes that were lost.
func (l *LogWriter) Dropped() int64 { return l.dropped.Load() }

// Run writes what is given to Write until ctx ends, and then what is left, as far as that takes no
// time. A write that nobody lets end is left behind.
func (l *LogWriter) Run(ctx context.Context) error {
	ended := make(chan struct{})
	go func() { // ends after ctx, unless a write does not
		defer close(ended)
		l.copy(ctx)
	}()
	<-ctx.Done()
	timer := time.NewTimer(lastWords)
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

// take gives what waits, in exchange for a buffer that is no longer needed.
func (l *LogWriter) take(used []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.text) == 0 {
		l.mark()
	}
	text := l.text
	l.text = used[:0]
	return text
}

package wire_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/wire"
)

// A blockingWriter is a log that takes a write only when it is let.
type blockingWriter struct {
	let chan struct{}
	err error

	mu   sync.Mutex // guards what follows
	text strings.Builder
}

func (g *blockingWriter) Write(p []byte) (int, error) {
	<-g.let
	g.mu.Lock()
	defer g.mu.Unlock()
	g.text.Write(p)
	return len(p), g.err
}

func (g *blockingWriter) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.String()
}

// runLog runs a LogWriter and returns what ends it.
func runLog(l *wire.LogWriter) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		if err := l.Run(ctx); err != nil {
			panic(err)
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

func TestLogWriterWritesEverythingInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &blockingWriter{let: make(chan struct{})}
		close(g.let)
		l := wire.NewLogWriter(g)
		_, _ = l.Write([]byte("before\n"))
		end := runLog(l)
		synctest.Wait()
		require.Equal(t, "before\n", g.String())
		_, _ = l.Write([]byte("after\n"))
		synctest.Wait()
		require.Equal(t, "before\nafter\n", g.String())
		_, _ = l.Write([]byte("last\n"))
		end()
		require.Equal(t, "before\nafter\nlast\n", g.String())
		require.Zero(t, l.Dropped())
	})
}

// What does not fit while nobody reads is dropped and counted, and a line says where.
func TestUnreadLogIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &blockingWriter{let: make(chan struct{})}
		l := wire.NewLogWriter(g)
		end := runLog(l)
		line := strings.Repeat("x", 1023) + "\n"
		_, _ = l.Write([]byte(line))
		synctest.Wait() // now a write is under way that does not end
		for range 999 {
			n, err := l.Write([]byte(line))
			require.NoError(t, err)
			require.Len(t, line, n)
		}
		require.Positive(t, l.Dropped())
		close(g.let)
		synctest.Wait()
		kept := strings.Count(g.String(), line)
		require.EqualValues(t, 1000, int64(kept)+l.Dropped())
		require.Equal(t, 257, kept, "256 KiB wait, behind the line that is under way")
		require.Regexp(t, `x\nlevel=WARN msg="log lines were dropped here" dropped=\d+\n$`, g.String())
		end()
	})
}

// A log that cannot be written keeps nobody, not even at the end.
func TestLogWriterSurvivesAFailingOrHangingLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &blockingWriter{let: make(chan struct{}), err: errors.New("nobody there")}
		close(g.let)
		l := wire.NewLogWriter(g)
		end := runLog(l)
		_, err := l.Write([]byte("one\ntwo\n"))
		require.NoError(t, err)
		synctest.Wait()
		require.EqualValues(t, 2, l.Dropped())
		end()

		hangs := &blockingWriter{let: make(chan struct{})}
		l = wire.NewLogWriter(hangs)
		end = runLog(l)
		_, err = l.Write([]byte("one\n"))
		require.NoError(t, err)
		end()
		require.Empty(t, hangs.String())
		close(hangs.let)
	})
}

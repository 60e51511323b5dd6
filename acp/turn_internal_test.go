package acp

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/wire"
)

// A silent is a Policy that only hears of the end.
type silent struct{ Policy }

func (silent) Lost(context.Context, []string, string) {}

// The test is inside because only there it can be seen whether the lock is free. A store may take long to take a text back, and
// both sides would wait for it.
func TestATextIsTakenBackWithoutTheLock(t *testing.T) {
	p := &proxy{editor: &outlet{w: io.Discard}, reports: newReports(slog.New(slog.DiscardHandler))}
	p.Policy, p.Ended = silent{}, func() string { return "" }
	undone := 0
	handed := func() *turn {
		return &turn{session: "s", id: []byte("7"), text: Text{Undo: func() {
			undone++
			require.True(t, p.mu.TryLock())
			p.mu.Unlock()
		}}}
	}
	line := []byte(`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}`)
	var s wire.Scanner
	msg, _ := s.ReadLine(line)
	require.Equal(t, line, p.turnEnded(t.Context(), handed(), line, msg))
	p.state.turns = map[string]*turn{"s": handed()}
	go p.reports.run(t.Context()) // ends with the test
	require.ErrorIs(t, p.lost(t.Context()), ErrAgentEnded)
	require.Equal(t, 2, undone)
}

package rpc_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/rpc"
	"waybill/schema"
)

// An answer that was not written in full is undelivered, once.
func TestUndeliveredIsCalledForUnwrittenAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := connectUnread(t, f)
		h.send(request(1, "hand_out", `{"name":"read"}`))
		out := bufio.NewReaderSize(h.out, 16)
		_, err := out.ReadString('\n')
		require.NoError(t, err)
		h.send(request(2, "hand_out", `{"name":"half read"}`),
			"["+request(3, "hand_out", `{"name":"in a batch"}`)+","+request(4, "hand_out", `{"name":"in it too"}`)+"]",
			"["+request(5, "hand_out", `{"name":"in half a batch"}`)+","+request(6, "block", "")+"]")
		_, err = out.ReadByte()
		require.NoError(t, err)
		require.NoError(t, h.out.Close())
		require.Zero(t, <-h.exit)
		require.ElementsMatch(t, []string{"half read", "in a batch", "in it too", "in half a batch"}, f.undeliveredAnswers())
		require.NoError(t, h.in.Close())
	})
}

// A batch with a member that hangs is completed on the way out. If it cannot be written, what is in it
// was not delivered, nor is what comes too late.
func TestUndeliveredIsCalledForAnIncompleteBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free, start := make(chan struct{}), time.Now()
		var mu sync.Mutex
		var back []string
		give := entry("give", schema.Change, func(_ context.Context, params []byte, done func(api.Answer)) {
			name := string(params)
			done(api.Answer{Undelivered: func() {
				mu.Lock()
				defer mu.Unlock()
				back = append(back, name)
			}})
		})
		hang := entry("hang", schema.Read, func(_ context.Context, params []byte, done func(api.Answer)) {
			<-free
			give.Start(context.Background(), params, done)
		})
		h := connectUnread(t, newFixture(), table(give, hang))
		h.send("[" + request(1, "give", `{"n":1}`) + "," + request(2, "hang", `{"n":2}`) + "]")
		require.Zero(t, h.end())
		require.LessOrEqual(t, time.Since(start), 1500*time.Millisecond)
		require.Equal(t, []string{`{"n":1}`}, back)
		close(free)
		synctest.Wait()
		require.Equal(t, []string{`{"n":1}`, `{"n":2}`}, back)
	})
}

// Serve ends although Close does not end the write.
func TestUndeliveredIsCalledWhenOutputIsBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		out := &blockedOutput{free: make(chan struct{})}
		h := connect(t, f, func(o *rpc.Options) { o.Out = out })
		for i := range 3 {
			h.send(request(i, "hand_out", fmt.Sprintf(`{"name":"%d"}`, i)))
		}
		start := time.Now()
		require.Zero(t, h.end())
		require.Less(t, time.Since(start), 2*time.Second)
		require.Equal(t, []string{"0", "1", "2"}, f.undeliveredAnswers())
		close(out.free)
		synctest.Wait()
		require.Len(t, f.undeliveredAnswers(), 3)
	})
}

// A blockedOutput is an output that takes nothing and does not mind Close.
type blockedOutput struct{ free chan struct{} }

func (s *blockedOutput) Write([]byte) (int, error) {
	<-s.free
	return 0, os.ErrClosed
}

func (*blockedOutput) Close() error { return nil }

package rpc_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/rpc"
	"waybill/schema"
)

// What was written is delivered; what was not, or only in part, is taken back, once.
func TestUndeliveredIsCalledForWhatWasNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		h := deaf(t, f)
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
		require.ElementsMatch(t, []string{"half read", "in a batch", "in it too", "in half a batch"}, f.takenBack())
		require.NoError(t, h.in.Close())
	})
}

// A batch with a member that hangs is completed on the way out. If it cannot be written, what is in it
// was not delivered, nor is what comes too late.
func TestUndeliveredIsCalledForAnIncompleteBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
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
		h := deaf(t, newFixture(), table(give, hang))
		h.send("[" + request(1, "give", `{"n":1}`) + "," + request(2, "hang", `{"n":2}`) + "]")
		require.Zero(t, h.end())
		require.Equal(t, []string{`{"n":1}`}, back)
		close(free)
		synctest.Wait()
		require.Equal(t, []string{`{"n":1}`, `{"n":2}`}, back)
	})
}

// An output that does not even mind Close keeps nobody.
func TestUndeliveredIsCalledBehindAStuckOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		out := &stuck{free: make(chan struct{})}
		h := connect(t, f, func(o *rpc.Options) { o.Out = out })
		for i := range 3 {
			h.send(request(i, "hand_out", fmt.Sprintf(`{"name":"%d"}`, i)))
		}
		start := time.Now()
		require.Zero(t, h.end())
		require.Less(t, time.Since(start), 2*time.Second)
		require.Equal(t, []string{"0", "1", "2"}, f.takenBack())
		close(out.free)
		synctest.Wait()
		require.Len(t, f.takenBack(), 3)
	})
}

// A stuck is an output that takes nothing and does not mind Close.
type stuck struct{ free chan struct{} }

func (s *stuck) Write([]byte) (int, error) {
	<-s.free
	return 0, os.ErrClosed
}

func (*stuck) Close() error { return nil }

// Answers that are larger than what the pipe takes at once arrive whole.
func TestLargeAnswersThroughAPipe(t *testing.T) {
	serverIn, in, err := os.Pipe()
	require.NoError(t, err)
	out, serverOut, err := os.Pipe()
	require.NoError(t, err)
	f := newFixture()
	exit := make(chan int, 1)
	go func() { // ends with the input
		code, err := rpc.Serve(context.Background(), rpc.Options{In: serverIn, Out: serverOut, Table: f.table()})
		if err != nil {
			panic(err)
		}
		exit <- code
	}()
	text := strings.Repeat("x", 60_000)
	for i := range 20 {
		_, err := fmt.Fprintln(in, request(i, "echo", `"`+text+`"`))
		require.NoError(t, err)
	}
	require.NoError(t, in.Close())
	answers := bufio.NewReader(out)
	for i := range 20 {
		line, err := answers.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf(`%d "%s"`, i, text), brief(t, line))
	}
	require.Zero(t, <-exit)
	require.NoError(t, out.Close())
}

// An answer that comes when the host is gone is taken back as well.
func TestUndeliveredIsCalledForLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answer func()
		back := 0
		late := entry("late", schema.Change, func(_ context.Context, _ []byte, done func(api.Answer)) {
			answer = func() { done(api.Answer{Undelivered: func() { back++ }}) }
		})
		h := connect(t, newFixture(), table(late))
		h.send(request(1, "late", ""))
		require.Zero(t, h.end(), "what never answers is left behind")
		answer()
		require.Equal(t, 1, back)
	})
}

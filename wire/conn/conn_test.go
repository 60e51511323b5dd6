package conn

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/wire"
)

// These tests are inside the package because they end the library's part of a connection.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An echo answers every call with its params.
type echo struct{ kind Kind }

func (e echo) Accept(c *Call) *Fault {
	c.Kind = e.kind
	return nil
}

func (e echo) Start(_ context.Context, c *Call) { c.Answer(Answer{Result: json.RawMessage(c.Params)}) }

// A peer is the host of a connection, in a bubble.
type peer struct {
	*Conn
	in, out net.Conn
	lines   *bufio.Reader
	served  chan struct{}
	signal  context.CancelFunc
}

func connect(t *testing.T, protocol Protocol) *peer {
	inR, in := net.Pipe()
	out, outW := net.Pipe()
	o := Options{In: inR, Out: outW, Framing: wire.Lines, Protocol: protocol, Logger: slog.New(slog.DiscardHandler)}
	require.NoError(t, o.Check())
	p := &peer{in: in, out: out, lines: bufio.NewReader(out), served: make(chan struct{})}
	o.Attach = func(c *Conn) { p.Conn = c }
	ctx, cancel := context.WithCancel(context.Background())
	p.signal = cancel
	go func() { defer close(p.served); Serve(ctx, o) }() // ends with the input
	synctest.Wait()
	return p
}

func (p *peer) send(lines ...string) { _, _ = io.WriteString(p.in, strings.Join(lines, "\n")+"\n") }

func (p *peer) next(t *testing.T) string {
	line, err := p.lines.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSuffix(line, "\n")
}

func (p *peer) leave(t *testing.T) {
	require.NoError(t, p.in.Close())
	_, _ = io.Copy(io.Discard, p.lines)
	<-p.served
}

// The library matches answers to requests in every order, also while its reader is replaced.
func TestLibraryMatchesAnswersToRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, echo{Read})
		got := make(chan string, 3)
		for i := range 3 {
			go func() { // ends with the answer
				var answer string
				err := p.Call(context.Background(), "ask", i, &answer)
				got <- fmt.Sprint(i, " ", answer, " ", err)
			}()
		}
		asked := map[string]string{}
		for range 3 {
			var m struct {
				ID     json.RawMessage `json:"id"`
				Params json.RawMessage `json:"params"`
			}
			require.NoError(t, json.Unmarshal([]byte(p.next(t)), &m))
			asked[string(m.Params)] = string(m.ID)
		}
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"b":"<é>","a":1.0}}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"b":"<é>","a":1.0}}`, p.next(t), "params and results stay as they are")
		p.send(`{"id":77,"result":"nobody asked"}`, `{"id":`+asked["2"]+`,"result":"two"}`,
			`{"id":`+asked["0"]+`,"error":{"code":-1,"message":"no"}}`, `{"id":`+asked["1"]+`,"result":"one"}`, `{"id":`+asked["1"]+`,"result":"again"}`)
		require.ElementsMatch(t, []string{`0  calling "ask": no`, "1 one <nil>", "2 two <nil>"}, []string{<-got, <-got, <-got})
		p.leave(t)
		require.EqualValues(t, 2, p.o.Tally.Stats().Responses)
	})
}

// Without the library nothing is answered, sent or matched.
func TestNothingPassesTheLibrary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, echo{Change})
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, p.next(t))
		p.endLibrary()
		synctest.Wait()
		require.ErrorIs(t, p.Call(context.Background(), "ask", nil, nil), jsonrpc2.ErrClosed)
		p.Notify("note", 1)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"m","params":{}}`)
		time.Sleep(time.Second)
		require.Zero(t, p.lines.Buffered())
		require.NoError(t, p.in.Close())
		rest, err := io.ReadAll(p.lines)
		require.NoError(t, err)
		require.Empty(t, rest)
		<-p.served
	})
}

// A slow answers every call after two seconds.
type slow struct{ echo }

func (s slow) Start(ctx context.Context, c *Call) {
	time.Sleep(2 * time.Second)
	s.echo.Start(ctx, c)
}

// A script closes its pipe behind several changes, and a loaded machine takes two seconds for each.
func TestCallsWereAbandonedThoughEachEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, slow{echo{Change}})
		var want strings.Builder
		for i := range 5 {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":[%d]}`, i, i))
			fmt.Fprintf(&want, `{"jsonrpc":"2.0","id":%d,"result":[%d]}`+"\n", i, i)
		}
		require.NoError(t, p.in.Close())
		answers, err := io.ReadAll(p.lines)
		require.NoError(t, err)
		require.Equal(t, want.String(), string(answers))
		<-p.served
	})
}

// A waiting answers every call when its context ends.
type waiting struct{ echo }

func (w waiting) Start(ctx context.Context, c *Call) {
	<-ctx.Done()
	w.echo.Start(ctx, c)
}

func TestSignalAfterTheEndOfTheInputWasIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, waiting{echo{Change}})
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`)
		require.NoError(t, p.in.Close())
		synctest.Wait()
		start := time.Now()
		p.signal()
		answer := p.next(t)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":[]}`, answer)
		require.Less(t, time.Since(start), time.Second)
		p.leave(t)
	})
}

// What takes back an answer may send a notification, which the library must not hold up.
func TestAnswerAfterTheOutputBrokeHungTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waiter{calls: make(chan *Call, 1)}
		p := connect(t, w)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		call := <-w.calls
		require.NoError(t, p.out.Close())
		p.Notify("x", 1)
		synctest.Wait() // the writer has found the output broken
		takenBack := make(chan struct{})
		go call.Answer(Answer{Undelivered: func() {
			p.Notify("state", nil)
			close(takenBack)
		}})
		<-takenBack
		_ = p.in.Close()
		<-p.served
	})
}

// A waiter leaves its calls to the test.
type waiter struct{ calls chan *Call }

func (w *waiter) Accept(c *Call) *Fault {
	c.Kind = Concurrent
	return nil
}

func (w *waiter) Start(_ context.Context, c *Call) { w.calls <- c }

// A reader that runs a call must not be the one that matches the answer to a request of that call.
func TestCallThatAsksTheHostIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asker{}
		p := connect(t, a)
		a.Conn = p.Conn
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"method":"ask","params":"why"}`, p.next(t))
		p.send(`{"jsonrpc":"2.0","id":1,"result":"because"}`)
		require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":"because"}`, p.next(t))
		p.leave(t)
	})
}

type asker struct{ *Conn }

func (a *asker) Accept(c *Call) *Fault {
	c.Kind = Read
	return nil
}

func (a *asker) Start(ctx context.Context, c *Call) {
	var why string
	_ = a.Call(ctx, "ask", "why", &why)
	c.Answer(Answer{Result: why})
}

// The caller may hold a mutex that the callbacks of answers need.
func TestNotifyDoesNotWaitForTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, echo{Change})
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		synctest.Wait() // the framing is known
		sent := make(chan struct{})
		go func() { defer close(sent); p.Notify("state", nil) }() // ends at once
		synctest.Wait()
		select {
		case <-sent:
		default:
			t.Error("the notification waits for the host")
		}
		require.NoError(t, p.in.Close())
		require.NoError(t, p.out.Close())
		<-p.served
		<-sent
	})
}

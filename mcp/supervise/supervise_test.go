package supervise_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/mcp/supervise"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A scene is a conversation with workers that a test plays.
type scene struct {
	t       *testing.T
	toHost  *bufio.Reader
	in      io.WriteCloser
	workers chan *played
	exit    chan error
	code    int
}

// A played worker is one that a test plays.
type played struct {
	t    *testing.T
	in   *bufio.Reader
	out  *io.PipeWriter
	exit func(code int, death string)
}

func newScene(t *testing.T, repeatable ...string) *scene {
	return newSceneWith(t, (*scene).start, repeatable...)
}

func newSceneWith(t *testing.T, start func(*scene) (*supervise.Worker, error), repeatable ...string) *scene {
	hostIn, in := io.Pipe()
	toHost, hostOut := io.Pipe()
	s := &scene{t: t, in: in, toHost: bufio.NewReader(toHost), workers: make(chan *played, 8), exit: make(chan error, 1)}
	go func() {
		var err error
		s.code, err = supervise.Run(t.Context(), supervise.Options{
			In: hostIn, Out: hostOut, Logger: slog.New(slog.DiscardHandler), MaxMessageBytes: 150_000,
			Start: func() (*supervise.Worker, error) { return start(s) },
			Repeatable: func(method string, params []byte) (again, untilAnswer bool) {
				for _, word := range repeatable {
					if strings.Contains(method+string(params), word) {
						return true, strings.HasPrefix(word, "ask")
					}
				}
				return false, false
			},
		})
		s.exit <- err
	}()
	return s
}

func (s *scene) start() (*supervise.Worker, error) {
	w, p := s.play()
	s.workers <- p
	return w, nil
}

func (s *scene) play() (*supervise.Worker, *played) {
	inR, in := io.Pipe()
	out, outW := io.Pipe()
	confirmations, confirm := io.Pipe()
	go func() { _, _ = io.Copy(io.Discard, confirmations) }() // ends with the worker
	type end struct {
		code  int
		death string
	}
	ended := make(chan end, 1)
	p := &played{t: s.t, in: bufio.NewReader(inR), out: outW}
	p.exit = func(code int, death string) {
		_, _ = outW.Close(), inR.Close()
		ended <- end{code, death}
	}
	kill := sync.OnceFunc(func() { p.exit(-1, "killed") })
	return &supervise.Worker{
		In: in, Out: out, Written: confirm, Leave: kill, Kill: kill,
		Wait:   func() (int, string) { e := <-ended; return e.code, e.death },
		Unread: func() int { return 0 },
	}, p
}

func (s *scene) says(line string) {
	s.t.Helper()
	_, err := io.WriteString(s.in, line+"\n")
	require.NoError(s.t, err)
}

func (s *scene) hears(want string) {
	s.t.Helper()
	line, err := s.toHost.ReadString('\n')
	require.NoError(s.t, err)
	require.Contains(s.t, line, want)
}

func (p *played) hears(want string) {
	p.t.Helper()
	line, err := p.in.ReadString('\n')
	require.NoError(p.t, err)
	require.Contains(p.t, line, want)
}

func (p *played) says(line string) {
	p.t.Helper()
	_, err := io.WriteString(p.out, line+"\n")
	require.NoError(p.t, err)
}

func request(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, method, params)
}

func answer(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id) }

// The second worker learns all that the host has told the first, in order, and the host sees none of that.
func TestNextWorkerIsToldWhatTheHostHasSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, "initialize", "resources/", "read_me", "listen")
		w := <-s.workers
		for i, line := range []string{
			request(0, "initialize", `"protocolVersion":"2025-11-25"`), `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			request(1, "resources/subscribe", `"uri":"a:1"`), request(2, "resources/subscribe", `"uri":"a:2"`),
			request(3, "resources/unsubscribe", `"uri":"a:1"`),
		} {
			s.says(line)
			w.hears(line)
			if i == 1 {
				continue
			}
			w.says(answer([]int{0, 0, 1, 2, 3}[i]))
			s.hears(`"result"`)
		}
		w.says(`{"jsonrpc":"2.0","method":"notifications/waybill/state","params":{"key":"k"}}`)
		s.says(`{"jsonrpc":"2.0","method":"notifications/waybill/state","params":{"key":"forged"}}`)
		for i, method := range []string{"read_me", "change_it", "listen"} {
			s.says(request(10+i, method, ``))
			w.hears(method)
		}
		s.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12}}`)
		w.hears("cancelled")
		w.says(request(1, "elicitation/create", ``))
		s.hears("elicitation/create")
		w.exit(-1, "signal: killed")
		s.hears(`"reason":"the server has started again","requestId":1`)
		s.hears("list_instructions` shows the instructions that were handed out") // of 11

		w = <-s.workers
		w.hears(`{"jsonrpc":"2.0","method":"notifications/waybill/state","params":{"deaths":1,"left":{"key":"k"}}}`)
		w.hears(`"id":0,"method":"initialize"`)
		w.says(answer(0))
		w.hears("notifications/initialized")
		w.hears(`"uri":"a:2"`)
		w.says(answer(2))
		w.hears("read_me")
		s.says(request(13, "change_it", ``))
		w.hears(`"id":13`)
		w.says(answer(10))
		s.hears(`"id":10`)
		w.says(answer(13))
		s.hears(`"id":13`)
		require.NoError(t, s.in.Close())
		_, err := w.in.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		w.exit(5, "")
		require.NoError(t, <-s.exit)
		require.Equal(t, 5, s.code)
	})
}

// A request may be what workers die of.
func TestRequestThatKillsTwoWorkersIsNotSentToAThird(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, "read_me", "hello")
		w := <-s.workers
		s.says(request(0, "hello", ``))
		w.hears("hello")
		w.says(answer(0))
		s.hears(`"id":0`)
		s.says(request(1, "read_me", ``))
		w.hears("read_me")
		w.exit(2, "")
		w = <-s.workers
		w.hears("state")
		w.hears("read_me")
		w.exit(2, "")
		s.hears(`"id":1,"error":`)
		w = <-s.workers
		w.hears("state")
		require.NoError(t, s.in.Close())
		_, err := w.in.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		w.exit(0, "")
		require.NoError(t, <-s.exit)
	})
}

// A person has answered the form of a call, and the worker died before the answer of the call. If the next worker got the
// call again, it would say that nothing was applied.
func TestRequestWhosePersonHasAnsweredIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, "ask_person", "read_me")
		w := <-s.workers
		for i, method := range []string{"ask_person", "read_me"} {
			s.says(request(i, method, ``))
			w.hears(method)
		}
		w.says(request(1, "elicitation/create", ``))
		s.hears("elicitation/create")
		s.says(answer(9)) // to nothing that was asked
		w.hears(`"id":9`)
		s.says(answer(1))
		w.hears(`"id":1`)
		w.exit(-1, "signal: killed")
		s.hears(`"id":0,"error":`)
		w = <-s.workers
		w.hears("state")
		w.hears("read_me")
		s.says(request(2, "ask_person", ``))
		w.hears("ask_person")
		w.says(request(1, "elicitation/create", ``))
		s.hears("elicitation/create")
		w.exit(-1, "signal: killed")
		s.hears("cancelled")
		s.hears(`"id":1,"error":`) // was repeated once
		w = <-s.workers
		w.hears("state")
		w.hears("ask_person")
		require.NoError(t, s.in.Close())
		_, err := w.in.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		w.exit(0, "")
		s.hears(`"id":2,"error":`)
		require.NoError(t, <-s.exit)
	})
}

// The request kept its place among the lines of the worker before, as if the second one had read it.
func TestRequestThatADyingWorkerDidNotGetIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, "read_me")
		w := <-s.workers
		w.says(`{"jsonrpc":"2.0","method":"notifications/x"}`)
		s.hears("notifications/x")
		s.says(request(1, "read_me", ``))
		w.hears("read_me")
		w.exit(2, "")
		w = <-s.workers
		w.hears("state")
		w.exit(2, "")
		w = <-s.workers
		w.hears("state")
		w.hears("read_me")
		w.says(answer(1))
		s.hears(`"id":1,"result"`)
		require.NoError(t, s.in.Close())
		_, err := w.in.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		w.exit(0, "")
		require.NoError(t, <-s.exit)
	})
}

// Such as one with a wrong command line.
func TestFirstWorkerThatExitsBeforeAWordIsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		go func() { _, _ = io.Copy(io.Discard, s.toHost) }() // ends with Run
		w := <-s.workers
		w.exit(2, "")
		require.NoError(t, <-s.exit)
		require.Equal(t, 2, s.code)
	})
}

func TestWorkersThatDieAgainAndAgainEndTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, "hello")
		go func() { _, _ = io.Copy(io.Discard, s.toHost) }() // ends with Run
		for i := range 4 {
			w := <-s.workers
			if i > 0 {
				w.hears("state")
			}
			w.says(`{"jsonrpc":"2.0","method":"notifications/x"}`)
			synctest.Wait()
			w.exit(-1, "signal: killed")
		}
		time.Sleep(time.Minute) // deaths so far apart are no end
		for range 5 {
			w := <-s.workers
			w.hears("state")
			w.exit(-1, "signal: killed")
		}
		require.ErrorIs(t, <-s.exit, supervise.ErrKeepsDying)
		require.Equal(t, 1, s.code)
	})
}

// A worker leaves a host that reads nothing, and nothing may then wait for that host.
func TestHostThatReadsNothingEndsTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		w := <-s.workers
		s.says(request(1, "change_it", ``))
		w.hears("change_it")
		w.says(`{"jsonrpc":"2.0","method":"notifications/x"}`) // is never read
		w.exit(0, "")
		require.NoError(t, <-s.exit)
		require.Zero(t, s.code)
	})
}

// A line that is too long to be looked at is the worker's to refuse.
func TestLongLinePasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		w := <-s.workers
		long := strings.Repeat("x", 400_000)
		go s.says(long)
		w.hears(long)
		go s.says(request(1, "a", ``))
		w.hears(`"id":1`)
		require.NoError(t, s.in.Close())
		_, err := w.in.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		w.exit(0, "")
		s.hears(`"id":1,"error":`)
		require.NoError(t, <-s.exit)
	})
}

// An answer that the supervisor took but the host did not has not been delivered.
func TestLineIsWrittenWhenItIsConfirmed(t *testing.T) {
	outR, outW, err := os.Pipe()
	require.NoError(t, err)
	confirmed, confirm, err := os.Pipe()
	require.NoError(t, err)
	w := supervise.NewConfirmedWriter(outW, confirmed)
	in := bufio.NewReader(outR)
	n, err := w.Write([]byte("begin ")) // a piece of a line waits for nothing
	require.NoError(t, err)
	require.Equal(t, 6, n)

	require.NoError(t, w.SetWriteDeadline(time.Now().Add(10*time.Millisecond)))
	text := []byte("end\ntwo\nthree\nfour")
	_, err = confirm.Write([]byte("\n"))
	require.NoError(t, err)
	n, err = w.Write(text)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Equal(t, 4, n)

	require.NoError(t, w.SetWriteDeadline(time.Time{}))
	_, err = confirm.Write([]byte("\n\n"))
	require.NoError(t, err)
	n, err = w.Write(text[4:])
	require.NoError(t, err)
	require.Equal(t, len(text)-4, n)

	_, err = confirm.Write([]byte("\n"))
	require.NoError(t, err)
	require.NoError(t, confirm.Close())
	n, err = w.Write([]byte("!\nsix\n"))
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, 2, n)
	require.NoError(t, w.Close())
	all, err := io.ReadAll(in)
	require.NoError(t, err)
	require.Equal(t, "begin end\ntwo\nthree\nfour!\nsix\n", string(all), "nothing is written twice")
	require.NoError(t, outR.Close())
}

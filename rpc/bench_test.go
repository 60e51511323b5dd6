package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/rpc"
	"waybill/schema"
)

// The benchmarks measure a call of about 300 bytes that is answered on the spot, over a pair of pipes,
// against what one would write by hand and against the library as it comes. All are measured in turn
// in one run, with the same client; only the ratios mean something.

// A benchResult is what the call is answered.
type benchResult struct {
	SessionID string `json:"session_id"`
	Length    int    `json:"length"`
	Priority  bool   `json:"priority"`
}

func benchAnswer(p *schema.QueueInstructionWithAckParams) benchResult {
	return benchResult{SessionID: p.SessionID, Length: len(p.Content), Priority: p.Priority}
}

// A host is the client's end of the pipes.
type benchHost struct {
	in  *os.File
	out *bufio.Reader
	end func()
}

// A contender serves a pair of pipes until the first is closed.
type contender func(in io.ReadCloser, out io.WriteCloser)

func (c contender) start(b *testing.B) *benchHost {
	inR, inW, err := os.Pipe()
	require.NoError(b, err)
	outR, outW, err := os.Pipe()
	require.NoError(b, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c(inR, outW)
	}()
	return &benchHost{in: inW, out: bufio.NewReaderSize(outR, 64<<10), end: func() {
		_ = inW.Close()
		<-done
		_ = outR.Close()
		_ = inR.Close()
		_ = outW.Close()
	}}
}

func ours(in io.ReadCloser, out io.WriteCloser) {
	decoder := schema.NewDecoder[schema.QueueInstructionWithAckParams]()
	table := api.NewTable([]api.Entry{{
		Method: schema.Method{Name: "measure", Kind: schema.Control},
		Start: func(_ context.Context, params []byte, done func(api.Answer)) {
			var p schema.QueueInstructionWithAckParams
			if fault := decoder.Decode(params, &p); fault != nil {
				done(api.Answer{Err: fault})
				return
			}
			r := benchAnswer(&p)
			done(api.Answer{Result: &r})
		},
	}})
	_, _ = rpc.Serve(context.Background(), rpc.Options{In: in, Out: out, Table: table})
}

// byHand is the loop that everyone writes first: one line in, one line out.
func byHand(in io.ReadCloser, out io.WriteCloser) {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var req struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
			Params  json.RawMessage `json:"params"`
		}
		var p schema.QueueInstructionWithAckParams
		if json.Unmarshal(line, &req) != nil || req.Method != "measure" || json.Unmarshal(req.Params, &p) != nil {
			return
		}
		answer, err := json.Marshal(struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  benchResult     `json:"result"`
		}{"2.0", req.ID, benchAnswer(&p)})
		if err != nil {
			return
		}
		if _, err := out.Write(append(answer, '\n')); err != nil {
			return
		}
	}
}

// asItComes is the library with its own stream and a handler on the read loop.
func asItComes(in io.ReadCloser, out io.WriteCloser) {
	handler := jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		var p schema.QueueInstructionWithAckParams
		if err := json.Unmarshal(*req.Params, &p); err != nil {
			return nil, err
		}
		return benchAnswer(&p), nil
	})
	conn := jsonrpc2.NewConn(context.Background(), jsonrpc2.NewPlainObjectStream(struct {
		io.Reader
		io.WriteCloser
	}{in, out}), handler)
	<-conn.DisconnectNotify()
}

var benchTail = `,"method":"measure","params":{"session_id":"default","content":"` + strings.Repeat("run the tests again and fix what fails; ", 4) +
	`","priority":true,"max_retries":5,"ack_on":{"event_type":"tool.result","match":{"command":"test"}}}}` + "\n"

func benchRequest(dst []byte, id int) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendInt(dst, int64(id), 10)
	return append(dst, benchTail...)
}

// alone sends n requests, each after the answer to the one before, and gives the median time of one.
func (h *benchHost) alone(b *testing.B, n int) time.Duration {
	times := make([]time.Duration, n)
	var request []byte
	for i := range n {
		request = benchRequest(request[:0], i)
		start := time.Now()
		_, err := h.in.Write(request)
		require.NoError(b, err)
		answer, err := h.out.ReadSlice('\n')
		times[i] = time.Since(start)
		require.NoError(b, err)
		require.True(b, bytes.Contains(answer, []byte(`"result"`)), "%s", answer)
	}
	slices.Sort(times)
	return times[n/2]
}

// together keeps 64 requests in hand until n are answered, and gives the time of one.
func (h *benchHost) together(b *testing.B, n int) time.Duration {
	const window = 64
	free := make(chan int, window)
	free <- window
	go func() { // ends when n requests are sent
		var requests []byte
		for sent := 0; sent < n; {
			k := min(<-free, n-sent)
			requests = requests[:0]
			for range k {
				requests = benchRequest(requests, sent)
				sent++
			}
			_, _ = h.in.Write(requests)
		}
	}()
	start := time.Now()
	for got := 0; got < n; {
		k := 0
		for first := true; first || h.out.Buffered() > 0 && k < window; first = false {
			_, err := h.out.ReadSlice('\n')
			require.NoError(b, err)
			k++
		}
		got += k
		for left := k; left > 0; {
			select {
			case free <- left:
				left = 0
			case more := <-free:
				left += more
			}
		}
	}
	return time.Since(start) / time.Duration(n)
}

// compare measures the contenders in turn, several times, and reports the medians and their ratios.
func compare(b *testing.B, measure func(*benchHost, *testing.B, int) time.Duration) {
	const turns, n = 15, 2000
	contenders := []contender{ours, byHand, asItComes}
	times := make([][]float64, len(contenders))
	for range b.N {
		for range turns {
			for i, c := range contenders {
				h := c.start(b)
				measure(h, b, 200)
				times[i] = append(times[i], float64(measure(h, b, n)))
				h.end()
			}
		}
	}
	median := func(i int) float64 {
		slices.Sort(times[i])
		return times[i][len(times[i])/2]
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(0), "ours-ns")
	b.ReportMetric(median(1), "by-hand-ns")
	b.ReportMetric(median(2), "library-ns")
	b.ReportMetric(median(0)/median(1), "time/by-hand")
	b.ReportMetric(median(1)/median(0), "rate/by-hand")
	b.ReportMetric(median(2)/median(0), "rate/library")
}

func BenchmarkOneInFlight(b *testing.B) { compare(b, (*benchHost).alone) }

func BenchmarkManyInFlight(b *testing.B) { compare(b, (*benchHost).together) }

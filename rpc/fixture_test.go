package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/api"
	"waybill/schema"
	"waybill/schema/codec"
)

// A fixture is a table of methods that do what a test needs, and the record of what they did.
type fixture struct {
	mu          sync.Mutex // guards what follows
	started     []string   // names and params of the changes, in the order of their starts
	undelivered []string
	pending     []func() // answers of wait that have not been given

	release chan struct{} // closed to let block, hold and hang end
	running chan string   // gets the params of each block that runs
}

func newFixture() *fixture {
	return &fixture{release: make(chan struct{}), running: make(chan string, 20_000)}
}

func entry(name string, kind schema.Kind, start func(ctx context.Context, params []byte, done func(api.Answer))) api.Entry {
	return api.Entry{Method: schema.Method{Name: name, Kind: kind}, Start: start}
}

func (f *fixture) table() *api.Table {
	ping := entry("ping", schema.Control, f.ping)
	ping.Aliases = []string{"are_you_there"}
	return api.NewTable([]api.Entry{
		ping,
		entry("echo", schema.Control, f.echo),
		entry("measure", schema.Control, f.measure),
		entry("find", schema.Read, f.echo),
		entry("block", schema.Read, f.block),
		entry("change", schema.Change, f.change),
		entry("wait", schema.Change, f.wait),
		entry("hand_out", schema.Change, f.handOut),
		entry("fail", schema.Change, f.fail),
		entry("hold", schema.Change, f.hold),
		entry("hang", schema.Read, func(_ context.Context, _ []byte, done func(api.Answer)) {
			<-f.release
			done(api.Answer{})
		}),
		entry("slow", schema.Change, func(ctx context.Context, _ []byte, done func(api.Answer)) {
			time.Sleep(900 * time.Millisecond)
			done(api.Answer{Result: ctx.Err() == nil})
		}),
		entry("break", schema.Control, func(context.Context, []byte, func(api.Answer)) { panic("control broke") }),
		entry("break_read", schema.Read, func(context.Context, []byte, func(api.Answer)) { panic("read broke") }),
		entry("break_change", schema.Change, func(context.Context, []byte, func(api.Answer)) { panic("change broke") }),
		entry("forget", schema.Read, func(context.Context, []byte, func(api.Answer)) {}),
		entry("repeat", schema.Read, func(_ context.Context, _ []byte, done func(api.Answer)) {
			done(api.Answer{Result: 1})
			done(api.Answer{Result: 2})
		}),
		entry("garble", schema.Change, func(_ context.Context, _ []byte, done func(api.Answer)) {
			done(api.Answer{Result: "\xff", Undelivered: func() {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.undelivered = append(f.undelivered, "garbled")
			}})
		}),
		entry("mumble", schema.Change, func(_ context.Context, _ []byte, done func(api.Answer)) {
			fault := schema.NewError(schema.StoreIO, "the disk is gone").With("path", "\xff")
			fault.Data.Outcome = schema.OutcomeUnknown
			done(api.Answer{Err: fault})
		}),
		entry("blow_up", schema.Read, func(_ context.Context, _ []byte, done func(api.Answer)) {
			done(api.Answer{Result: exploding{}})
		}),
		entry("internal", schema.Read, func(_ context.Context, _ []byte, done func(api.Answer)) {
			done(api.Answer{Err: schema.NewError(schema.Internal, "something broke"), Cause: errors.New("the disk said no")})
		}),
	})
}

// exploding is a result whose encoding panics.
type exploding struct{}

func (exploding) MarshalJSON() ([]byte, error) { panic("encoding broke") }

func (f *fixture) ping(_ context.Context, params []byte, done func(api.Answer)) {
	if fault := codec.Decode(params, new(schema.None)); fault != nil {
		done(api.Answer{Err: fault})
		return
	}
	done(api.Answer{Result: &schema.PingResult{Pong: true}})
}

// echo answers the bytes of the params, if there are any.
func (f *fixture) echo(_ context.Context, params []byte, done func(api.Answer)) {
	if params == nil {
		done(api.Answer{})
		return
	}
	done(api.Answer{Result: jsontext.Value(params)})
}

// measure answers how many bytes the params have.
func (f *fixture) measure(_ context.Context, params []byte, done func(api.Answer)) {
	done(api.Answer{Result: len(params)})
}

// block runs until it is released or cancelled.
func (f *fixture) block(ctx context.Context, params []byte, done func(api.Answer)) {
	f.running <- string(params)
	select {
	case <-f.release:
		done(api.Answer{Result: "released"})
	case <-ctx.Done():
		done(api.Answer{Err: schema.NewError(schema.Cancelled, "the request was cancelled")})
	}
}

func (f *fixture) record(name string, params []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = append(f.started, strings.TrimSpace(name+" "+string(params)))
}

// change is applied at once and answered from another goroutine.
func (f *fixture) change(_ context.Context, params []byte, done func(api.Answer)) {
	f.record("change", params)
	result := jsontext.Value(params).Clone()
	go done(api.Answer{Result: result}) // ends at once, for done does not block
}

// hold keeps its place in the order until it is released.
func (f *fixture) hold(_ context.Context, params []byte, done func(api.Answer)) {
	<-f.release
	f.record("hold", params)
	done(api.Answer{Result: "held"})
}

// wait is answered when it is cancelled, or by answerAll.
func (f *fixture) wait(ctx context.Context, params []byte, done func(api.Answer)) {
	f.record("wait", params)
	answer := sync.OnceFunc(func() {
		if ctx.Err() != nil {
			done(api.Answer{Err: schema.NewError(schema.Cancelled, "the request was cancelled")})
			return
		}
		done(api.Answer{Result: "waited"})
	})
	f.mu.Lock()
	f.pending = append(f.pending, answer)
	f.mu.Unlock()
	context.AfterFunc(ctx, answer)
}

func (f *fixture) answerAll() {
	f.mu.Lock()
	pending := f.pending
	f.pending = nil
	f.mu.Unlock()
	for _, answer := range pending {
		answer()
	}
}

// handOut answers with as much text as the params say, which is taken back if it is not delivered.
func (f *fixture) handOut(_ context.Context, params []byte, done func(api.Answer)) {
	var p struct {
		Name string `json:"name,omitzero"`
		Text string `json:"text,omitzero"`
		Size int    `json:"size,omitzero"`
	}
	if fault := codec.Decode(params, &p); fault != nil {
		done(api.Answer{Err: fault})
		return
	}
	done(api.Answer{Result: p.Text + strings.Repeat("x", p.Size), Undelivered: func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.undelivered = append(f.undelivered, p.Name)
	}})
}

func (f *fixture) fail(_ context.Context, params []byte, done func(api.Answer)) {
	f.record("fail", params)
	done(api.Answer{Err: schema.NewError(schema.InvalidState, "this always fails")})
}

func (f *fixture) startedSoFar() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.started...)
}

func (f *fixture) undeliveredAnswers() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.undelivered...)
}

// request is the text of a request; params may be empty.
func request(id any, method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":%q%s}`, id, method, params)
}

func notification(method, params string) string {
	if params != "" {
		params = `,"params":` + params
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q%s}`, method, params)
}

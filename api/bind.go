package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/engine"
	"waybill/engine/commit"
	"waybill/schema"
	"waybill/schema/codec"
)

// ask binds a method that changes nothing.
func ask[P, R any](name string, fn func(ctx context.Context, p *P) (*R, error)) Entry {
	decoder := sync.OnceValue(codec.NewDecoder[P])
	return Entry{Method: declared(name), Start: func(ctx context.Context, params []byte, done func(Answer)) {
		p := new(P)
		if fault := decoder().Decode(params, p); fault != nil {
			done(Answer{Err: fault})
			return
		}
		done(answer(fn(ctx, p)))
	}}
}

// prepared is a change whose slow preparations are done.
type prepared[R any] struct {
	engine *engine.Engine
	change engine.Change
	apply  func(tx *engine.Tx) (*R, error)
	key    string
	// undelivered is called when the answer did not reach the host.
	undelivered func()
	// failed, if not nil, converts the error of a change that was not committed.
	failed func(err error) error
}

// change binds a method that changes something. fn prepares the change; calls of fn keep the order of the messages.
func change[P, R any](name string, fn func(ctx context.Context, p *P) (*prepared[R], error)) Entry {
	decoder := sync.OnceValue(codec.NewDecoder[P])
	return Entry{Method: declared(name), Start: func(ctx context.Context, params []byte, done func(Answer)) {
		p := new(P)
		if fault := decoder().Decode(params, p); fault != nil {
			done(Answer{Err: fault})
			return
		}
		w, err := fn(ctx, p)
		if err == nil {
			err = w.identify(name, p)
		}
		if err != nil {
			done(answer[R](nil, err))
			return
		}
		w.submit(ctx, done)
	}}
}

// identify sets the fingerprint of a change with an idempotency key. It covers the method and the params, but not
// their order and spelling.
func (w *prepared[R]) identify(name string, params any) error {
	if w.key == "" {
		return nil
	}
	text, err := codec.Encode(params)
	if err != nil {
		return err
	}
	canonical := jsontext.Value(text)
	if err := canonical.Format(jsontext.ReorderRawObjects(true)); err != nil {
		return err
	}
	sum := sha256.Sum256(append([]byte(name+"\n"), canonical...))
	w.change.Key, w.change.Fingerprint = w.key, hex.EncodeToString(sum[:])
	w.change.Encode = codec.Encode
	return nil
}

func (w *prepared[R]) submit(ctx context.Context, done func(Answer)) {
	w.change.Apply = func(tx *engine.Tx) (any, error) { return w.apply(tx) }
	w.engine.Submit(ctx, w.change, func(result any, err error) {
		if err != nil && w.failed != nil {
			err = w.failed(err)
		}
		if err != nil {
			done(answer[R](nil, err))
			return
		}
		switch r := result.(type) {
		case commit.Replay:
			done(Answer{Result: jsontext.Value(r.JSON)})
		default:
			done(Answer{Result: r, Undelivered: w.undelivered})
		}
	})
}

func answer[R any](result *R, err error) Answer {
	if err != nil {
		fault, cause := faultOf(err)
		return Answer{Err: fault, Cause: cause}
	}
	return Answer{Result: result}
}

// declared returns the declaration of a method. The handler table is generated from the declarations.
func declared(name string) schema.Method {
	for _, m := range schema.Methods {
		if m.Name == name {
			return m
		}
	}
	panic("api: no method is called " + name)
}

package rpc

import (
	"fmt"

	"waybill/schema"
)

// An encoder turns items into messages. Each is one line, as everything is that schema encodes.
type encoder struct {
	trouble *trouble
	buffer  []byte
	lost    []func() // to call because a result was not encoded, and an error in its place
}

// item gives the message, which is valid until the next call, or nothing if it is a notification that
// cannot be encoded: that is a hint, and its place is in the log.
func (e *encoder) item(it *item) []byte {
	text := empty(e.buffer)
	switch {
	case it.batch != nil:
		text = append(text, '[')
		for i := range it.batch {
			if i > 0 {
				text = append(text, ',')
			}
			text = e.answer(text, &it.batch[i])
		}
		text = append(text, ']')
	case it.id == nil:
		text = e.notification(text, it)
	default:
		text = e.answer(text, it)
	}
	e.buffer = text
	return text
}

func (e *encoder) answer(dst []byte, it *item) []byte {
	if it.text != nil {
		return append(dst, it.text...)
	}
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), it.id...)
	fault := it.answer.Err
	if fault == nil {
		text, err := encode(append(dst, `,"result":`...), it.answer.Result)
		if err == nil {
			return append(text, '}')
		}
		fault = e.unspeakable(it, err)
		if it.answer.Undelivered != nil {
			e.lost = append(e.lost, it.answer.Undelivered)
			it.answer.Undelivered = nil
		}
	}
	text, err := encode(append(dst, `,"error":`...), fault)
	if err != nil {
		// Only what a handler put into the details can have done this.
		plain := e.unspeakable(it, err)
		plain.Data.Outcome = fault.Data.Outcome
		text, _ = encode(append(dst, `,"error":`...), plain)
	}
	return append(text, '}')
}

// unspeakable is the error for an answer that is not JSON. What it is about stays done.
func (e *encoder) unspeakable(it *item, err error) *schema.Error {
	fault := e.trouble.broken("an answer cannot be encoded", err)
	if it.change {
		fault.Data.Outcome = schema.OutcomeApplied
	}
	return fault
}

func (e *encoder) notification(dst []byte, it *item) []byte {
	dst = append(append(append(dst, `{"jsonrpc":"2.0","method":"`...), it.method...), '"')
	if it.params == nil {
		return append(dst, '}')
	}
	text, err := encode(append(dst, `,"params":`...), it.params)
	if err != nil {
		_ = e.trouble.broken("a notification cannot be encoded", err, "method", it.method)
		return nil
	}
	return append(text, '}')
}

// encode is schema.AppendEncode that survives the panic of a type that encodes itself.
func encode(dst []byte, v any) (text []byte, err error) {
	if v == nil {
		return append(dst, "null"...), nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encode %T: panic: %v", v, p)
		}
	}()
	return schema.AppendEncode(dst, v)
}

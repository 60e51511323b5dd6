package rpc

import (
	"fmt"

	"waybill/schema"
	"waybill/schema/codec"
)

// An encoder turns items into messages of one line each.
type encoder struct {
	defects     *defectLog
	buffer      []byte
	undelivered []func() // callbacks of answers whose result could not be encoded
}

// item returns the message, which is valid until the next call. It returns nothing for a notification that cannot be
// encoded; the log says so.
func (e *encoder) item(it *item) []byte {
	text := reuse(e.buffer)
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
		fault = e.unencodable(it, err)
		if it.answer.Undelivered != nil {
			e.undelivered = append(e.undelivered, it.answer.Undelivered)
			it.answer.Undelivered = nil
		}
	}
	text, err := encode(append(dst, `,"error":`...), fault)
	if err != nil {
		// Only the details of a handler's error can cause this.
		fallback := e.unencodable(it, err)
		fallback.Data.Outcome = fault.Data.Outcome
		text, _ = encode(append(dst, `,"error":`...), fallback)
	}
	return append(text, '}')
}

// unencodable returns the error for an answer that cannot be encoded as JSON. The outcome of a change is "applied".
func (e *encoder) unencodable(it *item, err error) *schema.Error {
	fault := e.defects.report("an answer cannot be encoded", err)
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
		_ = e.defects.report("a notification cannot be encoded", err, "method", it.method)
		return nil
	}
	return append(text, '}')
}

// encode appends v as JSON. It returns an error if the type's own MarshalJSON panics.
func encode(dst []byte, v any) (text []byte, err error) {
	if v == nil {
		return append(dst, "null"...), nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encode %T: panic: %v", v, p)
		}
	}()
	return codec.AppendEncode(dst, v)
}

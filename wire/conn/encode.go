package conn

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"waybill/schema"
	"waybill/schema/codec"
)

// encode appends v as JSON. It returns an error if the type's own MarshalJSON panics.
func encode(dst []byte, v any) (text []byte, err error) {
	if v == nil {
		return append(dst, "null"...), nil
	}
	defer func() {
		if p := recover(); p != nil {
			text, err = dst, fmt.Errorf("encode %T: panic: %v", v, p)
		}
	}()
	return codec.AppendEncode(dst, v)
}

// raw returns the bytes as the library wants them.
func raw(text *[]byte) *json.RawMessage { return (*json.RawMessage)(text) }

// encodeFault appends a fault as JSON.
func encodeFault(dst []byte, f *Fault) ([]byte, error) {
	dst = strconv.AppendInt(append(dst, `{"code":`...), int64(f.Code), 10)
	dst, _ = jsontext.AppendQuote(append(dst, `,"message":`...), f.Message)
	if f.Data == nil {
		return append(dst, '}'), nil
	}
	text, err := encode(append(dst, `,"data":`...), f.Data)
	if err != nil {
		return append(dst, '}'), err
	}
	return append(text, '}'), nil
}

// encodeData appends the data of a fault. Data that cannot be encoded are a defect, and replace the fault by that.
func (d *dispatcher) encodeData(dst []byte, c *Call, f *Fault) ([]byte, *json.RawMessage) {
	if f.Data == nil {
		return dst, nil
	}
	text, err := encode(dst, f.Data)
	if err != nil {
		defect := d.unencodable(c, err)
		if before, ok := f.Data.(schema.ErrorData); ok {
			defect.Data.Outcome = before.Outcome
		}
		f.Code, f.Message = defect.Code, defect.Message
		text, _ = encode(dst, defect.Data)
	}
	return text, raw(&text)
}

// unencodable returns the error for an answer that cannot be encoded as JSON. The outcome of a change is "applied".
func (d *dispatcher) unencodable(c *Call, err error) *schema.Error {
	fault := d.defects.report("an answer cannot be encoded", err)
	if c.changes() {
		fault.Data.Outcome = schema.OutcomeApplied
	}
	return fault
}

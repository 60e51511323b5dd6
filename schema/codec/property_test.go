package codec_test

import (
	"bytes"
	jsonv1 "encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/schema"
	"waybill/schema/codec"
	"waybill/schema/gen"
)

// FuzzDecode sends any bytes as the params of any method.
func FuzzDecode(f *testing.F) {
	f.Add(uint8(9), []byte(call))
	for i := range schema.Methods {
		f.Add(uint8(i), []byte(`[{"content":"a","instruction_id":"i","type":"t","plan":"p","run_id":"r","role":"worker","cursor":"0"}]`))
		f.Add(uint8(i), []byte(`{"_meta":null,"x-a":"","limit":1.0,"data":{"a":"\u0000"},"match":{},"ack_on":{"event_type":"\ud800"}}`))
	}
	f.Fuzz(func(t *testing.T, method uint8, raw []byte) {
		m := schema.Methods[int(method)%len(schema.Methods)]
		params := reflect.New(m.Params).Interface()
		err := codec.Decode(raw, params)
		if err != nil {
			lawfulRefusal(t, err)
			return
		}
		roundTrip(t, params)
		acceptedByOthers(t, m, raw, params)
	})
}

// lawfulRefusal holds for every error of Decode, whatever the params were.
func lawfulRefusal(t *testing.T, err *schema.Error) {
	t.Helper()
	require.Contains(t, []schema.Code{
		schema.ParseError, schema.InvalidUTF8, schema.DuplicateKey,
		schema.InvalidParams, schema.UnknownField, schema.EmptyContent,
	}, err.Data.Code)
	require.NotEmpty(t, err.Data.Details, "the message alone: %s", err.Message)
	_, encodeErr := codec.Encode(err)
	require.NoError(t, encodeErr)
}

// roundTrip holds for all decoded params: they are written as what reads as the same again.
func roundTrip(t interface {
	require.TestingT
	Helper()
}, params any,
) {
	t.Helper()
	text, err := codec.Encode(params)
	require.NoError(t, err)
	again := reflect.New(reflect.TypeOf(params).Elem()).Interface()
	fault := codec.Decode(text, again)
	if fault != nil {
		require.Fail(t, "written params are refused", "%s: %s", text, fault.Message)
	}
	text2, err := codec.Encode(again)
	require.NoError(t, err)
	require.Equal(t, string(text), string(text2))
}

// acceptedByOthers holds for all accepted params: a plain decoder reads the same from them. That one
// does not care for case, so where unknown members are ignored it may read more.
func acceptedByOthers(t *testing.T, m schema.Method, raw []byte, params any) {
	t.Helper()
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || m.Name == "initialize" {
		return
	}
	if raw[0] == '[' {
		raw = bytes.TrimSpace(raw[1 : len(raw)-1])
	}
	plain := reflect.New(m.Params).Interface()
	require.NoError(t, jsonv1.Unmarshal(raw, plain))
	ours, err := codec.Encode(params)
	require.NoError(t, err)
	theirs, err := codec.Encode(plain)
	require.NoError(t, err)
	require.Equal(t, string(ours), string(theirs))
}

// published returns the published schema of a method's params.
func published(t *testing.T, m schema.Method) (s map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(gen.ParamsSchema(m), &s))
	return s
}

// What is published must be what is done: Decode accepts params exactly if their schema does.
func TestPublishedSchemasAgreeWithDecode(t *testing.T) {
	for _, m := range schema.Methods {
		t.Run(m.Name, func(t *testing.T) {
			agree(t, m, published(t, m))
		})
	}
}

func agree(t *testing.T, m schema.Method, published map[string]any) {
	var accepted, refused int
	rapid.Check(t, func(t *rapid.T) {
		document := drawing{t, rapid.IntRange(0, 3).Draw(t, "faults") > 0}.object(published)
		raw, err := json.Marshal(document)
		require.NoError(t, err)
		var asRead any // what a validator sees
		require.NoError(t, jsonv1.Unmarshal(raw, &asRead))

		params := reflect.New(m.Params).Interface()
		fault := codec.Decode(raw, params)
		if valid(published, asRead) != (fault == nil) {
			t.Fatalf("%s: the schema says %v, Decode says %v", raw, valid(published, asRead), fault)
		}
		if fault != nil {
			refused++
			return
		}
		accepted++
		roundTrip(t, params)
	})
	if testing.Short() {
		return // rapid draws a fifth then, too few to be sure of both
	}
	require.NotZero(t, accepted, "no params were right")
	require.NotZero(t, refused, "no params were wrong")
}

// A drawing draws params that keep a schema, with faults here and there if it has faults. A quarter of all have none,
// because some params of each method must be right.
type drawing struct {
	*rapid.T
	faults bool
}

// errs reports whether a fault is drawn, which has a chance of 1 in n+1.
func (t drawing) errs(n int, label string) bool {
	return t.faults && rapid.IntRange(0, n).Draw(t.T, label) == 0
}

func (t drawing) document(s map[string]any) any {
	if t.errs(24, "wrong") {
		return rapid.SampledFrom([]any{nil, true, 0, -1, 7, 2.5, "", " ", "a b", "x", []any{}, []any{1}, map[string]any{}, map[string]any{"zz": 1}}).Draw(t.T, "instead")
	}
	switch s["type"] {
	case "object":
		return t.object(s)
	case "array":
		items := rapid.IntRange(0, 3).Draw(t.T, "items")
		list := []any{}
		for range items {
			list = append(list, t.document(s["items"].(map[string]any)))
		}
		return list
	case "string":
		if enum, ok := s["enum"].([]any); ok {
			return rapid.SampledFrom(enum).Draw(t.T, "word")
		}
		return t.text()
	case "integer":
		return t.integer(s)
	case "boolean":
		return rapid.Bool().Draw(t.T, "flag")
	}
	return rapid.SampledFrom([]any{nil, 1, "a", []any{nil}, map[string]any{"k": nil}}).Draw(t.T, "any")
}

func (t drawing) object(s map[string]any) any {
	object := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		likely := 2
		for _, r := range required {
			if r == name {
				likely = 15
			}
		}
		if likely == 15 && !t.faults || rapid.IntRange(0, likely).Draw(t.T, name) > 0 {
			object[name] = t.document(properties[name].(map[string]any))
		}
	}
	if t.errs(5, "more") {
		object["unheard_of"] = 1
	}
	if free, ok := s["additionalProperties"].(map[string]any); ok {
		object["a.b"] = t.document(free)
	}
	return object
}

func (t drawing) integer(s map[string]any) any {
	low, high := -10, 1000
	if minimum, ok := s["minimum"].(float64); ok {
		low = int(minimum)
	}
	if maximum, ok := s["maximum"].(float64); ok {
		high = int(maximum)
	}
	if t.errs(5, "outside") {
		return rapid.SampledFrom([]any{low - 1, high + 1}).Draw(t.T, "number")
	}
	return rapid.IntRange(low, high).Draw(t.T, "number")
}

func (t drawing) text() any {
	if t.errs(9, "odd") {
		return rapid.StringMatching(`[ a-zA-Z0-9._:/é-]{0,5}|[a-z]{130}`).Draw(t.T, "text")
	}
	return rapid.StringMatching(`[a-zA-Z0-9._:-]{1,128}`).Draw(t.T, "text")
}

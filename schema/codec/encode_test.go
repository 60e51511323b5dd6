package codec_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/schema/codec"
)

func TestEncode(t *testing.T) {
	for _, c := range []struct {
		what  string
		value any
		want  string
	}{
		{"nothing", nil, `null`},
		{"nil lists", schema.ConsumeNoticesResult{Seq: 1}, `{"consumed":[],"seq":1}`},
		{"nil maps", schema.Packet{Mode: "full"}, `{"cursor":"","mode":"full","facts":{},"removed":[]}`},
		{"maps in order", map[string]int{"b": 1, "a": 2, "C": 3}, `{"C":3,"a":2,"b":1}`},
		{"what HTML escapes", "</script>&\u2028", "\"</script>&\u2028\""},
		{"raw values on one line", jsontext.Value("{ \"a\" :\n [ 1 ] }"), `{"a":[1]}`},
		{"numbers as they came", jsontext.Value(`[1.0, 1e3, 12345678901234567890]`), `[1.0,1e3,12345678901234567890]`},
		{"the document of rpc.discover", schema.OpenRPC{Value: jsontext.Value("{\n}\n")}, `{}`},
		{"embedded members", schema.FailedParams{Page: schema.Page{Cursor: "c"}}, `{"cursor":"c"}`},
		{
			"errors", schema.NewError(schema.Overloaded, "too much").With("limit", 3).With("at", "x").Hint("wait"),
			`{"code":4290,"message":"too much","data":{"code":"OVERLOADED","retryable":true,"outcome":"not_applied","hint":"wait","details":{"at":"x","limit":3}}}`,
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, err := codec.Encode(c.value)
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))

			got, err = codec.AppendEncode([]byte("before "), c.value)
			require.NoError(t, err)
			require.Equal(t, "before "+c.want, string(got))
		})
	}
}

func TestEncodeRefusesWhatIsNotJSON(t *testing.T) {
	for what, value := range map[string]any{
		"bytes that are not UTF-8":  "\xff",
		"names that are not UTF-8":  map[string]int{"\xff": 1},
		"half of a surrogate pair":  jsontext.Value(`"\ud800"`),
		"a raw value that is cut":   jsontext.Value(`{"a":`),
		"a raw value with a double": jsontext.Value(`{"a":1,"a":2}`),
		"a function":                func() {},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := codec.Encode(value)
			require.Error(t, err)

			dst := append(make([]byte, 0, 64), "before"...)
			got, err := codec.AppendEncode(dst, value)
			require.Error(t, err)
			require.Equal(t, "before", string(got))
		})
	}
}

package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/wire"
)

// A message is taken apart without a byte of it being changed.
func TestScannerTakesAMessageApart(t *testing.T) {
	var s wire.Scanner
	messages, many, fault := s.Read([]byte(` {"id": "\u0061" ,"method":"p\u0069ng","params":{"b":1, "a":[ 2 ]},"jsonrpc":"2.0"} `))
	require.Nil(t, fault)
	require.False(t, many)
	require.Equal(t, []wire.Message{{ID: []byte(`"\u0061"`), Method: []byte(`"p\u0069ng"`), Params: []byte(`{"b":1, "a":[ 2 ]}`)}}, messages)
	require.Equal(t, "ping", wire.Text(messages[0].Method))
	require.Equal(t, wire.Key([]byte(`"a"`)), wire.Key(messages[0].ID))
	require.NotEqual(t, wire.Key([]byte(`"1"`)), wire.Key([]byte(`1`)))
	require.Empty(t, wire.Text([]byte(`7`)))
}

// What is wrong with one member of a batch is said of that member alone.
func TestScannerReadsABatch(t *testing.T) {
	var s wire.Scanner
	messages, many, fault := s.Read([]byte(`[{"id":1,"method":"a"},{"method":"b"},{"id":3,"result":null},7,{"id":4,"method":""}]`))
	require.Nil(t, fault)
	require.True(t, many)
	require.Len(t, messages, 5)
	require.Nil(t, messages[1].ID)
	require.True(t, messages[2].Response)
	for place, id := range map[int]string{3: "null", 4: "4"} {
		require.Equal(t, schema.InvalidRequest, messages[place].Fault.Data.Code)
		require.Equal(t, id, string(messages[place].ID))
	}
}

func TestScannerRefuses(t *testing.T) {
	deep := make([]byte, 0, 2*200)
	for _, c := range []byte("[]") {
		for range 200 {
			deep = append(deep, c)
		}
	}
	for text, want := range map[string]struct {
		code schema.Code
		id   string // "" if the whole is refused
	}{
		`{"id":1,"method":"a"`:                                {code: schema.ParseError},
		`{"id":1,"method":"a"} 2`:                             {code: schema.ParseError},
		"{\"id\":1,\"method\":\"\xff\"}":                      {code: schema.InvalidUTF8},
		`{"id":1,"method":"\ud800"}`:                          {code: schema.InvalidUTF8},
		`[]`:                                                  {code: schema.InvalidBatch},
		`{"id":1.5,"method":"a"}`:                             {schema.InvalidRequest, `1.5`},
		`{"id":9007199254740992,"method":"a"}`:                {schema.InvalidRequest, `9007199254740992`},
		`{"id":null,"method":"a"}`:                            {schema.InvalidRequest, `null`},
		`{"id":1,"method":"a","method":"b"}`:                  {schema.DuplicateKey, `1`},
		`{"id":1,"id":2,"method":"a"}`:                        {schema.DuplicateKey, `null`},
		`{"params":` + string(deep) + `,"id":1,"method":"a"}`: {schema.NestingTooDeep, `1`},
	} {
		var s wire.Scanner
		messages, _, fault := s.Read([]byte(text))
		if want.id == "" {
			require.NotNil(t, fault, text)
			require.Equal(t, want.code, fault.Data.Code, text)
			continue
		}
		require.Nil(t, fault, text)
		require.Equal(t, want.code, messages[0].Fault.Data.Code, text)
		require.Equal(t, want.id, string(messages[0].ID), text)
	}
}

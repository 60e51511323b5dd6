package conformance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/conformance"
)

// hearing waits for the expectations of a script.
func hearing(t *testing.T, script string, b conformance.Bindings) *conformance.Hearing {
	t.Helper()
	c, err := conformance.Parse("x", []byte("# T\n-- conversation --\n"+script))
	require.NoError(t, err)
	h, err := c.Listen(c.Steps, b)
	require.NoError(t, err)
	return h
}

func TestAnswersComeInAnyOrder(t *testing.T) {
	h := hearing(t, `< {"id":1,"result":1}
< {"id":"1","result":2}
< {"method":"note","params":{"a":"<tsk:1>"}}
`, conformance.Bindings{})
	require.False(t, h.Done())
	require.NoError(t, h.Hear([]byte(`{"method":"note","params":{"a":"other"}}`)), "a notification that nobody waits for")
	require.NoError(t, h.Hear([]byte(`{"id":"1","result":2}`)))
	require.NoError(t, h.Hear([]byte(`{"method":"note","params":{"a":"tsk_1"}}`)))
	require.ErrorContains(t, h.Missing(), "x:3: this did not come; what came instead:\n  {\"method\":\"note\"")
	require.NoError(t, h.Hear([]byte(`{"id":1,"result":1}`)))
	require.True(t, h.Done())
	require.NoError(t, h.Missing())
}

func TestAnswersWithoutAnIDAreToldApartByWhatTheySay(t *testing.T) {
	h := hearing(t, `< {"id":null,"error":"a"}
< {"id":null,"error":"b"}
`, conformance.Bindings{})
	require.NoError(t, h.Hear([]byte(`{"id":null,"error":"b"}`)))
	require.ErrorContains(t, h.Hear([]byte(`{"id":null,"error":"c"}`)), `x:3: /error is "c", want "a"`)
	require.NoError(t, h.Hear([]byte(`{"id":null,"error":"a"}`)))
	require.True(t, h.Done())
}

func TestBatchesComeInAnyOrder(t *testing.T) {
	h := hearing(t, `< [{"id":1,"result":1},{"id":2,"result":"<tsk:1>"}]
`, conformance.Bindings{})
	require.ErrorContains(t, h.Hear([]byte(`[{"id":2,"result":"tsk_1"},{"id":1,"result":7}]`)), `x:3: /0/result is 7, want 1`)
	require.ErrorContains(t, h.Hear([]byte(`[{"id":1,"result":1}]`)), "has 1 elements, want 2")
	require.ErrorContains(t, h.Hear([]byte(`{"id":1,"result":1}`)), "heard an answer that nothing expects here")
	require.NoError(t, h.Hear([]byte(`[{"id":2,"result":"tsk_1"},{"id":1,"result":1}]`)))
	require.True(t, h.Done())
}

func TestSaboteursOfAHearing(t *testing.T) {
	for _, row := range []struct{ name, script, heard, why string }{
		{"another result", `< {"id":1,"result":1}`, `{"id":1,"result":2}`, "x:3: /result is 2, want 1\n  heard {\"id\":1,\"result\":2}"},
		{"an error instead", `< {"id":1,"result":1}`, `{"id":1,"error":1}`, "x:3: /result is missing"},
		{"another id", `< {"id":1,"result":1}`, `{"id":2,"result":1}`, `x:3: heard an answer that nothing expects here: {"id":2,"result":1}`},
		{"an id of another type", `< {"id":1,"result":1}`, `{"id":"1","result":1}`, `x:3: heard an answer that nothing expects here: {"id":"1","result":1}`},
		{"too early", "< {\"id\":1,\"result\":1}\n<+ {\"id\":2,\"result\":1}", `{"id":2,"result":1}`, "x:4: this came before what stands on line 3"},
		{"a notification too early", "< {\"id\":1,\"result\":1}\n<+ {\"method\":\"note\"}", `{"method":"note"}`, "x:4: this came before what stands on line 3"},
		{"not JSON", `< {"id":1,"result":1}`, `{`, `x:3: heard "{": not JSON`},
		{"a request of the server", `< {"id":1,"result":1}`, `{"id":1,"method":"m"}`, "x:3: heard what is neither an answer nor a notification"},
		{"nothing that is a message", `< {"id":1,"result":1}`, `7`, "x:3: heard what is neither an answer nor a notification: 7"},
	} {
		t.Run(row.name, func(t *testing.T) {
			require.ErrorContains(t, hearing(t, row.script+"\n", conformance.Bindings{}).Hear([]byte(row.heard)), row.why)
		})
	}
}

// What an answer was bound to before holds in the next expectation.
func TestBindingsHoldThroughAConversation(t *testing.T) {
	b := conformance.Bindings{}
	require.NoError(t, hearing(t, "< {\"id\":1,\"result\":\"<tsk:1>\"}\n", b).Hear([]byte(`{"id":1,"result":"tsk_1"}`)))
	again := hearing(t, "< {\"id\":2,\"result\":\"<tsk:1>\"}\n", b)
	require.ErrorContains(t, again.Hear([]byte(`{"id":2,"result":"tsk_2"}`)), `<tsk:1> was "tsk_1" before`)
}

// Of a long message a failure shows the beginning.
func TestLongMessagesAreCut(t *testing.T) {
	err := hearing(t, "< {\"id\":1,\"result\":1}\n", conformance.Bindings{}).
		Hear([]byte(`{"id":1,"result":"` + strings.Repeat("x", 1<<20) + `"}`))
	require.Error(t, err)
	require.Less(t, len(err.Error()), 2000)
}

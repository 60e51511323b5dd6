package api_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
)

// A table counts the results, durations and running calls of each called method. A panic counts as ended.
func TestCallsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late func(api.Answer)
		entry := func(name string, start func(done func(api.Answer))) api.Entry {
			return api.Entry{Method: schema.Method{Name: name}, Start: func(_ context.Context, _ []byte, done func(api.Answer)) { start(done) }}
		}
		table := api.NewTable([]api.Entry{
			entry("quick", func(done func(api.Answer)) { done(api.Answer{}) }),
			entry("refused", func(done func(api.Answer)) {
				time.Sleep(time.Second)
				done(api.Answer{Err: schema.NewError(schema.TaskGone, "no")})
			}),
			entry("late", func(done func(api.Answer)) { late = done }),
			entry("panics", func(func(api.Answer)) { panic("no") }),
			entry("unused", func(func(api.Answer)) {}),
			{Method: schema.Method{Name: "no_start"}},
		})
		answers := 0
		call := func(name string) {
			e, ok := table.Entry(name)
			require.True(t, ok)
			e.Start(t.Context(), nil, func(api.Answer) { answers++ })
		}
		require.Empty(t, table.Calls())
		call("quick")
		call("quick")
		call("refused")
		call("late")
		require.Panics(t, func() { call("panics") })
		require.Equal(t, 3, answers)
		codes := func(code schema.Code, n int64) map[schema.Code]int64 { return map[schema.Code]int64{code: n} }
		want := []api.Calls{
			{Method: "quick", Codes: codes("", 2), Within: [len(api.CallBounds)]int64{2}, Count: 2},
			{Method: "refused", Codes: codes(schema.TaskGone, 1), Within: [len(api.CallBounds)]int64{5: 1}, Count: 1, Total: time.Second},
			{Method: "late", InFlight: 1, Codes: map[schema.Code]int64{}},
			{Method: "panics", Codes: codes(schema.Internal, 1), Within: [len(api.CallBounds)]int64{1}, Count: 1},
		}
		require.Equal(t, want, table.Calls())

		time.Sleep(time.Minute)
		late(api.Answer{})
		want[2] = api.Calls{Method: "late", Codes: codes("", 1), Count: 1, Total: time.Minute}
		require.Equal(t, want, table.Calls())
	})
}

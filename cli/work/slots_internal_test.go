package work

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// Commands that may run beside others follow one another without a pause. A check that must run alone still gets its turn.
func TestCommandThatMustRunAloneIsNotKeptWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &commandSlots{seats: 2, left: make(chan struct{})}
		require.True(t, d.acquire(t.Context(), true))
		var order []string
		done := make(chan struct{})
		for _, c := range []struct {
			name   string
			beside bool
		}{{"alone", false}, {"beside", true}} {
			go func() {
				require.True(t, d.acquire(t.Context(), c.beside))
				order = append(order, c.name)
				d.release()
				done <- struct{}{}
			}()
			synctest.Wait()
		}
		require.Empty(t, order)
		d.release()
		<-done
		<-done
		require.Equal(t, []string{"alone", "beside"}, order)
	})
}

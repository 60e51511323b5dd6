package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A newer reading that is not recorded yet counts before an older one that this process recorded.
func TestReadingThatIsStillToBeRecordedLeadsBeforeAnOlderOneOfOurs(t *testing.T) {
	st := newHookedStore(t)
	f := newRunFixture(t, st, newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	f.look(id)
	first, second, reached := make(chan struct{}), make(chan struct{}), make(chan struct{})
	recording := st.number() + 1
	st.before = func(n int) error {
		switch n {
		case recording:
			<-first
		case recording + 1:
			close(reached)
			<-second
		}
		return nil
	}
	peek := func() int {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // who believes the record waits for the other one
		defer cancel()
		v, err := f.Peek(ctx, id)
		require.NoError(t, err)
		return v.Progress.Totals.Total
	}
	f.write("tasks.md", threeItems, time.Minute)
	require.Equal(t, 3, peek())
	f.write("tasks.md", threeItems+"- [ ] 4. Fourth\n", time.Minute)
	require.Equal(t, 4, peek())
	close(first)
	<-reached
	f.remove()
	items := peek()
	close(second)
	require.Equal(t, 4, items)
	require.Equal(t, 4, f.look(id).Progress.Totals.Total)
}

// The log can hold a record of this process before this process has heard that it was written.
func TestRecordOfOursThatWasJustWrittenIsNoNewerReading(t *testing.T) {
	st := newHookedStore(t)
	f := newRunFixture(t, st, newPlanFixture(t))
	f.write("tasks.md", twoItems, time.Hour)
	id := f.begin("1").ID
	f.look(id)
	written, heard := make(chan struct{}), make(chan struct{})
	recording := st.number() + 1
	st.after = func(n int) {
		if n == recording {
			close(written)
			<-heard
		}
	}
	peek := func() (items int, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // a view of the older reading waits for the writer
		defer cancel()
		v, err := f.Peek(ctx, id)
		return v.Progress.Totals.Total, err
	}
	f.write("tasks.md", threeItems, time.Minute)
	_, err := peek()
	require.NoError(t, err)
	<-written
	f.write("tasks.md", threeItems+"- [ ] 4. Fourth\n", time.Minute)
	_, err = peek()
	f.remove()
	items, errRemoved := peek()
	close(heard)
	require.NoError(t, err)
	require.NoError(t, errRemoved)
	require.Equal(t, 4, items)
	require.Equal(t, 4, f.look(id).Progress.Totals.Total)
}

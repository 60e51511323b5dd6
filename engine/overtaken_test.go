package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The defect: a plan was edited twice and then removed, and the record of the first edit, which this process had made
// itself, took the second one for overtaken, whose record was still on its way: for a moment the plan was what it had been.
func TestReadingThatIsStillToBeRecordedLeadsBeforeAnOlderOneOfOurs(t *testing.T) {
	st := watch()
	s := newSite(t, st, newDesk(t))
	s.write("tasks.md", twoItems, time.Hour)
	id := s.begin("1").ID
	s.look(id)
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
		v, err := s.Peek(ctx, id)
		require.NoError(t, err)
		return v.Progress.Totals.Total
	}
	s.write("tasks.md", threeItems, time.Minute)
	require.Equal(t, 3, peek())
	s.write("tasks.md", threeItems+"- [ ] 4. Fourth\n", time.Minute)
	require.Equal(t, 4, peek())
	close(first)
	<-reached
	s.remove()
	items := peek()
	close(second)
	require.Equal(t, 4, items)
	require.Equal(t, 4, s.look(id).Progress.Totals.Total)
}

package sqlite_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFaultS7_NobodyStarves: four processes write as fast as they can. How long one waits is counted in commits of the
// others, which are the slower the slower the machine is. Who starves waits for all that
// another one has to write.
func TestFaultS7_NobodyStarves(t *testing.T) {
	const processes, each = 4, 500
	s, path := openNew(t)
	var racers []*child
	for range processes {
		cmd := command(t, "race", path)
		cmd.Env = append(cmd.Env, fmt.Sprint("COUNT=", each))
		c := start(t, cmd)
		require.Equal(t, "ready", c.line(t))
		racers = append(racers, c)
	}
	for _, c := range racers {
		_, err := fmt.Fprintln(c.in)
		require.NoError(t, err)
	}
	for _, c := range racers {
		longest := numbers(t, []string{c.line(t)})[0]
		require.NoError(t, c.Wait())
		t.Logf("the longest wait was one for %d commits", longest)
		require.Less(t, longest, int64(each/2))
	}
	require.EqualValues(t, processes*each, newest(t, s))
}

package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// following runs Follow in a bubble, and gives the function that reports changed paths to it.
func following(t *testing.T, s *site) (wake func(paths ...string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	signal, taken, ended := make(chan struct{}, 1), []string(nil), make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		s.Follow(ctx, signal, func() []string { return taken })
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	synctest.Wait() // it has looked at everything once
	return func(paths ...string) {
		taken = paths
		signal <- struct{}{}
		synctest.Wait()
	}
}

// live gives a site with the clock of the bubble.
func live(t *testing.T) *site { return newSite(t, watch(), deskAt(t, t.TempDir())) }

func TestFollowRecordsWhatItIsToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t)
		s.write("tasks.md", twoItems, time.Hour)
		wake := following(t, s)
		require.Equal(t, []string{"tasks.md"}, s.watched)
		s.write("tasks.md", twoItems+"- [ ] 3. Third\n", 0)
		wake("tasks.md", "tasks.md", "gone.md")
		require.Equal(t, [][]string{{"3"}}, s.changes())
	})
}

func TestFollowLooksAgainWhenAFileHasSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t)
		s.write("tasks.md", twoItems, time.Hour)
		wake := following(t, s)
		s.write("tasks.md", "- [ ] 2. Second\n", 0)
		wake("tasks.md")
		require.Empty(t, s.changes(), "half of a file was believed")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, [][]string{{"1"}}, s.changes())
	})
}

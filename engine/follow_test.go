package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// startFollow runs Follow in fake time and returns a function that reports changed paths to it.
func startFollow(t *testing.T, f *runFixture) (wake func(paths ...string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	signal, taken, ended := make(chan struct{}, 1), []string(nil), make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		f.Follow(ctx, signal, func() []string { return taken })
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

// newLiveFixture returns a fixture whose plans use the fake clock.
func newLiveFixture(t *testing.T) *runFixture {
	return newRunFixture(t, newHookedStore(t), planFixtureAt(t, t.TempDir()))
}

func TestFollowRecordsWhatItIsToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLiveFixture(t)
		f.write("tasks.md", twoItems, time.Hour)
		wake := startFollow(t, f)
		require.Equal(t, []string{"tasks.md"}, f.watched)
		f.write("tasks.md", twoItems+"- [ ] 3. Third\n", 0)
		wake("tasks.md", "tasks.md", "gone.md")
		require.Equal(t, [][]string{{"3"}}, f.changes())
	})
}

func TestFollowLooksAgainWhenAFileHasSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLiveFixture(t)
		f.write("tasks.md", twoItems, time.Hour)
		wake := startFollow(t, f)
		f.write("tasks.md", "- [ ] 2. Second\n", 0)
		wake("tasks.md")
		require.Empty(t, f.changes(), "half of a file was believed")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, [][]string{{"1"}}, f.changes())
	})
}

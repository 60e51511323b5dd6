package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/engine"
	"waybill/plan"
	"waybill/store"
)

// Many goroutines queue, wait, acknowledge, cancel, fail and read at once. Every instruction is sent exactly once,
// and every call is answered.
func TestManyAtOnce(t *testing.T) {
	const sessions, each = 4, 100
	st := newHookedStore(t)
	e := start(t, st)
	var all sync.WaitGroup
	for s := range sessions {
		session := fmt.Sprint("s", s)
		all.Go(func() {
			for i := range each {
				_, err := e.Do(t.Context(), queue(session, fmt.Sprint(i)))
				if err != nil {
					t.Error(err)
				}
				_, err = e.Do(t.Context(), breaks(func() error { panic(i) }))
				if err == nil {
					t.Error("a change that panics succeeded")
				}
			}
		})
		all.Go(func() { receive(t, e, session, each) })
	}
	all.Go(func() {
		for range each {
			ctx, cancel := context.WithCancel(t.Context())
			done := submit(ctx, e, next("nobody", 0))
			cancel()
			if o := <-done; o.err == nil {
				t.Error("a wait that was given up succeeded")
			}
		}
	})
	all.Go(func() {
		for range each {
			select {
			case st.changed <- struct{}{}:
			default:
			}
			if err := e.View(t.Context(), func(tx store.Tx) error {
				_, err := tx.InstructionCounts()
				return err
			}); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	oldest, newest := bounds(t, e)
	require.EqualValues(t, 1, oldest)
	require.EqualValues(t, 2*sessions*each, newest, "each instruction is queued and sent once")
}

// receive waits until n instructions of the session arrived, each once and in order.
func receive(t *testing.T, e *engine.Engine, session string, n int) {
	for got := 0; got < n; {
		c := next(session, 0)
		c.Wait = time.Minute
		result, err := e.Do(t.Context(), c)
		if err != nil {
			t.Error(err)
			return
		}
		for _, content := range result.([]string) {
			if content != fmt.Sprint(got) {
				t.Errorf("session %s got %s, want %d", session, content, got)
			}
			got++
		}
	}
}

// Engines start and stop under load: every call is answered.
func TestStartAndStopUnderLoad(t *testing.T) {
	st := newHookedStore(t)
	for range 20 {
		e := build(t, engine.Options{Open: open(st)})
		stop := runEngine(t, e)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for {
					if _, err := e.Do(t.Context(), next("nobody", 0)); err != nil {
						if !errors.Is(err, engine.ErrStopped) {
							t.Error(err)
						}
						return
					}
				}
			})
			all.Go(func() {
				for {
					if _, err := e.Do(t.Context(), tracked("s", "x", 0)); err != nil {
						return
					}
				}
			})
		}
		_, err := e.Do(t.Context(), queue("s", "x"))
		require.NoError(t, err)
		stop()
		all.Wait()
	}
	require.NoError(t, st.View(t.Context(), func(tx store.Tx) error {
		counts, err := tx.InstructionCounts()
		_, newest, boundsErr := tx.Bounds()
		require.NoError(t, boundsErr)
		require.EqualValues(t, newest, counts[instruction.StateQueued])
		return err
	}))
}

// Two processes read a plan while it is edited. Each record is a change, and the last one matches the file.
func TestManyLookAtAPlanThatIsEdited(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is being read cannot be replaced here")
	}
	const edits = 40
	st, plans := newHookedStore(t), newPlanFixture(t)
	plans.write("tasks.md", twoItems, time.Hour)
	sites := []*runFixture{newRunFixture(t, st, plans), newRunFixture(t, st, plans.secondReader(t))}
	id := sites[0].begin("1").ID
	sites[1].look(id)
	var all sync.WaitGroup
	done := make(chan struct{})
	for _, f := range sites {
		for range 3 {
			all.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					if _, err := f.Look(t.Context(), id); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	for i := range edits {
		plans.write("next.md", fmt.Sprintf("%s- [ ] 3. Edit %d\n", twoItems, i), time.Hour)
		require.NoError(t, os.Rename(filepath.Join(plans.dir, "next.md"), filepath.Join(plans.dir, "tasks.md")))
		sites[i%2].look(id)
	}
	close(done)
	all.Wait()
	final := sites[0].look(id).Progress.Fingerprint.Hash
	require.Equal(t, final, sites[1].look(id).Progress.Fingerprint.Hash)
	last := ""
	for _, ev := range events(t, sites[0].Engine) {
		if ev.Type == core.LedgerChanged {
			require.NotContains(t, ev.Data, fmt.Sprintf("%q", last), "the same news twice")
			var data struct{ Hash string }
			require.NoError(t, json.Unmarshal([]byte(ev.Data), &data))
			last = data.Hash
		}
	}
	require.Equal(t, final, last)
	text, err := os.ReadFile(filepath.Join(plans.dir, "tasks.md"))
	require.NoError(t, err)
	require.Equal(t, plan.Hash(text), final)
}

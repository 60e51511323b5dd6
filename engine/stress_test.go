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
	"waybill/engine"
	"waybill/ledger"
	"waybill/store"
)

// Many queue, wait, acknowledge, give up, break and look at once. Every instruction must be handed
// out exactly once, and everybody must get an answer.
func TestManyAtOnce(t *testing.T) {
	const sessions, each = 4, 100
	st := watch()
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

// receive waits again and again until n instructions of the session came, each once and in order.
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

// Engines start and stop while they are used: everybody gets an answer, and nothing is left behind.
func TestStartAndStopUnderLoad(t *testing.T) {
	st := watch()
	for range 20 {
		e := build(t, engine.Options{Open: open(st)})
		stop := run(t, e)
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
		require.EqualValues(t, newest, counts[core.StateQueued])
		return err
	}))
}

// Two processes look at a plan from many sides while it is edited. The log must tell one story: each
// record is news, and the last one is what the file says.
func TestManyLookAtAPlanThatIsEdited(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is being read cannot be replaced here")
	}
	const edits = 40
	st, d := watch(), newDesk(t)
	d.write("tasks.md", twoItems, time.Hour)
	sites := []*site{newSite(t, st, d), newSite(t, st, d.another(t))}
	id := sites[0].begin("1").ID
	sites[1].look(id)
	var all sync.WaitGroup
	done := make(chan struct{})
	for _, s := range sites {
		for range 3 {
			all.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					if _, err := s.Look(t.Context(), id); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	for i := range edits {
		d.write("next.md", fmt.Sprintf("%s- [ ] 3. Edit %d\n", twoItems, i), time.Hour)
		require.NoError(t, os.Rename(filepath.Join(d.dir, "next.md"), filepath.Join(d.dir, "tasks.md")))
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
	text, err := os.ReadFile(filepath.Join(d.dir, "tasks.md"))
	require.NoError(t, err)
	require.Equal(t, ledger.Hash(text), final)
}

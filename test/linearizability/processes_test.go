//go:build unix

package linearizability_test

import (
	"errors"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/test/linearizability"
	"waybill/test/slow"
)

const (
	stations = 8
	killed   = 4 // of them, again and again
)

// TestKilledProcessesAreLinearizable: eight processes share a store, and four of them are killed during calls and
// replaced. One order explains all answers, no answered call is lost or done twice, and all clients read the same log.
func TestKilledProcessesAreLinearizable(t *testing.T) {
	slow.Test(t)
	newHarness(t, *storeFlag).run(t, nil)
}

// run lets the clients work during kills and other faults, and checks their history.
func (y *harness) run(t *testing.T, more []func() error) {
	t.Helper()
	y.work(t, more)
	h := y.history(t)
	require.NoError(t, linearizability.Check(h), "-seed %d", y.seed)
	doctor := y.command(t, "doctor")
	doctor.Stderr = nil
	out, err := doctor.CombinedOutput()
	require.NoError(t, err, "%s", out)
	kills := 0
	for _, c := range y.clients {
		kills += c.kills
	}
	require.NotZero(t, kills)
	t.Logf("%d calls, %d kills, %d events", len(h.Calls), kills, len(h.Readers[0]))
}

// A harness holds the processes and the store that they share.
type harness struct {
	workspace, state, store string
	seed                    uint64
	chance                  *rand.Rand
	clients                 [stations]*client
	answered                atomic.Int64
	progress                chan struct{} // of size one: signalled when a call was made
}

// newHarness returns a harness on a store, or on a new file for "".
func newHarness(t *testing.T, store string) *harness {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	y := &harness{
		workspace: t.TempDir(), state: t.TempDir(), store: store, seed: seed,
		chance: rand.New(rand.NewPCG(seed, 0)), progress: make(chan struct{}, 1),
	}
	if y.store == "" {
		y.store = filepath.Join(y.state, "store.db")
	}
	start := time.Now()
	for i := range y.clients {
		y.clients[i] = &client{
			process: &process{command: func() *exec.Cmd { return y.command(t, "serve") }}, number: i,
			chance: rand.New(rand.NewPCG(seed, uint64(i)+1)), clock: func() int64 { return int64(time.Since(start)) },
			done: y.noteProgress, cursor: "0", ids: map[string]string{},
		}
		t.Cleanup(y.clients[i].kill)
	}
	return y
}

func (y *harness) command(t *testing.T, args ...string) *exec.Cmd {
	return program(t, y.workspace, y.state, append(args, "--workspace", y.workspace, "--store", y.store)...)
}

func (y *harness) noteProgress() {
	y.answered.Add(1)
	select {
	case y.progress <- struct{}{}:
	default:
	}
}

// work has all clients make their calls, and kills processes meanwhile; in between, each of more is done once.
func (y *harness) work(t *testing.T, more []func() error) {
	t.Helper()
	var failed [stations]error
	var wg sync.WaitGroup
	for i, c := range y.clients {
		wg.Go(func() { failed[i] = c.run(*callsFlag) })
	}
	ended := make(chan struct{})
	go func() { // ends with the clients
		wg.Wait()
		close(ended)
	}()
	err := y.restart(y.faults(more), ended)
	<-ended
	require.NoError(t, errors.Join(append(failed[:], err)...))
}

// faults returns what happens to those who work, in an order by chance.
func (y *harness) faults(more []func() error) []func() error {
	all := slices.Clone(more)
	for range *killsFlag {
		all = append(all, func() error {
			y.clients[y.chance.IntN(killed)].kill()
			return nil
		})
	}
	y.chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// restart deals a blow whenever some more calls were made, in the midst of the others.
func (y *harness) restart(blows []func() error, ended <-chan struct{}) error {
	apart := int64(stations * *callsFlag / (len(blows) + 1))
	for _, blow := range blows {
		next := y.answered.Load() + 1 + y.chance.Int64N(2*apart)
		for y.answered.Load() < next {
			select {
			case <-y.progress:
			case <-ended:
				return nil
			}
		}
		if err := blow(); err != nil {
			return err
		}
	}
	return nil
}

// history returns what all know when all is over, with a last look at everything.
func (y *harness) history(t *testing.T) linearizability.History {
	t.Helper()
	var h linearizability.History
	for _, c := range y.clients {
		require.NoError(t, c.read(false)) // which replaces those that were killed last
		h.Calls = append(h.Calls, c.calls...)
	}
	h.Calls = append(h.Calls, y.clients[stations-1].looks(t, h.Calls)...)
	for _, c := range y.clients {
		require.NoError(t, c.read(false))
		h.Readers = append(h.Readers, c.events)
		c.end(t)
	}
	return h
}

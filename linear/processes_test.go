//go:build unix

package linear_test

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

	"waybill/linear"
)

const (
	stations = 8
	killed   = 4 // of them, again and again
)

// TestKilledProcessesAreLinearizable: eight processes share a store, and four of them are killed with kill -9 while they
// are at work, and replaced. What their clients were told has one order, nothing that was answered is lost, nothing
// was done twice, and everybody reads the same log.
func TestKilledProcessesAreLinearizable(t *testing.T) {
	newYard(t, *storeFlag).endures(t, nil)
}

// endures has the clients work while processes are killed, and more is done to them, and judges what they were told.
func (y *yard) endures(t *testing.T, more []func() error) {
	t.Helper()
	y.work(t, more)
	h := y.history(t)
	require.NoError(t, linear.Check(h), "-seed %d", y.seed)
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

// A yard is the stations, and the store that they share.
type yard struct {
	workspace, state, store string
	seed                    uint64
	chance                  *rand.Rand
	clients                 [stations]*client
	answered                atomic.Int64
	progress                chan struct{} // of size one: signalled when a call was made
}

// newYard gives a yard on a store, or with "" on a new file.
func newYard(t *testing.T, store string) *yard {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed %d", seed)
	y := &yard{
		workspace: t.TempDir(), state: t.TempDir(), store: store, seed: seed,
		chance: rand.New(rand.NewPCG(seed, 0)), progress: make(chan struct{}, 1),
	}
	if y.store == "" {
		y.store = filepath.Join(y.state, "store.db")
	}
	start := time.Now()
	for i := range y.clients {
		y.clients[i] = &client{
			station: &station{command: func() *exec.Cmd { return y.command(t, "serve") }}, number: i,
			chance: rand.New(rand.NewPCG(seed, uint64(i)+1)), clock: func() int64 { return int64(time.Since(start)) },
			done: y.noteProgress, cursor: "0", ids: map[string]string{},
		}
		t.Cleanup(y.clients[i].kill)
	}
	return y
}

func (y *yard) command(t *testing.T, args ...string) *exec.Cmd {
	return program(t, y.workspace, y.state, append(args, "--workspace", y.workspace, "--store", y.store)...)
}

func (y *yard) noteProgress() {
	y.answered.Add(1)
	select {
	case y.progress <- struct{}{}:
	default:
	}
}

// work has all clients make their calls, and kills processes meanwhile; in between, each of more is done once.
func (y *yard) work(t *testing.T, more []func() error) {
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
	err := y.reap(y.blows(more), ended)
	<-ended
	require.NoError(t, errors.Join(append(failed[:], err)...))
}

// blows gives what happens to those who work, in an order by chance.
func (y *yard) blows(more []func() error) []func() error {
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

// reap deals a blow whenever some more calls were made, in the midst of the others.
func (y *yard) reap(blows []func() error, ended <-chan struct{}) error {
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

// history gives what all know when all is over, with a last look at everything.
func (y *yard) history(t *testing.T) linear.History {
	t.Helper()
	var h linear.History
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

package sqlite_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/store"
	"waybill/store/sqlite"
)

// BenchmarkLatestRuns measures the latest runs of a plan of two thousand items, by how many runs each of
// them has had. Beside it stands what it costs to get as many runs one by one, by their ids.
func BenchmarkLatestRuns(b *testing.B) {
	const items = 2000
	for _, each := range []int{1, 5, 20} {
		b.Run(fmt.Sprintf("runs-of-each=%d", each), func(b *testing.B) {
			s := open(b, sqlite.Options{Path: path(b)})
			update(b, s, func(tx store.Tx) error { return putJourneys(tx, items, each) })
			read := func(fn func(tx store.Tx) error) { require.NoError(b, s.View(b.Context(), fn)) }
			byID := func(tx store.Tx) error {
				for item := 1; item <= items; item++ {
					if _, ok, err := tx.Run(journeyID(item, each)); err != nil || !ok {
						return fmt.Errorf("run of item %d is there %v: %w", item, ok, err)
					}
				}
				return nil
			}
			read(byID)
			const rounds = 5
			begun := time.Now()
			for range rounds {
				read(byID)
			}
			one := time.Since(begun) / rounds
			b.ReportAllocs()
			for b.Loop() {
				read(func(tx store.Tx) error {
					runs, err := tx.LatestRuns("tasks.md")
					require.Len(b, runs, items)
					return err
				})
			}
			perCall := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(perCall.Microseconds()), "µs/call")
			b.ReportMetric(float64(one.Microseconds()), "µs/by-id")
			b.ReportMetric(float64(perCall)/float64(one), "of-by-id")
		})
	}
}

// BenchmarkRuns measures a page of runs from the middle of a store, by how many runs there are.
func BenchmarkRuns(b *testing.B) {
	for _, many := range []int{1000, 100_000} {
		s := open(b, sqlite.Options{Path: path(b)})
		for first := 1; first <= many; first += 5000 {
			update(b, s, func(tx store.Tx) error {
				for n := first; n < min(first+5000, many+1); n++ {
					r, _ := run.Start(journeyID(n, 1), fmt.Sprintf("plan-%d.md", n%10), fmt.Sprint(n), "next", coretest.Policy(), 1)
					if r.State = run.Done; n%3 == 0 {
						r.State = run.Failed
					}
					if err := tx.PutRun(r); err != nil {
						return err
					}
				}
				return nil
			})
		}
		for name, q := range map[string]store.RunQuery{
			"all": {}, "state": {State: run.Failed}, "plan": {Plan: "plan-5.md"}, "both": {Plan: "plan-5.md", State: run.Done},
		} {
			q.Behind, q.Limit = journeyID(many/2+many/4, 1), 51
			b.Run(fmt.Sprintf("runs=%d/%s", many, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					require.NoError(b, s.View(b.Context(), func(tx store.Tx) error {
						page, err := tx.Runs(q)
						require.NotEmpty(b, page)
						return err
					}))
				}
			})
		}
	}
}

// BenchmarkTallies measures what it costs to add to ten counters, without a share of a commit, and the sums
// over two thousand runs that have ten each, beside the counters of one.
func BenchmarkTallies(b *testing.B) {
	const items = 2000
	s := open(b, sqlite.Options{Path: path(b)})
	var counts []store.Tally
	for n := range int64(10) {
		counts = append(counts, store.Tally{Name: fmt.Sprint("results:of-kind-", n), N: n})
	}
	update(b, s, func(tx store.Tx) error {
		if err := putJourneys(tx, items, 1); err != nil {
			return err
		}
		for item := 1; item <= items; item++ {
			if err := tx.AddTallies(journeyID(item, 1), counts); err != nil {
				return err
			}
		}
		return nil
	})
	b.Run("add", func(b *testing.B) {
		b.ReportAllocs()
		update(b, s, func(tx store.Tx) error {
			for b.Loop() {
				if err := tx.AddTallies(journeyID(7, 1), counts); err != nil {
					return err
				}
			}
			return nil
		})
	})
	for name, id := range map[string]string{"of-one": journeyID(7, 1), "of-all": ""} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, s.View(b.Context(), func(tx store.Tx) error {
					found, err := tx.Tallies(id)
					require.Len(b, found, len(counts))
					return err
				}))
			}
		})
	}
}

// BenchmarkPrompts measures what it costs to put the last prompt of a usual size, and of the largest, in the place
// of the one before, without a share of a commit, and to get it.
func BenchmarkPrompts(b *testing.B) {
	for name, size := range map[string]int{"8KiB": 8 << 10, "1MiB": store.MaxPromptText} {
		s := open(b, sqlite.Options{Path: path(b)})
		p := promptFor(journeyID(1, 1), core.Worker)
		p.Text = strings.Repeat("x", size)
		update(b, s, func(tx store.Tx) error { return putJourneys(tx, 1, 1) })
		b.Run("put-"+name, func(b *testing.B) {
			b.ReportAllocs()
			update(b, s, func(tx store.Tx) error {
				for b.Loop() {
					if err := tx.PutPrompt(p); err != nil {
						return err
					}
				}
				return nil
			})
		})
		b.Run("get-"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, s.View(b.Context(), func(tx store.Tx) error {
					_, ok, err := tx.Prompt(p.RunID, p.Role)
					require.True(b, ok)
					return err
				}))
			}
		})
	}
}

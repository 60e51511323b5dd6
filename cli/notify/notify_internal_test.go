package notify

// These tests are inside because the hours, the minute between two commands and the memory have no other front than time.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/engine/inbox"
	"waybill/internal/ownfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func question(id string) inbox.Entry {
	return inbox.Entry{Kind: inbox.Question, Place: inbox.Place{ID: "w", Root: "/home/mary/clock"}, ID: id, Title: "Wind " + id, Text: "Which key?"}
}

// At most one command a minute, each entry once, none in quiet hours, and nothing about what was answered before.
func TestStep(t *testing.T) {
	night := hours{from: 22 * 60, to: 7 * 60}
	at := func(clock string) time.Time {
		moment, err := time.ParseInLocation("2006-01-02 15:04:05", "2026-11-28 "+clock, time.Local)
		require.NoError(t, err)
		return moment
	}
	a, b := question("a"), question("b")
	told := memory{At: at("12:00:00"), Told: []string{a.Key()}}
	for name, c := range map[string]struct {
		before  memory
		waiting []inbox.Entry
		at      string
		quiet   hours
		now     bool
		fresh   int
		wait    time.Duration
		told    int
	}{
		"nothing waits":               {at: "12:00:10"},
		"the first one":               {waiting: []inbox.Entry{a}, at: "12:00:10", now: true, fresh: 1, told: 1},
		"it was told":                 {before: told, waiting: []inbox.Entry{a}, at: "12:00:10", told: 1},
		"another one, too early":      {before: told, waiting: []inbox.Entry{a, b}, at: "12:00:10", fresh: 1, wait: 50 * time.Second, told: 1},
		"another one, a minute later": {before: told, waiting: []inbox.Entry{a, b}, at: "12:01:00", now: true, fresh: 1, told: 2},
		"it was answered":             {before: told, at: "12:00:10"},
		"at night":                    {waiting: []inbox.Entry{a}, at: "23:30:30", quiet: night, fresh: 1, wait: 7*time.Hour + 29*time.Minute + 30*time.Second},
		"in the small hours":          {waiting: []inbox.Entry{a}, at: "06:59:59", quiet: night, fresh: 1, wait: time.Second},
		"in the morning":              {waiting: []inbox.Entry{a}, at: "07:00:00", quiet: night, now: true, fresh: 1, told: 1},
		"the clock was set back":      {before: told, waiting: []inbox.Entry{b}, at: "11:00:00", now: true, fresh: 1, told: 1},
	} {
		now, next, fresh, wait := c.before.step(c.waiting, at(c.at), c.quiet)
		require.Equal(t, c.now, now, name)
		require.Len(t, fresh, c.fresh, name)
		require.Equal(t, c.wait, wait, name)
		require.Len(t, next.Told, c.told, name)
	}
	for _, bad := range []string{"22", "22:00", "22:00-24:30", "a-b", "07:00-07:00"} {
		_, err := parseHours(bad)
		require.Error(t, err, bad)
	}
}

// Two processes of one store tell each entry once, and a command that fails is a line in the log.
func TestProcessesOfAStoreTellOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "store.db"+memorySuffix)
		waiting := []inbox.Entry{question("a")}
		var texts []string
		var log strings.Builder
		start := func() (wake chan struct{}, end func()) {
			ctx, cancel := context.WithCancel(t.Context())
			wake = make(chan struct{}, 1)
			n := notifier{
				place: waiting[0].Place, file: file, logger: slog.New(slog.NewTextHandler(&log, nil)),
				look: func(context.Context) []inbox.Entry { return append([]inbox.Entry(nil), waiting...) },
				run: func(_ context.Context, text string, doc []byte) error {
					texts = append(texts, text)
					var m message
					require.NoError(t, json.Unmarshal(doc, &m))
					require.Equal(t, text, m.Text)
					return errors.New("no \x1b[2J display")
				},
			}
			done := make(chan struct{})
			go func() { defer close(done); n.watch(ctx, wake) }()
			return wake, func() { cancel(); <-done }
		}
		first, endFirst := start()
		synctest.Wait()
		second, endSecond := start()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"clock: Wind a: Which key?"}, texts)
		require.Contains(t, log.String(), `err="no \x1b[2J display"`)

		waiting = append(waiting, question("b"), question("c"))
		first <- struct{}{}
		second <- struct{}{}
		time.Sleep(time.Minute + 2*time.Second)
		synctest.Wait()
		require.Equal(t, []string{"clock: Wind a: Which key?", "clock: 3 things wait for you: Wind b: Which key?"}, texts)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Len(t, texts, 2)
		endFirst()
		endSecond()
	})
}

// Work that ends because something waits, at once after that or during a look, tells it before the process ends.
func TestWhatEndsTheWorkIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, during := range []string{"the pause after a look", "a look", "a command", "a look of another process"} {
			var waiting []inbox.Entry
			var told int
			ctx, cancel := context.WithCancel(t.Context())
			n := notifier{place: question("a").Place, file: filepath.Join(t.TempDir(), "store.db"+memorySuffix), logger: slog.New(slog.DiscardHandler)}
			n.look = func(context.Context) []inbox.Entry {
				seen := append([]inbox.Entry(nil), waiting...)
				if during == "a look" {
					waiting = []inbox.Entry{question("a")}
					cancel()
				}
				return seen
			}
			n.run = func(ctx context.Context, _ string, _ []byte) error {
				cancel()
				if ctx.Err() == nil {
					told++
				}
				return ctx.Err()
			}
			if during == "a command" {
				waiting = []inbox.Entry{question("a")}
			}
			done := make(chan struct{})
			go func() { defer close(done); n.watch(ctx, make(chan struct{})) }()
			synctest.Wait()
			if during == "a look of another process" {
				lock, err := ownfile.TryLock(n.file + ".lock")
				require.NoError(t, err)
				time.AfterFunc(2*time.Second+settle/2, func() { _ = lock.Close() })
			}
			waiting = []inbox.Entry{question("a")}
			cancel()
			<-done
			require.Equal(t, 1, told, during)
		}
	})
}

// A message is bounded, whatever agents wrote.
func TestMessageIsBounded(t *testing.T) {
	var waiting []inbox.Entry
	for i := range 500 {
		e := question(fmt.Sprint(i))
		e.Title, e.Text = strings.Repeat("\x1b]0;t\x07長い\n", 4000), strings.Repeat("\u202e$(rm -r /)\n", 4000)
		waiting = append(waiting, e)
	}
	n := notifier{place: waiting[0].Place}
	text, doc, err := n.message(waiting, waiting)
	require.NoError(t, err)
	require.Len(t, []rune(text), maxText)
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\n")
	require.Less(t, len(doc), 32<<10)
	var m message
	require.NoError(t, json.Unmarshal(doc, &m))
	require.Len(t, m.New, maxEntries)
	require.Equal(t, 500, m.Waiting)
}

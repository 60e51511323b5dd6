package transfer_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/transfer"
	"waybill/test/teststore"
)

// bent is a store of which some methods are replaced; those that are nil are honest.
type bent struct {
	store.Store
	wrap   func(store.Tx) store.Tx
	verify func() []store.Damage
	before func(view int) // is called before each View, with its number from 1
	views  int
}

func (b *bent) View(ctx context.Context, fn func(store.Tx) error) error {
	if b.views++; b.before != nil {
		b.before(b.views)
	}
	return b.Store.View(ctx, func(tx store.Tx) error {
		if b.wrap != nil {
			tx = b.wrap(tx)
		}
		return fn(tx)
	})
}

func (b *bent) Verify(ctx context.Context) ([]store.Damage, error) {
	if b.verify == nil {
		return b.Store.Verify(ctx)
	}
	return b.verify(), nil
}

func crowded(t *testing.T) store.Store {
	t.Helper()
	s := teststore.New(t)
	whole(t, s)
	return s
}

func TestSourceThatIsWrittenMeanwhileIsSaid(t *testing.T) {
	for name, write := range map[string]func(tx store.Tx) error{
		"event 10": func(tx store.Tx) error {
			_, err := tx.Append(store.Event{Type: core.LedgerChanged, Subject: "plan"})
			return err
		},
		"breaker of model zzz": func(tx store.Tx) error { return tx.PutBreaker(task.Breaker{Key: "zzz"}) },
		"beginning of the event log": func(tx store.Tx) error {
			_, err := tx.Prune(1<<62, 1)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := &bent{Store: crowded(t)}, teststore.New(t)
			first := export(t, from)
			from.views = 0
			from.before = func(view int) {
				if view == 2 { // that of the comparison
					require.NoError(t, from.Update(t.Context(), write))
				}
			}
			_, err := transfer.Migrate(t.Context(), from, to)
			var changed *transfer.ChangedError
			require.ErrorAs(t, err, &changed)
			require.Contains(t, changed.Where, name)
			require.Equal(t, string(first), string(export(t, to)), "what the source held when it was copied")
		})
	}
}

// A target that does not keep what it is given is found by the comparison.
func TestTargetThatKeepsSomethingElseIsFound(t *testing.T) {
	to := &bent{Store: teststore.New(t), wrap: func(tx store.Tx) store.Tx { tx.NoticeRecords = deaf{tx.NoticeRecords}; return tx }}
	_, err := transfer.Migrate(t.Context(), crowded(t), to)
	require.ErrorContains(t, err, "does not hold what was put into it")
	var changed *transfer.ChangedError
	require.NotErrorAs(t, err, &changed)
}

// deaf forgets what notices say.
type deaf struct{ store.NoticeRecords }

func (d deaf) Notices(session string, after int64, limit int) ([]store.Notice, error) {
	page, err := d.NoticeRecords.Notices(session, after, limit)
	for i := range page {
		page[i].Text = ""
	}
	return page, err
}

func TestDamagedStoreIsNotCopied(t *testing.T) {
	for name, from := range map[string]*bent{
		"run r: it is not what was written": {verify: func() []store.Damage {
			return []store.Damage{{What: "run r", Detail: "it is not what was written"}}
		}},
		"1 of 7 tasks cannot be read": {wrap: func(tx store.Tx) store.Tx { return fewer{Tx: tx, tasks: true}.contracts() }},
		"1 of 2 runs cannot be read":  {wrap: func(tx store.Tx) store.Tx { return fewer{Tx: tx, runs: true}.contracts() }},
		"attempt 1 of task":           {wrap: func(tx store.Tx) store.Tx { return fewer{Tx: tx, attempts: 1}.contracts() }},
		"attempt 2 of task":           {wrap: func(tx store.Tx) store.Tx { return fewer{Tx: tx, attempts: 2}.contracts() }},
		"reply 1 to task":             {wrap: func(tx store.Tx) store.Tx { return fewer{Tx: tx, replies: true}.contracts() }},
		"event 7 is missing":          {wrap: func(tx store.Tx) store.Tx { return fewer{Tx: tx, events: true}.contracts() }},
	} {
		t.Run(name, func(t *testing.T) {
			from.Store = crowded(t)
			var file bytes.Buffer
			_, err := transfer.Export(t.Context(), from, &file, "ws")
			requireDamaged(t, err, name)
			require.NotContains(t, file.String(), `"kind":"end"`)
			to := teststore.New(t)
			_, err = transfer.Migrate(t.Context(), from, to)
			requireDamaged(t, err, name)
			require.Equal(t, transfer.Counts{}, counts(t, to))
		})
	}
}

func requireDamaged(t *testing.T, err error, says string) {
	t.Helper()
	var fault *store.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, store.Corrupt, fault.Kind)
	require.Contains(t, fault.Message, says)
	require.Contains(t, fault.Message, "waybill store salvage")
}

// fewer leaves a record out of each list, as a store does with a damaged one.
type fewer struct {
	store.Tx
	tasks, runs, replies, events bool
	attempts                     int // the number of the one that is left out
}

func (f fewer) contracts() store.Tx {
	tx := f.Tx
	tx.TaskRecords, tx.RunRecords, tx.AttemptRecords, tx.EventLog = f, f, f, f
	return tx
}

func but[V any](page []V, leave bool, is func(V) bool) []V {
	var rest []V
	for _, v := range page {
		if !leave || !is(v) {
			rest = append(rest, v)
		}
	}
	return rest
}

func (f fewer) Tasks(q store.TaskQuery) ([]task.Task, error) {
	page, err := f.Tx.Tasks(q)
	first := page[0].ID
	return but(page, f.tasks, func(t task.Task) bool { return t.ID == first }), err
}

func (f fewer) Runs(q store.RunQuery) ([]run.Run, error) {
	page, err := f.Tx.Runs(q)
	return but(page, f.runs, func(r run.Run) bool { return strings.HasPrefix(r.ID, "z") }), err
}

func (f fewer) Attempts(taskID string, after, limit int) ([]task.Attempt, error) {
	page, err := f.Tx.Attempts(taskID, after, limit)
	return but(page, f.attempts > 0, func(a task.Attempt) bool { return a.Number == f.attempts }), err
}

func (f fewer) Replies(taskID string, after, limit int) ([]store.Reply, error) {
	page, err := f.Tx.Replies(taskID, after, limit)
	return but(page, f.replies, func(r store.Reply) bool { return r.Number == 1 }), err
}

func (f fewer) Events(after int64, limit int, types []core.EventType) ([]store.Event, error) {
	page, err := f.Tx.Events(after, limit, types)
	return but(page, f.events, func(ev store.Event) bool { return ev.Seq == 7 }), err
}

// An export is of one moment: what is written while it goes on is not in it, also not in part.
func TestExportIsOfOneMoment(t *testing.T) {
	s := crowded(t)
	before := export(t, s)
	from := &bent{Store: s, wrap: func(tx store.Tx) store.Tx {
		tx.EventLog = busy{tx.EventLog, func() {
			require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
				return tx.PutNotice(store.Notice{ID: "meanwhile", Position: 1 << 40})
			}))
		}}
		return tx
	}}
	require.Equal(t, string(before), string(export(t, from)))
	require.NotEqual(t, string(before), string(export(t, s)))
}

// busy has something happen while events are read.
type busy struct {
	store.EventLog
	meanwhile func()
}

func (b busy) Events(after int64, limit int, types []core.EventType) ([]store.Event, error) {
	b.meanwhile()
	return b.EventLog.Events(after, limit, types)
}

package engine_test

import (
	"database/sql"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/engine"
	"waybill/store"
	"waybill/store/sqlite"
)

// A damageFixture is an engine over a store file whose rows the test can damage.
type damageFixture struct {
	t     *testing.T
	path  string
	shift atomic.Int64 // of the clock on the wall
	e     *engine.Engine
}

func newDamageFixture(t *testing.T) *damageFixture {
	t.Helper()
	f := &damageFixture{t: t, path: filepath.Join(t.TempDir(), "store.db")}
	f.start()
	return f
}

func (f *damageFixture) start() (stop func()) {
	f.t.Helper()
	st, err := sqlite.Open(f.t.Context(), sqlite.Options{Path: f.path})
	require.NoError(f.t, err)
	f.e = build(f.t, engine.Options{Open: open(st), Now: func() time.Time {
		return time.Now().Add(time.Duration(f.shift.Load()))
	}})
	return runEngine(f.t, f.e)
}

// exec runs SQL statements on the store file.
func (f *damageFixture) exec(statements ...string) {
	f.t.Helper()
	db, err := sql.Open("sqlite", f.path)
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, db.Close()) }()
	for _, statement := range statements {
		result, err := db.ExecContext(f.t.Context(), statement)
		require.NoError(f.t, err)
		n, err := result.RowsAffected()
		require.NoError(f.t, err)
		require.Positive(f.t, n, statement)
	}
}

func (f *damageFixture) apply(fn func(tx *engine.Tx) (any, error)) any {
	f.t.Helper()
	return do(f.t, f.e, engine.Change{Apply: fn})
}

func (f *damageFixture) create(parent string, dependsOn ...string) string {
	f.t.Helper()
	return f.apply(func(tx *engine.Tx) (any, error) {
		t, err := tx.CreateTask(task.Spec{Prompt: "x", Parent: parent, MaxAttempts: 5}, dependsOn)
		return t.ID, err
	}).(string)
}

func (f *damageFixture) claim(want string) engine.Claimed {
	f.t.Helper()
	got := f.apply(func(tx *engine.Tx) (any, error) {
		return tx.ClaimTask(engine.Claim{Worker: "w", Length: time.Minute.Microseconds()})
	}).(engine.Claimed)
	require.Equal(f.t, want, got.Task.ID)
	return got
}

func (f *damageFixture) finish(got engine.Claimed, report task.Finish) task.Task {
	f.t.Helper()
	report.Token = got.Lease.Token
	return f.apply(func(tx *engine.Tx) (any, error) {
		r, err := tx.FinishAttempt(got.Task.ID, report)
		return r.Task, err
	}).(task.Task)
}

// expireLease lets every lease expire twice, beyond its one extension.
func (f *damageFixture) expireLease() {
	for range 2 {
		f.shift.Add(int64(time.Hour))
		f.apply(func(tx *engine.Tx) (any, error) {
			_, err := tx.ClaimTask(engine.Claim{Worker: "w", Role: "nobody", Length: time.Minute.Microseconds()})
			return nil, err
		})
	}
}

func (f *damageFixture) requireDegraded(what string) {
	f.t.Helper()
	status, err := f.e.StoreStatus(f.t.Context())
	require.NoError(f.t, err)
	require.Len(f.t, status.Degraded, 1)
	require.Contains(f.t, status.Degraded[0], what)
}

var transientFailure = task.Finish{
	Status: task.AttemptError, Mode: task.RetryAuto, Failure: task.Failure{Class: task.ClassTransient, Message: "it broke"},
}

// A damaged old attempt must not stop claims.
func TestDamagedAttemptHoldsUpNoClaim(t *testing.T) {
	f := newDamageFixture(t)
	id := f.apply(func(tx *engine.Tx) (any, error) {
		task, err := tx.CreateTask(task.Spec{Prompt: "x", MaxAttempts: 2}, nil)
		return task.ID, err
	}).(string)
	f.finish(f.claim(id), transientFailure)
	f.claim(id)
	next := f.create("")
	f.exec("UPDATE attempts SET worker = 'other' WHERE status = 'error'")
	f.expireLease()
	require.Equal(t, task.Errored{Reason: task.ReasonExhausted}, f.task(id).Phase)
	f.claim(next)
	f.requireDegraded("attempt ")
}

func (f *damageFixture) task(id string) (task task.Task) {
	f.t.Helper()
	require.NoError(f.t, f.e.View(f.t.Context(), func(tx store.Tx) (err error) {
		task, _, err = tx.Task(id)
		return err
	}))
	return task
}

// The lease of a damaged task cannot be ended. All others end.
func TestLeaseOfADamagedTaskHoldsUpNoOther(t *testing.T) {
	f := newDamageFixture(t)
	spoilt, sound := f.create(""), f.create("")
	f.claim(spoilt)
	f.claim(sound)
	f.exec("UPDATE task_specs SET prompt = 'other' WHERE task = (SELECT position FROM tasks WHERE id = '" + spoilt + "')")
	f.expireLease()
	require.Equal(t, 2, f.task(sound).Current.Number)
	f.claim(sound)
	f.requireDegraded("task " + spoilt)
}

// A task must finish even if one of its dependents is damaged.
func TestDamagedDependentKeepsNoTaskFromItsEnd(t *testing.T) {
	for _, status := range []task.AttemptStatus{task.AttemptCompleted, task.AttemptInterrupted} {
		f := newDamageFixture(t)
		first := f.create("ses")
		spoilt, sound := f.create("ses", first), f.create("ses", first)
		claimed := f.claim(first)
		f.exec("UPDATE task_specs SET prompt = 'other' WHERE task = (SELECT position FROM tasks WHERE id = '" + spoilt + "')")
		over := f.finish(claimed, task.Finish{Status: status})
		require.True(t, over.Status().Ended())
		if status == task.AttemptCompleted {
			f.claim(sound)
		}
		f.requireDegraded("task " + spoilt)
	}
}

// A damaged reply must not stop the claim of its task.
func TestDamagedEarlierReplyIsLeftOutOfThePrompt(t *testing.T) {
	f := newDamageFixture(t)
	id := f.create("")
	for _, answer := range []string{"one", "two", "three", "four"} {
		f.finish(f.claim(id), task.Finish{Status: task.AttemptAwaiting, Question: answer + "?"})
		f.apply(func(tx *engine.Tx) (any, error) {
			_, _, err := tx.ReplyToTask(id, task.Reply{Text: answer}, "")
			return nil, err
		})
	}
	f.exec("UPDATE replies SET text = 'other' WHERE number = 2")
	prompt := f.claim(id).Prompt
	require.Contains(t, prompt, "Question: one?\nReply: one\nReply: (left out: the stored text is damaged)\nQuestion: three?\nReply: three\n")
	require.Contains(t, prompt, "four")
	require.NotContains(t, prompt, "other")
	f.requireDegraded("reply 2 to task " + id)
}

// A damaged dependency holds its task back and is listed as unreadable.
func TestDamagedDependencyIsNamed(t *testing.T) {
	f := newDamageFixture(t)
	spoilt, sound := f.create(""), f.create("")
	id := f.create("", spoilt, sound)
	f.exec("UPDATE task_specs SET prompt = 'other' WHERE task = (SELECT position FROM tasks WHERE id = '" + spoilt + "')")
	require.NoError(t, f.e.View(t.Context(), func(tx store.Tx) error {
		tsk, _, err := tx.Task(id)
		require.NoError(t, err)
		holds, err := engine.WaitsFor(tx, tsk)
		require.Equal(t, []engine.Hold{{TaskID: spoilt}, {TaskID: sound, Status: task.StatusQueued}}, holds)
		return err
	}))
}

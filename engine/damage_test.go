package engine_test

import (
	"database/sql"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/engine"
	"waybill/store"
	"waybill/store/sqlite"
)

// A cellar is an engine over a store in a file, rows of which can be altered behind its back.
type cellar struct {
	t     *testing.T
	path  string
	shift atomic.Int64 // of the clock on the wall
	e     *engine.Engine
}

func newCellar(t *testing.T) *cellar {
	t.Helper()
	c := &cellar{t: t, path: filepath.Join(t.TempDir(), "store.db")}
	c.start()
	return c
}

func (c *cellar) start() (stop func()) {
	c.t.Helper()
	st, err := sqlite.Open(c.t.Context(), sqlite.Options{Path: c.path})
	require.NoError(c.t, err)
	c.e = build(c.t, engine.Options{Open: open(st), Now: func() time.Time {
		return time.Now().Add(time.Duration(c.shift.Load()))
	}})
	return run(c.t, c.e)
}

// alter runs statements on the file.
func (c *cellar) alter(statements ...string) {
	c.t.Helper()
	db, err := sql.Open("sqlite", c.path)
	require.NoError(c.t, err)
	defer func() { require.NoError(c.t, db.Close()) }()
	for _, statement := range statements {
		result, err := db.ExecContext(c.t.Context(), statement)
		require.NoError(c.t, err)
		n, err := result.RowsAffected()
		require.NoError(c.t, err)
		require.Positive(c.t, n, statement)
	}
}

func (c *cellar) apply(fn func(tx *engine.Tx) (any, error)) any {
	c.t.Helper()
	return do(c.t, c.e, engine.Change{Apply: fn})
}

func (c *cellar) create(parent string, dependsOn ...string) string {
	c.t.Helper()
	return c.apply(func(tx *engine.Tx) (any, error) {
		t, err := tx.CreateTask(core.Launch{Prompt: "x", Parent: parent, MaxAttempts: 5}, dependsOn)
		return t.ID, err
	}).(string)
}

func (c *cellar) claim(want string) engine.Claimed {
	c.t.Helper()
	got := c.apply(func(tx *engine.Tx) (any, error) {
		return tx.ClaimTask(engine.Claim{Worker: "w", Length: time.Minute.Microseconds()})
	}).(engine.Claimed)
	require.Equal(c.t, want, got.Task.ID)
	return got
}

func (c *cellar) finish(got engine.Claimed, report core.FinishAttempt) core.Task {
	c.t.Helper()
	report.Token = got.Lease.Token
	return c.apply(func(tx *engine.Tx) (any, error) {
		r, err := tx.FinishAttempt(got.Task.ID, report)
		return r.Task, err
	}).(core.Task)
}

// lapse lets every lease run out twice, so that nobody spares it.
func (c *cellar) lapse() {
	for range 2 {
		c.shift.Add(int64(time.Hour))
		c.apply(func(tx *engine.Tx) (any, error) {
			_, err := tx.ClaimTask(engine.Claim{Worker: "w", Role: "nobody", Length: time.Minute.Microseconds()})
			return nil, err
		})
	}
}

func (c *cellar) requireDegraded(what string) {
	c.t.Helper()
	status, err := c.e.StoreStatus(c.t.Context())
	require.NoError(c.t, err)
	require.Len(c.t, status.Degraded, 1)
	require.Contains(c.t, status.Degraded[0], what)
}

var transientFailure = core.FinishAttempt{
	Status: core.AttemptError, Mode: core.RetryAuto, Failure: core.Failure{Class: core.ClassTransient, Message: "it broke"},
}

// The defect: an old attempt that is not what was written stopped every claim, because the lease of its
// task could not be ended without its timeline.
func TestFaultS4_DamagedAttemptHoldsUpNoClaim(t *testing.T) {
	c := newCellar(t)
	id := c.apply(func(tx *engine.Tx) (any, error) {
		task, err := tx.CreateTask(core.Launch{Prompt: "x", MaxAttempts: 2}, nil)
		return task.ID, err
	}).(string)
	c.finish(c.claim(id), transientFailure)
	c.claim(id)
	next := c.create("")
	c.alter("UPDATE attempts SET worker = 'other' WHERE status = 'error'")
	c.lapse()
	require.Equal(t, core.TaskErrored{Reason: core.ReasonExhausted}, c.task(id).Phase)
	c.claim(next)
	c.requireDegraded("attempt ")
}

func (c *cellar) task(id string) (task core.Task) {
	c.t.Helper()
	require.NoError(c.t, c.e.View(c.t.Context(), func(tx store.Tx) (err error) {
		task, _, err = tx.Task(id)
		return err
	}))
	return task
}

// The lease of a task that is not what was written cannot be ended. All others end beside it.
func TestFaultS4_LeaseOfADamagedTaskHoldsUpNoOther(t *testing.T) {
	c := newCellar(t)
	spoilt, sound := c.create(""), c.create("")
	c.claim(spoilt)
	c.claim(sound)
	c.alter("UPDATE launches SET prompt = 'other' WHERE task = (SELECT position FROM tasks WHERE id = '" + spoilt + "')")
	c.lapse()
	require.Equal(t, 2, c.task(sound).Current.Number)
	c.claim(sound)
	c.requireDegraded("task " + spoilt)
}

// The defect: a task could never finish, because one of those that wait for it is not what was written.
func TestFaultS4_DamagedDependentKeepsNoTaskFromItsEnd(t *testing.T) {
	for _, status := range []core.AttemptStatus{core.AttemptCompleted, core.AttemptInterrupted} {
		c := newCellar(t)
		first := c.create("ses")
		spoilt, sound := c.create("ses", first), c.create("ses", first)
		claimed := c.claim(first)
		c.alter("UPDATE launches SET prompt = 'other' WHERE task = (SELECT position FROM tasks WHERE id = '" + spoilt + "')")
		over := c.finish(claimed, core.FinishAttempt{Status: status})
		require.True(t, over.Status().Ended())
		if status == core.AttemptCompleted {
			c.claim(sound)
		}
		c.requireDegraded("task " + spoilt)
	}
}

// The defect: the oldest task could not be claimed, and no one behind it, because an earlier answer to it
// is not what was written.
func TestFaultS4_DamagedEarlierReplyIsLeftOutOfThePrompt(t *testing.T) {
	c := newCellar(t)
	id := c.create("")
	for _, answer := range []string{"one", "two", "three", "four"} {
		c.finish(c.claim(id), core.FinishAttempt{Status: core.AttemptAwaiting, Question: answer + "?"})
		c.apply(func(tx *engine.Tx) (any, error) {
			_, _, err := tx.ReplyToTask(id, core.ReplyToTask{Text: answer}, "")
			return nil, err
		})
	}
	c.alter("UPDATE replies SET text = 'other' WHERE number = 2")
	prompt := c.claim(id).Prompt
	require.Contains(t, prompt, "Question: one?\nReply: one\nReply: (left out: what was stored is damaged)\nQuestion: three?\nReply: three\n")
	require.Contains(t, prompt, "four")
	require.NotContains(t, prompt, "other")
	c.requireDegraded("reply 2 to task " + id)
}

// A dependency that is not what was written holds its task back, and is named as what cannot be read.
func TestFaultS4_DamagedDependencyIsNamed(t *testing.T) {
	c := newCellar(t)
	spoilt, sound := c.create(""), c.create("")
	id := c.create("", spoilt, sound)
	c.alter("UPDATE launches SET prompt = 'other' WHERE task = (SELECT position FROM tasks WHERE id = '" + spoilt + "')")
	require.NoError(t, c.e.View(t.Context(), func(tx store.Tx) error {
		task, _, err := tx.Task(id)
		require.NoError(t, err)
		holds, err := engine.WaitsFor(tx, task)
		require.Equal(t, []engine.Hold{{TaskID: spoilt}, {TaskID: sound, Status: core.StatusQueued}}, holds)
		return err
	}))
}

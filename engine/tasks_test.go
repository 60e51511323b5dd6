package engine_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/engine"
	"waybill/engine/taskview"
	"waybill/store/sqlite"
	"waybill/test/golden"
)

var (
	completed   = task.Finish{Status: task.AttemptCompleted}
	interrupted = task.Finish{Status: task.AttemptInterrupted}
	ours        = task.Spec{Parent: "ses"}
)

// A noticeStory is what happens to tasks, and the notices that it brings.
type noticeStory struct {
	*taskFixture
	ids  []string
	text string
}

func (s *noticeStory) add(spec task.Spec, dependsOn ...string) (id string) {
	id = s.create(spec, dependsOn...)
	s.ids = append(s.ids, id)
	return id
}

// ends finishes a task, and writes down the notices of all sessions with numbers for the ids of tasks.
func (s *noticeStory) ends(id string, report task.Finish) {
	s.t.Helper()
	s.end(id, report)
	s.apply(func(tx *engine.Tx) (any, error) {
		notices, err := tx.Notices("", 0, 100)
		for _, n := range notices {
			s.text += fmt.Sprintf("--- to %s: %s\n%s\n%s\n", n.Session, n.Kind, n.Text, n.Data)
			if _, err := tx.Consume([]string{n.ID}); err != nil {
				return nil, err
			}
		}
		return nil, err
	})
}

// The notice of a failed task names the tasks that it holds back, and the session is told that nothing continues. The
// last notice of a session has a line for each task. Of very many tasks, twenty are named.
func TestNoticesReadAsTheGoldenFileSays(t *testing.T) {
	text := ""
	for _, story := range []struct {
		name string
		tell func(s *noticeStory)
	}{
		{"a task fails that others wait for, and then goes on", func(s *noticeStory) {
			first, beside := s.add(ours), s.add(ours)
			second := s.add(ours, first, beside)
			third := s.add(ours, second)
			s.add(task.Spec{Parent: "other"}, first)
			s.ends(first, interrupted)
			s.ends(beside, completed)
			s.apply(func(tx *engine.Tx) (any, error) { return tx.RetryTask(first, task.Model{}) })
			for _, id := range []string{first, second, third} {
				s.ends(id, completed)
			}
		}},
		{"a session had 23 tasks", func(s *noticeStory) {
			for range 23 {
				s.add(ours)
			}
			s.add(task.Spec{Parent: "other"})
			s.ends(s.ids[0], interrupted)
			for _, id := range s.ids[1:23] {
				s.text = ""
				s.ends(id, completed)
			}
		}},
		{"25 tasks wait for one that fails", func(s *noticeStory) {
			for range 26 {
				s.add(ours, s.ids[:min(1, len(s.ids))]...)
			}
			s.ends(s.ids[0], interrupted)
		}},
	} {
		s := &noticeStory{taskFixture: newTaskFixture(t)}
		story.tell(s)
		for i, id := range s.ids {
			s.text = strings.ReplaceAll(s.text, id, fmt.Sprint("task_", i+1))
		}
		text += "=== " + story.name + "\n" + s.text
	}
	golden.Equal(t, "notices.txt", regexp.MustCompile(`"attempt_id":"[^"]*",|,"duration_ms":\d+`).ReplaceAllString(text, ""))
}

// A list must not read all of five hundred dependencies of a task.
func TestTwentyDependenciesAreNamed(t *testing.T) {
	f := newTaskFixture(t)
	var all []string
	for range 30 {
		all = append(all, f.create(task.Spec{}))
	}
	id := f.create(task.Spec{}, all...)
	for n := range 12 {
		_, holds := f.task(id)
		require.Len(t, holds, min(20, 30-n))
		require.Equal(t, all[n], holds[0].TaskID)
		f.end(all[n], completed)
	}
	_, holds := f.task(id)
	require.Len(t, holds, 18)
}

// A damageFixture is an engine over a store file whose rows the test can damage.
type damageFixture struct {
	taskFixture
	path  string
	shift atomic.Int64 // of the clock on the wall
}

func newDamageFixture(t *testing.T) *damageFixture {
	t.Helper()
	f := &damageFixture{taskFixture: taskFixture{t: t}, path: filepath.Join(t.TempDir(), "store.db")}
	st, err := sqlite.Open(t.Context(), sqlite.Options{Path: f.path})
	require.NoError(t, err)
	f.e = build(t, engine.Options{Open: open(st), Now: func() time.Time {
		return time.Now().Add(time.Duration(f.shift.Load()))
	}})
	runEngine(t, f.e)
	return f
}

// exec runs an SQL statement on the store file.
func (f *damageFixture) exec(statement string) {
	f.t.Helper()
	db, err := sql.Open("sqlite", f.path)
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, db.Close()) }()
	result, err := db.ExecContext(f.t.Context(), statement)
	require.NoError(f.t, err)
	n, err := result.RowsAffected()
	require.NoError(f.t, err)
	require.Positive(f.t, n, statement)
}

func (f *damageFixture) damage(id string) {
	f.t.Helper()
	f.exec("UPDATE task_specs SET prompt = 'other' WHERE task = (SELECT position FROM tasks WHERE id = '" + id + "')")
}

// claimNext claims a task, which must be the given one.
func (f *damageFixture) claimNext(want string) engine.Claimed {
	f.t.Helper()
	got := f.claim(time.Minute)
	require.Equal(f.t, want, got.Task.ID)
	return got
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

// A damaged old attempt must not stop claims.
func TestDamagedAttemptHoldsUpNoClaim(t *testing.T) {
	f := newDamageFixture(t)
	id := f.create(task.Spec{MaxAttempts: 2})
	f.end(id, task.Finish{
		Status: task.AttemptError, Mode: task.RetryAuto, Failure: task.Failure{Class: task.ClassTransient, Message: "it broke"},
	})
	f.claimNext(id)
	next := f.create(task.Spec{})
	f.exec("UPDATE attempts SET worker = 'other' WHERE status = 'error'")
	f.expireLease()
	got, _ := f.task(id)
	require.Equal(t, task.Errored{Reason: task.ReasonExhausted}, got.Phase)
	f.claimNext(next)
	f.requireDegraded("attempt ")
}

// The lease of a damaged task cannot be ended. All others end.
func TestLeaseOfADamagedTaskHoldsUpNoOther(t *testing.T) {
	f := newDamageFixture(t)
	spoilt, sound := f.create(task.Spec{MaxAttempts: 5}), f.create(task.Spec{MaxAttempts: 5})
	f.claimNext(spoilt)
	f.claimNext(sound)
	f.damage(spoilt)
	f.expireLease()
	require.Equal(t, 2, f.claimNext(sound).Task.Current.Number)
	f.requireDegraded("task " + spoilt)
}

// A task must finish even if one of its dependents is damaged.
func TestDamagedDependentKeepsNoTaskFromItsEnd(t *testing.T) {
	for _, status := range []task.AttemptStatus{task.AttemptCompleted, task.AttemptInterrupted} {
		f := newDamageFixture(t)
		first := f.create(ours)
		spoilt, sound := f.create(ours, first), f.create(ours, first)
		claimed := f.claimNext(first)
		f.damage(spoilt)
		over := f.finish(claimed, task.Finish{Status: status})
		require.True(t, over.Status().Ended())
		if status == task.AttemptCompleted {
			f.claimNext(sound)
		}
		f.requireDegraded("task " + spoilt)
	}
}

// A damaged reply must not stop the claim of its task.
func TestDamagedEarlierReplyIsLeftOutOfThePrompt(t *testing.T) {
	f := newDamageFixture(t)
	id := f.create(task.Spec{})
	for _, answer := range []string{"one", "two", "three", "four"} {
		f.end(id, task.Finish{Status: task.AttemptAwaiting, Question: answer + "?"})
		f.apply(func(tx *engine.Tx) (any, error) {
			_, _, err := tx.ReplyToTask(id, task.Reply{Text: answer}, "", "")
			return nil, err
		})
	}
	f.exec("UPDATE replies SET text = 'other' WHERE number = 2")
	prompt := f.claimNext(id).Prompt
	require.Contains(t, prompt, "Question: one?\nReply: one\nReply: (left out: the stored text is damaged)\nQuestion: three?\nReply: three\n")
	require.Contains(t, prompt, "four")
	require.NotContains(t, prompt, "other")
	f.requireDegraded("reply 2 to task " + id)
}

// A damaged dependency holds its task back and is listed as unreadable.
func TestDamagedDependencyIsNamed(t *testing.T) {
	f := newDamageFixture(t)
	spoilt, sound := f.create(task.Spec{}), f.create(task.Spec{})
	id := f.create(task.Spec{}, spoilt, sound)
	f.damage(spoilt)
	_, holds := f.task(id)
	require.Equal(t, []taskview.Hold{{TaskID: spoilt}, {TaskID: sound, Status: task.StatusQueued}}, holds)
}

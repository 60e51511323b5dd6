package engine_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
	"waybill/engine"
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

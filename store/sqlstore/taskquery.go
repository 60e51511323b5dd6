package sqlstore

import (
	"errors"
	"slices"
	"strings"

	"waybill/core"
	"waybill/core/task"
	"waybill/store"
)

// The texts of statements contain the statuses that core defines, in the order of the indexes.
const (
	free   = "tasks.status = '" + string(task.StatusQueued) + "' AND tasks.waits = 0"
	asking = "tasks.status = '" + string(task.StatusAwaiting) + "'"

	selectNextReady = "SELECT coalesce(min(not_before), 0) FROM tasks INDEXED BY tasks_due WHERE tasks.workspace = :w AND (" + free +
		" OR " + asking + ") AND not_before > 0 AND not_before > ?"
)

var liveTerm = text{Of: func() string { return "tasks.status IN (" + quoted(liveStatuses()) + ")" }}

func liveStatuses() []task.Status { return slices.DeleteFunc(task.Statuses(), task.Status.Ended) }

// quoted writes statuses as SQL has them.
func quoted(statuses []task.Status) string {
	texts := make([]string, len(statuses))
	for i, status := range statuses {
		texts[i] = "'" + string(status) + "'"
	}
	return strings.Join(texts, ", ")
}

func (t taskRecords) Tasks(q store.TaskQuery) ([]task.Task, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = store.DefaultLimit
	}
	if t.c.Streams() || len(q.Except) > 0 {
		text, args := selectingTasks(q)
		return listed(t.Tx, limit, t.takeTask, text, args...)
	}
	return bounded(t.Tx, limit, t.takeTask, func(asked int64) (string, []any) { return boundingTasks(q, asked) })
}

// boundingTasks returns the statement that lists at most asked of what a query selects. It limits the tasks before
// joining them and reads live tasks status by status, so that it reads no more rows than it returns.
func boundingTasks(q store.TaskQuery, asked int64) (text string, args []any) {
	order := " ORDER BY position" + map[bool]string{true: " DESC"}[q.Newest]
	var texts []string
	for _, status := range mergedStatuses(q) {
		if status != "" {
			q.Live, q.Status = false, status
		}
		where, more := taskConditions(q)
		texts = append(texts, "(SELECT * FROM tasks"+where+order+limited+")")
		args = append(append(args, more...), asked)
	}
	from := texts[0]
	if len(texts) > 1 {
		from, args = "("+strings.Join(texts, " UNION ALL ")+order+limited+")", append(args, asked)
	}
	return "SELECT " + taskColumns() + " FROM " + from + " AS tasks" + strings.TrimPrefix(taskTable(""), "tasks") +
		" WHERE tasks.workspace = :w" + strings.Replace(order, "position", "tasks.position", 1), args
}

// listed runs a query that returns at most limit values, one a row. Damaged rows are recorded and left out, so that they
// block no other row; a LIMIT in the statement would count them.
func listed[V any](t *Tx, limit int, take func(*Row) (V, error), text string, args ...any) (page []V, err error) {
	if !t.c.Streams() {
		return bounded(t, limit, take, func(asked int64) (string, []any) {
			return text + limited, append(slices.Clone(args), asked)
		})
	}
	err = t.get(func() error {
		if limit < 1 {
			return nil
		}
		page, _, err = paged(t, limit, take, text, args...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// bounded is listed for a statement that contains its own limit. It queries again if too many rows were left out.
func bounded[V any](t *Tx, limit int, take func(*Row) (V, error), statement func(asked int64) (string, []any)) (page []V, err error) {
	err = t.get(func() error {
		if limit < 1 {
			return nil
		}
		for asked := limit; ; asked *= 2 {
			text, args := statement(int64(asked))
			var seen int
			page, seen, err = paged(t, limit, take, text, args...)
			if err != nil || len(page) == limit || seen < asked {
				return err
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// paged returns at most limit things, and how many rows were read for them.
func paged[V any](t *Tx, limit int, take func(*Row) (V, error), text string, args ...any) (page []V, seen int, err error) {
	err = t.c.Query(func(r *Row) error {
		seen++
		one, err := take(r)
		if err != nil {
			return t.leaveOut(err)
		}
		if page = append(page, one); len(page) == limit {
			return errEnough
		}
		return nil
	}, text, args...)
	return page, seen, ending(err)
}

// errEnough ends the reading of a list that is full.
var errEnough = errors.New("the list is full")

// ending returns the error of a reading, if it is more than its end.
func ending(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// selectingTasks returns the statement that lists the tasks of a query. Live tasks and those of a parent are listed status
// by status, which SQLite merges in the order of the index.
func selectingTasks(q store.TaskQuery) (text string, args []any) {
	statuses := mergedStatuses(q)
	var texts []string
	for _, status := range statuses {
		if status != "" {
			q.Live, q.Status = false, status
		}
		where, more := taskConditions(q)
		texts = append(texts, "SELECT "+taskColumns()+" FROM "+taskTable(bestIndex(q))+where)
		args = append(args, more...)
	}
	order := " ORDER BY tasks.position"
	if len(statuses) > 1 {
		order = " ORDER BY 1" // the columns decide the order of a merge
	}
	if q.Newest {
		order += " DESC"
	}
	return strings.Join(texts, " UNION ALL ") + order, args
}

// mergedStatuses returns the statuses that are listed one by one, or "" if all are listed at once.
func mergedStatuses(q store.TaskQuery) []task.Status {
	switch {
	case q.Status != "" || q.RunID != "" || q.ReadyAt != 0:
		return []task.Status{""}
	case q.Live:
		return liveStatuses()
	case q.Parent != "":
		return task.Statuses()
	}
	return []task.Status{""}
}

// bestIndex names the index for the tasks of a run or a parent, and for ready tasks. SQLite has no row counts and would
// choose another one. A run has few tasks, so their statuses are checked one by one; a parent may have all tasks.
func bestIndex(q store.TaskQuery) string {
	switch {
	case q.RunID != "":
		return " INDEXED BY tasks_run"
	case q.Parent != "":
		return " INDEXED BY tasks_parent"
	case q.ReadyAt != 0:
		return " INDEXED BY tasks_ready"
	case q.DefaultBy != 0:
		return " INDEXED BY tasks_due"
	}
	return ""
}

// taskConditions returns the WHERE of a query and its arguments. The statement contains the words and zeros of an index
// literally, because the planner uses a partial index only if the text itself matches it.
func taskConditions(q store.TaskQuery) (where string, args []any) {
	terms := []string{"tasks.workspace = :w"}
	add := func(term string, values ...any) {
		terms = append(terms, term)
		args = append(args, values...)
	}
	if q.Status != "" {
		add(statusTerm(q.Status))
	}
	if q.Live {
		add(liveTerm.Get())
	}
	if q.RunID != "" {
		add("tasks.run_id <> '' AND tasks.run_id = ?", q.RunID)
	}
	if q.Role != "" {
		add("tasks.role = ?", q.Role)
	}
	if q.Parent != "" {
		add("tasks.parent <> '' AND tasks.parent = ?", q.Parent)
	}
	if q.ReadyAt != 0 {
		add(free+" AND (tasks.not_before <= ? OR tasks.not_before > ?)",
			int64(q.ReadyAt), int64(q.ReadyAt)+task.MaxBackoff)
	}
	if q.DefaultBy != 0 {
		add(asking+" AND tasks.not_before > 0 AND tasks.not_before <= ?", int64(q.DefaultBy))
	}
	if len(q.Except) > 0 {
		add("coalesce(attempts.model_key, '') NOT IN (?" + strings.Repeat(", ?", len(q.Except)-1) + ")")
		for _, key := range q.Except {
			args = append(args, key)
		}
	}
	if q.After != 0 {
		add("tasks.position "+map[bool]string{false: ">", true: "<"}[q.Newest]+" ?", q.After)
	}
	return " WHERE " + strings.Join(terms, " AND "), args
}

func statusTerm(status task.Status) string {
	if taskIndex(status) < 0 {
		return "FALSE"
	}
	return "tasks.status = " + quoted([]task.Status{status})
}

func (t taskRecords) CountTasks(q store.TaskQuery) (n int, err error) {
	text, args := countingTasks(q)
	err = t.get(func() error {
		count, err := Number(t.c, text, args...)
		n = int(count)
		return err
	})
	return n, err
}

// countingTasks returns the statement that counts what a query selects.
func countingTasks(q store.TaskQuery) (text string, args []any) {
	q.After = 0
	where, args := taskConditions(q)
	from := "tasks" + bestIndex(q)
	if len(q.Except) > 0 {
		from += newestAttempt
	}
	return "SELECT count(*) FROM " + from + where, args
}

func (t taskRecords) NextReady(after core.Instant) (next core.Instant, err error) {
	err = t.get(func() error {
		at, err := Number(t.c, selectNextReady, int64(after))
		next = core.Instant(at)
		return err
	})
	return next, err
}

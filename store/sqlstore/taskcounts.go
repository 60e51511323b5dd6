package sqlstore

import (
	"slices"

	"waybill/core/task"
)

// taskCounts counts the tasks by status, in the order of core.TaskStatuses.
type taskCounts [7]int64

func taskIndex(s task.Status) int { return slices.Index(task.Statuses(), s) }

const (
	countNames       = "queued, running, complete, awaiting_response, error, cancelled, blocked, sum"
	selectTaskCounts = "SELECT " + countNames + " FROM task_counts WHERE task_counts.workspace = :w"
	updateTaskCounts = "UPDATE task_counts SET (" + countNames + ") = (?, ?, ?, ?, ?, ?, ?, ?) WHERE task_counts.workspace = :w AND one = 1"
	whatTaskCounts   = Damaged("the count of tasks")
)

func readTaskCounts(c Conn) (counts taskCounts, err error) {
	found := false
	var buf encoder
	err = c.Query(func(r *Row) error {
		found = r.sound(kindTaskCounts, len(counts), &buf)
		for i := range counts {
			counts[i] = r.Integer()
		}
		return r.err
	}, selectTaskCounts)
	if err == nil && !found {
		err = whatTaskCounts
	}
	return counts, err
}

// theTaskCounts returns the counts, for reading.
func (t *Tx) theTaskCounts() (*taskCounts, error) {
	if t.book.countsRead {
		return &t.book.counts, nil
	}
	counts, err := readTaskCounts(t.c)
	if err != nil {
		return nil, err
	}
	t.book.counts, t.book.countsRead = counts, true
	return &t.book.counts, nil
}

// count notes, for commit to store, that a task has come from one status to another. "" is none.
func (t *Tx) count(from, to task.Status) error {
	if from == to {
		return nil
	}
	counts, err := t.theTaskCounts()
	if err != nil {
		return err
	}
	if from != "" {
		counts[taskIndex(from)]--
	}
	if to != "" {
		counts[taskIndex(to)]++
	}
	t.book.countsPut = true
	return nil
}

func (t *Tx) storeTaskCounts() error {
	if !t.book.countsPut {
		return nil
	}
	values := make([]any, 0, len(t.book.counts)+1)
	for _, n := range t.book.counts {
		values = append(values, n)
	}
	_, err := t.c.Exec(updateTaskCounts, t.summed(kindTaskCounts, values)...)
	return err
}

func (t *Tx) TaskCounts() (counts map[task.Status]int, err error) {
	err = t.get(func() error {
		stored, err := t.theTaskCounts()
		if err != nil {
			return err
		}
		counts = make(map[task.Status]int)
		for i, status := range task.Statuses() {
			counts[status] = int(stored[i])
		}
		return nil
	})
	return counts, err
}

// FoundTaskCounts writes the counts of no tasks, with which a store begins.
func FoundTaskCounts(c Conn) error {
	values := make([]any, len(taskCounts{}))
	for i := range values {
		values[i] = int64(0)
	}
	sum := encoder(nil).table(kindTaskCounts).columns(values).sum()
	_, err := c.Exec("INSERT INTO task_counts (workspace, one, "+countNames+") VALUES (:w, 1, ?, ?, ?, ?, ?, ?, ?, ?)", append(values, sum)...)
	return err
}

package memory

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"waybill/core"
	"waybill/store"
)

// tasks is what a state holds of tasks and of what belongs to them.
type tasks struct {
	byPosition    *node[int64, core.Task] // without their newest attempts
	taskPositions *node[string, int64]    // by id
	taskCounts    [7]int                  // in the order of core.TaskStatuses
	dependents    *node[string, *node[string, struct{}]]
	replies       *node[string, *node[int, store.Reply]]
	breakers      *node[string, core.Breaker]

	attempts *node[string, *node[int, core.Attempt]] // by task and number
	seats    *node[string, seat]                     // of the attempts, by id
	tokens   *node[string, seat]
	sessions *node[string, *node[int, seat]] // by number: all of one task
	running  *node[string, seat]             // by id
}

// seat says where an attempt is.
type seat struct {
	taskID string
	number int
}

func taskIndex(s core.TaskStatus) int { return slices.Index(core.TaskStatuses(), s) }

// task gives a task with its newest attempt.
func (s *tasks) task(id string) (t core.Task, ok bool) {
	position, ok := s.taskPositions.get(id)
	if !ok {
		return t, false
	}
	t, _ = s.byPosition.get(position)
	return s.whole(t), true
}

// whole gives the task with its newest attempt.
func (s *tasks) whole(t core.Task) core.Task {
	of, _ := s.attempts.get(t.ID)
	t.Current, _ = of.get(of.count()) // numbers have no gaps
	return t
}

func (t *tx) Task(id string) (task core.Task, ok bool, err error) {
	if err := t.getting(); err != nil {
		return task, false, err
	}
	task, ok = t.state.task(id)
	return task, ok, nil
}

func (t *tx) PutTask(task core.Task) error {
	if err := t.putting(); err != nil {
		return err
	}
	old, ok := t.state.task(task.ID)
	if err := t.permittedTask(old, ok, task); err != nil {
		return fmt.Errorf("put task %s: %w", task.ID, err)
	}
	if ok {
		t.state.taskCounts[taskIndex(old.Status())]--
	}
	t.state.taskCounts[taskIndex(task.Status())]++
	task.Current = core.Attempt{}
	t.state.byPosition = t.state.byPosition.put(task.Position, task)
	t.state.taskPositions = t.state.taskPositions.put(task.ID, task.Position)
	t.touch(task.ID)
	return nil
}

// permittedTask reports which rule of PutTask the value breaks, or nil.
func (t *tx) permittedTask(old core.Task, exists bool, task core.Task) error {
	if exists {
		if old.Launch != task.Launch || old.Position != task.Position || old.CreatedAt != task.CreatedAt {
			return errors.New("how it was launched, its position and when it was created cannot be replaced")
		}
		return nil
	}
	if task.Position < 1 {
		return fmt.Errorf("position %d is below 1", task.Position)
	}
	if other, ok := t.state.byPosition.get(task.Position); ok {
		return fmt.Errorf("position %d is taken by %s", task.Position, other.ID)
	}
	return nil
}

// touch counts a write and notes that the task has to be coherent in the end.
func (t *tx) touch(taskID string) {
	if t.touched == nil {
		t.touched = make(map[string]bool)
	}
	t.touched[taskID] = true
	t.writes++
}

// settled tells which of the tasks that the transaction touched is not coherent, or nil.
func (t *tx) settled() error {
	for _, id := range slices.Sorted(maps.Keys(t.touched)) {
		task, _ := t.state.task(id)
		if err := store.Coherent(task); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) Tasks(q store.TaskQuery) ([]core.Task, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = store.DefaultLimit
	}
	var page []core.Task
	for _, task := range t.state.tasksBehind(q) {
		if task = t.state.whole(task); selectsTask(q, task) {
			page = append(page, task)
		}
		if len(page) == limit {
			break
		}
	}
	return page, nil
}

// tasksBehind gives all tasks where a query goes on, in its direction.
func (s *tasks) tasksBehind(q store.TaskQuery) iter.Seq2[int64, core.Task] {
	switch {
	case !q.Newest:
		return s.byPosition.after(q.After)
	case q.After == 0:
		return s.byPosition.backwards()
	}
	return s.byPosition.before(q.After)
}

func (t *tx) CountTasks(q store.TaskQuery) (int, error) {
	if err := t.getting(); err != nil {
		return 0, err
	}
	n := 0
	for _, task := range t.state.byPosition.all() {
		if selectsTask(q, t.state.whole(task)) {
			n++
		}
	}
	return n, nil
}

func (t *tx) NextReady(after core.Instant) (next core.Instant, err error) {
	if err := t.getting(); err != nil {
		return 0, err
	}
	for _, task := range t.state.byPosition.all() {
		p, queued := task.Phase.(core.TaskQueued)
		if queued && task.Waits == 0 && p.NotBefore > after && (next == 0 || p.NotBefore < next) {
			next = p.NotBefore
		}
	}
	return next, nil
}

func selectsTask(q store.TaskQuery, t core.Task) bool {
	switch {
	case q.Status != "" && t.Status() != q.Status,
		q.Live && t.Status().Ended(),
		q.RunID != "" && t.Launch.RunID != q.RunID,
		q.Role != "" && t.Launch.Role != q.Role,
		q.Parent != "" && t.Launch.Parent != q.Parent,
		q.ReadyAt != 0 && !t.Claimable(q.ReadyAt):
		return false
	}
	return !slices.Contains(q.Except, t.Current.Model.Key())
}

func (t *tx) TaskCounts() (map[core.TaskStatus]int, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	counts := make(map[core.TaskStatus]int)
	for i, status := range core.TaskStatuses() {
		counts[status] = t.state.taskCounts[i]
	}
	return counts, nil
}

func (t *tx) AddDependency(taskID, on string) error {
	if err := t.putting(); err != nil {
		return err
	}
	for _, id := range []string{taskID, on} {
		if _, ok := t.state.taskPositions.get(id); !ok {
			return fmt.Errorf("add dependency of %s on %s: there is no task %q", taskID, on, id)
		}
	}
	waiting, _ := t.state.dependents.get(on)
	if _, twice := waiting.get(taskID); twice {
		return nil
	}
	t.state.dependents = t.state.dependents.put(on, waiting.put(taskID, struct{}{}))
	t.writes++
	return nil
}

func (t *tx) DropTask(id string) (ok bool, err error) {
	if err := t.putting(); err != nil {
		return false, err
	}
	task, ok := t.state.task(id)
	if !ok {
		return false, nil
	}
	if !task.Status().Forgettable() {
		return false, fmt.Errorf("drop task %s: it is %s", id, task.Status())
	}
	waiting, _ := t.state.dependents.get(id)
	for dependent := range waiting.all() {
		one, _ := t.state.task(dependent)
		if task.Status().NeededBy(one.Status()) {
			return false, fmt.Errorf("drop task %s: %s, which is not over, depends on it", id, dependent)
		}
	}
	t.state.removeTask(task)
	delete(t.touched, id)
	t.writes++
	return true, nil
}

// removeTask removes a task with all that belongs to it.
func (s *tasks) removeTask(task core.Task) {
	of, _ := s.attempts.get(task.ID)
	for _, a := range of.all() {
		s.seats = s.seats.remove(a.ID)
		s.tokens = s.tokens.remove(a.Token())
		s.leaveSession(a)
		s.running = s.running.remove(a.ID)
	}
	s.attempts = s.attempts.remove(task.ID)
	s.replies = s.replies.remove(task.ID)
	s.dependents = s.dependents.remove(task.ID)
	for on, waiting := range s.dependents.all() {
		if waiting = waiting.remove(task.ID); waiting == nil {
			s.dependents = s.dependents.remove(on)
		} else {
			s.dependents = s.dependents.put(on, waiting)
		}
	}
	s.taskCounts[taskIndex(task.Status())]--
	s.byPosition = s.byPosition.remove(task.Position)
	s.taskPositions = s.taskPositions.remove(task.ID)
}

func (t *tx) Dependents(on, after string, limit int) ([]string, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	waiting, _ := t.state.dependents.get(on)
	var page []string
	for id := range waiting.after(after) {
		if len(page) >= limit {
			break
		}
		page = append(page, id)
	}
	return page, nil
}

package rows

import (
	"encoding/json"
	"fmt"

	"waybill/core"
)

// The kinds of rows, which go into their sums.
const (
	kindTask       = 't'
	kindLaunch     = 'l'
	kindSaid       = 's'
	kindCarried    = 'c'
	kindAttempt    = 'A'
	kindReply      = 'R'
	kindDependency = 'd'
	kindBreaker    = 'b'
	kindTaskCounts = 'T'
	kindTally      = 'y'
	kindPrompt     = 'p'
)

var (
	taskNames = []string{
		"position", "id", "run_id", "role", "parent", "max_attempts", "created_at", "updated_at", "waits", "failures",
		"on_model", "replies", "says", "carries", "status", "not_before", "stopped_at", "reason",
	}
	launchNames  = []string{"task", "prompt", "description", "chain", "depends_on", "labels"}
	saidNames    = []string{"task", "output", "question"}
	carriedNames = []string{"task", "reply"}

	// taskColumns are all that make a task, with its newest attempt.
	taskColumns = qualified("tasks", taskNames) + ", " + qualified("launches", launchNames) + ", " +
		qualified("said", saidNames) + ", " + qualified("carried", carriedNames) + ", " + qualified("attempts", attemptNames)
	selectTask = "SELECT " + taskColumns + " FROM " + taskTable("") + " WHERE tasks.workspace = :w AND tasks.id = ?"

	insertTask   = inserting("tasks", taskNames)
	insertLaunch = inserting("launches", launchNames)
	putSaid      = replacing("said", 1, saidNames)
	putCarried   = replacing("carried", 1, carriedNames)
)

const newestAttempt = ` LEFT JOIN attempts ON attempts.task = tasks.position AND attempts.workspace = tasks.workspace
	AND attempts.number = (SELECT max(number) FROM attempts AS a WHERE a.task = tasks.position AND a.workspace = tasks.workspace)`

// taskTable gives what taskColumns are of. The tasks are looked up as by says.
func taskTable(by string) string {
	return "tasks" + by + newestAttempt + ` LEFT JOIN launches ON launches.task = tasks.position AND launches.workspace = tasks.workspace
		LEFT JOIN said ON said.task = tasks.position AND said.workspace = tasks.workspace
		LEFT JOIN carried ON carried.task = tasks.position AND carried.workspace = tasks.workspace`
}

func says(t core.Task) bool { return t.Output != "" || t.Question != "" }

// taskRow gives the values of taskNames.
func taskRow(t core.Task) []any {
	notBefore, stoppedAt, reason := taskPhaseRow(t.Phase)
	return []any{
		t.Position, t.ID, t.Launch.RunID, t.Launch.Role, t.Launch.Parent, int64(t.Launch.MaxAttempts),
		int64(t.CreatedAt), int64(t.UpdatedAt), int64(t.Waits), int64(t.Spent.Failures), int64(t.Spent.OnModel),
		int64(t.Replies), flag(says(t)), flag(t.Reply != ""), string(t.Status()), notBefore, stoppedAt, reason,
	}
}

// taskPhaseRow gives not_before, stopped_at and reason: what a status does not have is 0 or NULL.
func taskPhaseRow(phase core.TaskPhase) (notBefore, stoppedAt, reason any) {
	switch p := phase.(type) {
	case core.TaskQueued:
		return int64(p.NotBefore), nil, nil
	case core.TaskRunning:
		if p.CancelAt == 0 {
			return int64(0), nil, orNull(p.CancelReason)
		}
		return int64(0), int64(p.CancelAt), p.CancelReason
	case core.TaskComplete, core.TaskAwaiting:
		return int64(0), nil, nil
	case core.TaskErrored:
		return int64(0), nil, string(p.Reason)
	case core.TaskCancelled:
		return int64(0), int64(p.At), p.Reason
	case core.TaskBlocked:
		return int64(0), int64(p.At), p.Reason
	}
	panic("rows: task without a phase")
}

func launchRow(t core.Task) []any {
	l := t.Launch
	return []any{t.Position, l.Prompt, l.Description, chainText(l.Chain), l.DependsOn, l.Labels}
}

func saidRow(t core.Task) []any { return []any{t.Position, t.Output, t.Question} }

func carriedRow(t core.Task) []any { return []any{t.Position, t.Reply} }

// chainText writes a chain as a JSON array of triples.
func chainText(c core.Chain) string {
	models := c.Models()
	if len(models) == 0 {
		return ""
	}
	triples := make([][3]string, len(models))
	for i, m := range models {
		triples[i] = [3]string{m.Provider, m.ID, m.Variant}
	}
	text, err := json.Marshal(triples)
	if err != nil {
		panic("rows: strings do not encode: " + err.Error())
	}
	return string(text)
}

func parseChain(text string) (core.Chain, error) {
	if text == "" {
		return core.Chain{}, nil
	}
	var triples [][3]string
	if err := json.Unmarshal([]byte(text), &triples); err != nil {
		return core.Chain{}, fmt.Errorf("read a chain: %w", err)
	}
	models := make([]core.Model, len(triples))
	for i, t := range triples {
		models[i] = core.Model{Provider: t[0], ID: t[1], Variant: t[2]}
	}
	return core.NewChain(models)
}

// takeTask takes taskColumns and checks each part against its sum.
func takeTask(r *Row, buf *encoder) (t core.Task, err error) {
	t.Position, _ = r.values[0].(int64)
	t.ID, _ = r.values[1].(string)
	for _, take := range []func(*Row, *encoder, *core.Task) bool{takeTaskRow, takeLaunch, takeSaid, takeCarried} {
		if !take(r, buf, &t) || r.err != nil {
			return t, Damaged("task " + t.ID)
		}
	}
	if r.values[r.next] != nil { // only within the transaction that creates it, a task has no attempt
		_, t.Current, err = takeAttempt(r, buf, t.ID)
	}
	return t, err
}

func takeTaskRow(r *Row, buf *encoder, t *core.Task) bool {
	if !r.sound(kindTask, len(taskNames), buf) {
		return false
	}
	next := func() int { return int(r.Integer()) }
	_, _ = r.Integer(), r.Text() // position and id
	t.Launch.RunID, t.Launch.Role, t.Launch.Parent, t.Launch.MaxAttempts = r.Text(), r.Text(), r.Text(), next()
	t.CreatedAt, t.UpdatedAt = core.Instant(r.Integer()), core.Instant(r.Integer())
	t.Waits, t.Spent.Failures, t.Spent.OnModel, t.Replies = next(), next(), next(), next()
	saysRow, carriesRow := r.Integer() != 0, r.Integer() != 0
	status := core.TaskStatus(r.Text())
	t.Phase = taskPhase(status, core.Instant(r.Integer()), core.Instant(r.maybeInteger()), r.maybeText())
	r.take() // the sum
	said, carried := r.values[r.next+len(launchNames)+1], r.values[r.next+len(launchNames)+len(saidNames)+2]
	return t.Phase != nil && saysRow == (said != nil) && carriesRow == (carried != nil)
}

// taskPhase gives the phase, or nil if there is no such status.
func taskPhase(status core.TaskStatus, notBefore, stoppedAt core.Instant, reason string) core.TaskPhase {
	switch status {
	case core.StatusQueued:
		return core.TaskQueued{NotBefore: notBefore}
	case core.StatusRunning:
		return core.TaskRunning{CancelAt: stoppedAt, CancelReason: reason}
	case core.StatusComplete:
		return core.TaskComplete{}
	case core.StatusAwaiting:
		return core.TaskAwaiting{}
	case core.StatusError:
		return core.TaskErrored{Reason: core.ErrorReason(reason)}
	case core.StatusCancelled:
		return core.TaskCancelled{At: stoppedAt, Reason: reason}
	case core.StatusBlocked:
		return core.TaskBlocked{At: stoppedAt, Reason: reason}
	}
	return nil
}

func takeLaunch(r *Row, buf *encoder, t *core.Task) bool {
	if !r.sound(kindLaunch, len(launchNames), buf) {
		return false
	}
	r.take() // the position
	t.Launch.Prompt, t.Launch.Description = r.Text(), r.Text()
	var err error
	t.Launch.Chain, err = parseChain(r.Text())
	t.Launch.DependsOn, t.Launch.Labels = r.Text(), r.Text()
	r.take() // the sum
	return err == nil
}

func takeSaid(r *Row, buf *encoder, t *core.Task) bool {
	if r.values[r.next] == nil {
		r.next += len(saidNames) + 1
		return true
	}
	if !r.sound(kindSaid, len(saidNames), buf) {
		return false
	}
	r.take() // the position
	t.Output, t.Question = r.Text(), r.Text()
	r.take() // the sum
	return true
}

func takeCarried(r *Row, buf *encoder, t *core.Task) bool {
	if r.values[r.next] == nil {
		r.next += len(carriedNames) + 1
		return true
	}
	if !r.sound(kindCarried, len(carriedNames), buf) {
		return false
	}
	r.take() // the position
	t.Reply = r.Text()
	r.take() // the sum
	return true
}

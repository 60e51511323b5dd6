package law

import (
	"fmt"

	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/task"
	"waybill/store"
)

func drawText(t *rapid.T, what string) string { return rapid.StringN(0, 8, 40).Draw(t, what) }

func drawSome(t *rapid.T, what string) bool { return rapid.IntRange(0, 2).Draw(t, what) == 0 }

// drawWholeTask returns a task in any phase that core can produce, with a matching first attempt.
func drawWholeTask(t *rapid.T) task.Task {
	one := drawTask(t)
	one.Current = drawAttempt(t, one.ID, 1)
	one.Phase = as(one, one.Current).Phase
	switch p := one.Phase.(type) {
	case task.Queued:
		p.NotBefore = rapid.SampledFrom([]core.Instant{0, start, start + day}).Draw(t, "not before")
		one.Phase = p
	case task.Running:
		if drawSome(t, "cancelled") {
			one.Phase = task.Running{CancelAt: drawInstant(t), CancelReason: drawText(t, "reason")}
		}
	case task.Errored:
		one.Phase = task.Errored{Reason: rapid.SampledFrom(coretest.ErrorReasons()).Draw(t, "reason")}
	case task.Cancelled:
		one.Phase = task.Cancelled{At: drawInstant(t), Reason: drawText(t, "reason")}
		if drawSome(t, "blocked") {
			one.Phase = task.Blocked{At: drawInstant(t), Reason: drawText(t, "reason")}
		}
	case task.Awaiting:
		one.Phase = task.Awaiting{DefaultAt: rapid.SampledFrom([]core.Instant{0, start, start + day}).Draw(t, "default at")}
	case task.Complete, task.Blocked:
	}
	return one
}

// drawTask returns a task whose fixed fields nearly always follow from its number, without a phase.
func drawTask(t *rapid.T) task.Task {
	n := rapid.Int64Range(1, 6).Draw(t, "task")
	one := newTask(fmt.Sprint("tsk", n), n)
	one.Spec.RunID = []string{"", "run1", "run2"}[n%3]
	one.Spec.Role = []string{"", "worker"}[n%2]
	one.Spec.Parent = []string{"a", ""}[n%2]
	if n%3 == 0 {
		one.Spec.Chain = task.Chain{}
	}
	if n%3 == 1 {
		one.Spec.Description, one.Spec.DependsOn, one.Spec.Labels = "why", `["tsk1"]`, `{"k":"v"}`
	}
	if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
		one.Position, one.Spec.Prompt = drawAfter(t), drawText(t, "prompt")
	}
	one.UpdatedAt = drawInstant(t)
	one.Waits = max(0, rapid.IntRange(-2, 2).Draw(t, "waits"))
	one.Spent.Failures = rapid.IntRange(0, one.Spec.MaxAttempts-1).Draw(t, "failures")
	one.Spent.OnModel = rapid.IntRange(0, one.Spent.Failures).Draw(t, "on model")
	one.Output, one.Question, one.Reply = drawText(t, "output"), drawText(t, "question"), drawText(t, "reply")
	one.Replies = rapid.IntRange(1, 3).Draw(t, "replies")
	return one
}

func drawModel(t *rapid.T) task.Model {
	return rapid.SampledFrom([]task.Model{
		{},
		{Provider: "Anthropic", ID: "opus-4.1", Variant: "high"},
		{Provider: "openai", ID: "gpt-5"},
		{Provider: "OpenAI", ID: "GPT-5", Variant: "low"},
	}).Draw(t, "model")
}

// drawAttempt returns an attempt in any phase that core can produce. Tokens and sessions are few, so that some collide.
func drawAttempt(t *rapid.T, taskID string, number int) task.Attempt {
	a := attempt(taskID, number)
	a.Model, a.Link, a.Stale = drawModel(t), rapid.IntRange(-1, 1).Draw(t, "link"), rapid.IntRange(0, 2).Draw(t, "stale")
	worker := drawText(t, "worker")
	session := rapid.SampledFrom([]string{"", "ses1", "ses2", "ses3", "ses4"}).Draw(t, "session")
	started, token := drawInstant(t), drawID(t, "tok")
	status := rapid.SampledFrom(coretest.AttemptStatuses()).Draw(t, "status")
	switch status {
	case task.AttemptPending:
		return a
	case task.AttemptRunning:
		lease := task.Lease{Token: token, Epoch: number, ExpiresAt: drawInstant(t), Length: rapid.Int64Range(1, 9).Draw(t, "length"), Spared: drawSome(t, "spared")}
		a.Phase = task.RunningAttempt{Worker: worker, Session: session, StartedAt: started, Lease: lease}
		return a
	case task.AttemptCompleted, task.AttemptError, task.AttemptInterrupted, task.AttemptLost, task.AttemptAwaiting, task.AttemptCancelled:
	}
	p := task.EndedAttempt{Status: status, Worker: worker, Session: session, StartedAt: started, At: started + day, Token: token}
	if status == task.AttemptCancelled && drawSome(t, "never began") {
		p = task.EndedAttempt{Status: status, At: drawInstant(t)}
	}
	if drawSome(t, "failed") {
		p.Failure = task.Failure{
			Class: rapid.SampledFrom(task.Classes()).Draw(t, "class"), Name: drawText(t, "name"),
			HTTP: rapid.IntRange(0, 599).Draw(t, "http"), Message: drawText(t, "message"),
		}
	}
	p.Digest = drawText(t, "digest")
	a.Phase = p
	return a
}

func drawTaskVerb(t *rapid.T) verb {
	return rapid.OneOf(
		rapid.Custom(drawPutWhole), rapid.Custom(drawStep), rapid.Custom(drawStep), rapid.Custom(drawStep),
		rapid.Custom(drawPutHalf), rapid.Custom(drawDropTask), rapid.Custom(drawAddReply), rapid.Custom(drawAddDependency), rapid.Custom(drawPutBreaker),
	).Draw(t, "task verb")
}

func drawPutWhole(t *rapid.T) verb {
	one := drawWholeTask(t)
	return verb{fmt.Sprintf("PutTask and PutAttempt %+v", one), func(tx store.Tx) string {
		return answer(tx.PutTask(one)) + answer(tx.PutAttempt(one.Current))
	}}
}

// drawPutHalf puts only a task or only an attempt, which seldom fits to what there is.
func drawPutHalf(t *rapid.T) verb {
	one := drawWholeTask(t)
	if drawSome(t, "task only") {
		return verb{fmt.Sprintf("PutTask %+v", one), func(tx store.Tx) string { return answer(tx.PutTask(one)) }}
	}
	a := drawAttempt(t, one.ID, rapid.IntRange(1, 4).Draw(t, "number"))
	return verb{fmt.Sprintf("PutAttempt %+v", a), func(tx store.Tx) string { return answer(tx.PutAttempt(a)) }}
}

func drawDropTask(t *rapid.T) verb {
	id := drawID(t, "tsk")
	return verb{"DropTask " + id, func(tx store.Tx) string {
		ok, err := tx.DropTask(id)
		return answer(err, ok)
	}}
}

// agreedOffer has two options, of which time takes one.
var agreedOffer, _ = task.NewOffer([]task.Option{{Label: "a"}, {Label: "b"}}, false, "a", 1_000_000)

// drawStep has an event happen to a task, as the engine does.
func drawStep(t *rapid.T) verb {
	id, at, token := drawID(t, "tsk"), drawInstant(t), drawID(t, "tok")
	next := task.Successor{AttemptID: drawID(t, "att_"+id+"_"), Base: rapid.Int64Range(0, 9).Draw(t, "base")}
	failure := task.Failure{Class: rapid.SampledFrom(task.Classes()).Draw(t, "class"), Message: drawText(t, "message")}
	event := rapid.SampledFrom([]task.Event{
		task.Claim{At: at, Worker: "w", Token: token, Length: 7},
		task.Claim{At: at, Worker: "w", Token: token, Length: int64(3 * day)},
		task.Heartbeat{At: at, Token: token, Length: 8},
		task.Bind{At: at, AttemptID: next.AttemptID, Token: token, Session: drawID(t, "ses"), Model: drawModel(t)},
		task.Expire{At: at, Next: next},
		task.Finish{At: at, Token: token, Status: task.AttemptCompleted, Output: drawText(t, "output")},
		task.Finish{At: at, Token: token, Status: task.AttemptAwaiting, Question: "which?", Offer: agreedOffer},
		task.TakeDefault{At: at + day, Next: next},
		task.Finish{At: at, Token: token, Status: task.AttemptError, Failure: failure, Mode: task.RetryAuto, Next: next},
		task.ReportSession{At: at, Session: drawID(t, "ses"), Kind: task.SessionError, Failure: failure, Next: next},
		task.Retry{At: at, Model: drawModel(t), Next: next},
		task.Cancel{At: at, Reason: drawText(t, "reason")},
		task.Reply{At: at, Text: "that one", Next: next},
		task.Reply{At: at, Option: "b", Next: next},
		task.Block{At: at, Reason: drawText(t, "reason")},
		task.DependencyDone{At: at},
	}).Draw(t, "event")
	return verb{fmt.Sprintf("%T %+v happens to %s", event, event, id), func(tx store.Tx) string {
		now, ok, err := tx.Task(id)
		_, release := event.(task.DependencyDone)
		if err != nil || !ok || store.Coherent(now) != nil || release && now.Waits == 0 {
			return answer(err, ok)
		}
		after, err := step(tx, id, event)
		return answer(err, after)
	}}
}

func drawAddReply(t *rapid.T) verb {
	r := reply(drawID(t, "tsk"), rapid.IntRange(0, 4).Draw(t, "number"))
	r.Text = drawText(t, "text")
	return verb{fmt.Sprintf("AddReply %+v", r), func(tx store.Tx) string { return answer(tx.AddReply(r)) }}
}

func drawAddDependency(t *rapid.T) verb {
	id, on := drawID(t, "tsk"), drawID(t, "tsk")
	return verb{"AddDependency " + id + " on " + on, func(tx store.Tx) string { return answer(tx.AddDependency(id, on)) }}
}

func drawPutBreaker(t *rapid.T) verb {
	b := task.Breaker{
		Key: drawID(t, "key"), Failures: rapid.IntRange(0, 9).Draw(t, "failures"),
		Opened: rapid.IntRange(0, 2).Draw(t, "opened"), Until: drawInstant(t), Probe: drawText(t, "probe"),
	}
	return verb{fmt.Sprintf("PutBreaker %+v", b), func(tx store.Tx) string { return answer(tx.PutBreaker(b)) }}
}

func drawGetTask(t *rapid.T) verb {
	number := drawID(t, "")
	after, limit := rapid.IntRange(0, 4).Draw(t, "after"), drawLimit(t)
	return verb{fmt.Sprintf("get of task %s behind %d, %d", number, after, limit), func(tx store.Tx) string {
		one, ok, err := tx.Task("tsk" + number)
		a, okA, errA := tx.Attempt("att_tsk" + number + "_1")
		bound, okBound, errBound := tx.AttemptOf("ses" + number)
		under, okUnder, errUnder := tx.AttemptUnder("tok" + number)
		all, errAll := tx.Attempts("tsk"+number, after, limit)
		given, errGiven := tx.Replies("tsk"+number, after, limit)
		waiting, errWaiting := tx.Dependents("tsk"+number, fmt.Sprint("tsk", after), limit)
		b, okB, errB := tx.Breaker("key" + number)
		return answer(err, one, ok) + answer(errA, a, okA) + answer(errBound, bound, okBound) +
			answer(errUnder, under, okUnder) + answer(errAll, all) + answer(errGiven, given) +
			answer(errWaiting, waiting) + answer(errB, b, okB)
	}}
}

func drawTaskQuery(t *rapid.T) verb {
	q := store.TaskQuery{Live: drawSome(t, "live"), Limit: rapid.IntRange(0, 5).Draw(t, "limit")}
	if drawSome(t, "by status") {
		q.Status = rapid.SampledFrom(task.Statuses()).Draw(t, "status")
	}
	if drawSome(t, "by run") {
		q.RunID = drawID(t, "run")
	}
	if drawSome(t, "by role") {
		q.Role = "worker"
	}
	if drawSome(t, "by parent") {
		q.Parent = "a"
	}
	if drawSome(t, "ready") {
		q.ReadyAt = drawInstant(t)
	} else if drawSome(t, "default") {
		q.DefaultBy = drawInstant(t)
	}
	if drawSome(t, "except") {
		q.Except = append(q.Except, drawModel(t).Key(), drawModel(t).Key())
	}
	q.Newest = drawSome(t, "newest")
	if drawSome(t, "after") {
		q.After = drawAfter(t)
	}
	return verb{fmt.Sprintf("Tasks %+v", q), func(tx store.Tx) string {
		page, err := tx.Tasks(q)
		n, errCount := tx.CountTasks(q)
		return answer(err, page) + answer(errCount, n)
	}}
}

func drawLeased(t *rapid.T) verb {
	after, limit := drawInstant(t), drawLimit(t)
	return verb{fmt.Sprintf("Leased %d %d", after, limit), func(tx store.Tx) string {
		page, err := tx.Leased(after, limit)
		ready, errReady := tx.NextReady(after)
		return answer(err, page) + answer(errReady, ready)
	}}
}

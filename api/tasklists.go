package api

import (
	"context"
	"strconv"
	"strings"

	"waybill/api/entity"
	"waybill/api/question"
	"waybill/core"
	"waybill/core/task"
	"waybill/engine/taskview"
	"waybill/schema"
	"waybill/store"
)

func (s *Service) getTask(ctx context.Context, p *schema.TaskParams) (*schema.TaskDetail, error) {
	d := &schema.TaskDetail{}
	return d, s.withTask(ctx, p.TaskID, func(tx store.Tx, t task.Task, now core.Instant) (err error) {
		if d.Task, err = wireTask(tx, t, now); err != nil {
			return err
		}
		attempts, _, err := taskview.Timeline(tx, t, task.TimelineLines)
		if err != nil {
			return err
		}
		d.Attempts, d.AttemptsTotal = entity.All(attempts, wireAttempt), t.Current.Number
		d.RepliesTotal = t.Replies
		after := or(p.RepliesAfter, max(0, t.Replies-maxReplies))
		replies, err := tx.Replies(t.ID, after, maxReplies)
		if p.RepliesAfter != nil {
			d.Replies = entity.All(oldest(replies), question.Reply)
		} else {
			d.Replies = entity.All(newest(replies), question.Reply)
		}
		d.ReplyHistory = entity.All(d.Replies, func(r schema.Reply) schema.ReplyText { return schema.ReplyText{Content: r.Reply, Timestamp: r.At} })
		return err
	})
}

// maxReplies bounds the replies that get_task returns.
const maxReplies = 50

// oldest returns the first replies that fit into one answer, and at least one.
func oldest(replies []store.Reply) []store.Reply {
	size := 0
	for i, r := range replies {
		if size += 2*len(r.Text) + len(r.Question); size > pageBytes && i > 0 {
			return replies[:i]
		}
	}
	return replies
}

// newest returns the last replies that fit into one answer, and at least one.
func newest(replies []store.Reply) []store.Reply {
	size := 0
	for i := len(replies) - 1; i >= 0; i-- {
		if size += 2*len(replies[i].Text) + len(replies[i].Question); size > pageBytes && i < len(replies)-1 {
			return replies[i+1:]
		}
	}
	return replies
}

// withTask runs fn with a task in one read transaction, or returns that the task is missing.
func (s *Service) withTask(ctx context.Context, id string, fn func(tx store.Tx, t task.Task, now core.Instant) error) error {
	e, _, err := s.backend()
	if err != nil {
		return err
	}
	return e.View(ctx, func(tx store.Tx) error {
		t, ok, err := tx.Task(id)
		if err != nil {
			return err
		}
		if !ok {
			return core.Missing("task", id)
		}
		return fn(tx, t, e.Now())
	})
}

func (s *Service) getTimeline(ctx context.Context, p *schema.TimelineParams) (*schema.Timeline, error) {
	w := &schema.Timeline{}
	return w, s.withTask(ctx, p.TaskID, func(tx store.Tx, t task.Task, _ core.Instant) error {
		attempts, text, err := taskview.Timeline(tx, t, or(p.MaxLines, task.TimelineLines))
		w.Attempts, w.Total, w.Text = entity.All(attempts, briefAttempt), t.Current.Number, text
		return err
	})
}

func (s *Service) listTasks(ctx context.Context, p *schema.ListTasksParams) (*schema.TaskList, error) {
	list := &schema.TaskList{Items: []schema.Task{}}
	q := store.TaskQuery{Status: task.Status(p.Status), RunID: p.RunID, Parent: p.ParentSessionID, Newest: p.Order == newestFirst}
	next, err := s.pageOfTasks(ctx, q, p.Page, func(tx store.Tx, t task.Task, now core.Instant) (int, error) {
		w, err := wireTask(tx, t, now)
		w = shortened(w)
		list.Items = append(list.Items, w)
		return taskBytes(w), err
	})
	list.NextCursor = next
	return list, err
}

func (s *Service) listAwaiting(ctx context.Context, p *schema.ListAwaitingParams) (*schema.AwaitingList, error) {
	list := &schema.AwaitingList{Items: []schema.Awaiting{}}
	q := store.TaskQuery{Status: task.StatusAwaiting}
	next, err := s.pageOfTasks(ctx, q, p.Page, func(_ store.Tx, t task.Task, now core.Instant) (int, error) {
		w := question.Awaiting(t, now)
		list.Items = append(list.Items, w)
		return len(w.Question) + len(w.OutputExcerpt) + len(w.Description) + question.Bytes(w.Offered), nil
	})
	list.NextCursor = next
	return list, err
}

// newestFirst is an order of task lists. Its cursors begin with it, so that they are not used with the other order.
const newestFirst = "newest"

// taskCursor returns the cursor after a position.
func taskCursor(newest bool, position int64) string {
	cursor := strconv.FormatInt(position, 10)
	if newest {
		return newestFirst + ":" + cursor
	}
	return cursor
}

// tasksAfter reads the cursor of a list of tasks.
func tasksAfter(newest bool, page schema.Page) (int64, error) {
	cursor, ofNewest := strings.CutPrefix(page.Cursor, newestFirst+":")
	if page.Cursor == "" || !newest && !ofNewest {
		return pageAfter(page)
	}
	after, err := strconv.ParseInt(cursor, 10, 64)
	if newest != ofNewest || err != nil || after < 1 {
		return 0, badParam("/cursor", "next_cursor of the previous page, with the same order", page.Cursor)
	}
	return after, nil
}

// pageOfTasks calls fn with each task of a page and returns the next cursor. fn returns the bytes of the task.
func (s *Service) pageOfTasks(ctx context.Context, q store.TaskQuery, page schema.Page, fn func(store.Tx, task.Task, core.Instant) (int, error)) (next string, err error) {
	e, _, err := s.backend()
	if err != nil {
		return "", err
	}
	if q.After, err = tasksAfter(q.Newest, page); err != nil {
		return "", err
	}
	limit := or(page.Limit, schema.DefaultPage)
	err = e.View(ctx, func(tx store.Tx) error {
		next = ""
		size := 0
		return eachTask(tx, q, func(i int, before, t task.Task) (bool, error) {
			if i == limit || size > pageBytes {
				next = taskCursor(q.Newest, before.Position)
				return false, nil
			}
			bytes, err := fn(tx, t, e.Now())
			size += bytes
			return true, err
		})
	})
	return next, err
}

// tasksAtOnce bounds the tasks in memory, because each may have megabytes of which a list shows the beginning.
const tasksAtOnce = 8

// eachTask calls fn with the tasks of a query in order, and with the task before each, until fn returns false.
func eachTask(tx store.TaskRecords, q store.TaskQuery, fn func(i int, before, t task.Task) (bool, error)) error {
	var before task.Task
	q.Limit = tasksAtOnce
	for i := 0; ; {
		found, err := tx.Tasks(q)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, t := range found {
			if more, err := fn(i, before, t); err != nil || !more {
				return err
			}
			before = task.Task{Position: t.Position} // drops the texts
			i++
		}
		q.After = before.Position
	}
}

// shortened returns a task as a list shows it.
func shortened(t schema.Task) schema.Task {
	t.Prompt, t.Output, t.Question = entity.Beginning(t.Prompt), entity.Beginning(t.Output), entity.Beginning(t.Question)
	t.UserReply, t.Description, t.Reason = entity.Beginning(t.UserReply), entity.Beginning(t.Description), entity.Beginning(t.Reason)
	if t.Error != nil {
		t.Error.Message = entity.Beginning(t.Error.Message)
	}
	return t
}

// taskBytes returns the approximate size of the fields whose length the host determines.
func taskBytes(t schema.Task) int {
	size := len(t.Prompt) + len(t.Output) + len(t.Question) + len(t.UserReply) + len(t.Description) + len(t.Reason) + question.Bytes(t.Offered)
	for k, v := range t.Labels {
		size += len(k) + len(v)
	}
	for _, m := range t.Models {
		size += len(m.ProviderID) + len(m.ModelID) + len(m.Variant)
	}
	for _, id := range t.DependsOn {
		size += 2 * len(id) // waiting_for may repeat it
	}
	return size
}

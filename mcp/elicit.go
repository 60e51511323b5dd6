package mcp

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/schema"
)

// The tool that brings questions to a person and answers back. Where the host can show a form, the person is asked
// directly, and no model stands between the question and the answer.

const (
	answerKey    = "answer"     // names the one thing that the host is asked for
	modernEra    = "2026-07-28" // from here on, a call is answered with what it needs; before, the server asks by itself
	maxAsked     = 4 << 10      // of a question in a form
	maxInList    = 500          // of a question in a list
	askedAtATime = 10
)

// answerForm is the form that a person fills in.
var answerForm = jsontext.Value(`{"type":"object","properties":{"reply":{"type":"string","title":"Your answer",` +
	`"description":"It goes to the agent word for word."}},"required":["reply"]}`)

func (s *server) reply(c *call) (facts, *schema.Error) {
	_, named := c.params["task_id"]
	_, answered := c.params["reply"]
	switch {
	case answered:
		return s.answer(c, c.params)
	case named:
		return s.ask(c)
	}
	return s.questions(c)
}

// answer passes a person's words on.
func (s *server) answer(c *call, params object) (facts, *schema.Error) {
	params["by"] = c.client()
	var r schema.ReplyResult
	if fault := s.caller.call(c.ctx, "reply", params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.add("task_id", r.TaskID)
	f.put("answered", r.Success)
	f.add("old_status", r.OldStatus)
	f.add("new_status", r.NewStatus)
	return f, nil
}

// questions lists what waits for a person.
func (s *server) questions(c *call) (facts, *schema.Error) {
	params := object{"limit": askedAtATime}
	if cursor := c.args.text("cursor"); cursor != "" {
		params["cursor"] = cursor
	}
	var r schema.AwaitingList
	if fault := s.caller.call(c.ctx, "list_awaiting", params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.put("count", len(r.Items))
	f.add("questions", listOf(r.Items, waiting))
	f.add("next_cursor", r.NextCursor)
	if len(r.Items) > 0 {
		f.add("do", "Call reply with one task_id alone to have the person asked; or ask the user yourself, then call reply with "+
			"task_id, attempt_id and reply.")
	}
	return f, nil
}

func waiting(a schema.Awaiting) (f facts) {
	f.add("task_id", a.TaskID)
	f.add("attempt_id", a.AttemptID)
	f.add("since", string(a.Since))
	f.add("description", said(a.Description, maxLine))
	f.add("question", said(a.Question, maxInList))
	f.add("url", a.URL)
	return f
}

// A question is what a task asks.
type question struct {
	taskID, attemptID string
	description, text string
}

// ask has the person asked, as far as the host can.
func (s *server) ask(c *call) (facts, *schema.Error) {
	q, fault := s.question(c)
	if fault != nil {
		return nil, fault
	}
	switch p := c.req.Params; {
	case p.RequestState != "" || p.InputResponses != nil:
		return s.returned(c, q)
	case !c.shows():
		return q.relayed(""), nil
	case eraOf(c.req.Session) >= modernEra:
		c.needs = &need{form: q.form(), state: s.seal.close(q, time.Now().Add(answerTime))}
		return nil, nil
	}
	return s.elicit(c, q)
}

// elicit asks the person by way of a host that is asked by its server. It waits no longer for the answer than a form
// may be filled in; then the host is told to take the form away, and the model asks.
func (s *server) elicit(c *call, q question) (facts, *schema.Error) {
	ctx, cancel := context.WithTimeout(c.ctx, answerTime)
	defer cancel()
	result, err := c.req.Session.Elicit(ctx, q.form())
	switch {
	case c.ctx.Err() != nil:
		return nil, schema.NewError(schema.Cancelled, "the call was cancelled; nothing has changed")
	case err != nil && ctx.Err() != nil:
		return q.relayed(errLate.Error()), nil
	case err != nil:
		return q.relayed(err.Error()), nil
	}
	return s.settle(c, q, result)
}

// question gives what a task asks now.
func (s *server) question(c *call) (question, *schema.Error) {
	var r schema.TaskDetail
	if fault := s.caller.call(c.ctx, "get_task", object{"task_id": c.params["task_id"]}, &r); fault != nil {
		return question{}, fault
	}
	t := &r.Task
	if t.Status != "AWAITING_RESPONSE" {
		return question{}, schema.NewError(schema.InvalidState, "the task is "+t.Status+" and asks nothing").
			Hint("call reply without task_id for the tasks that do")
	}
	q := question{t.TaskID, t.CurrentAttemptID, said(t.Description, maxLine), t.Question}
	if q.text == "" {
		q.text = t.Output
	}
	if asked := c.args.text("attempt_id"); asked != "" && asked != q.attemptID {
		return question{}, goneOn()
	}
	return q, nil
}

func goneOn() *schema.Error {
	return schema.NewError(schema.AlreadyResolved, "that question was answered, or the task has gone on since; nothing has changed").
		Hint("call get_task, or reply without task_id for the questions that wait")
}

// form is what the host shows to the person.
func (q question) form() *sdk.ElicitParams {
	message := said(q.text, maxAsked)
	if q.description != "" {
		message = q.description + "\n\n" + message
	}
	return &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: answerForm}
}

// relayed leaves it to the model to ask, and says why.
func (q question) relayed(why string) (f facts) {
	f.add("task_id", q.taskID)
	f.add("attempt_id", q.attemptID)
	f.put("answered", false)
	f.add("description", q.description)
	f.add("question", said(q.text, maxAsked))
	f.add("host_said", folded(why))
	f.add("do", "The host did not ask the person. Ask the user, then call reply with task_id, attempt_id and their words as reply.")
	return f
}

// returned takes the answer to a form that was given to the host earlier.
func (s *server) returned(c *call, q question) (facts, *schema.Error) {
	switch err := s.seal.open(c.req.Params.RequestState, q, time.Now()); {
	case errors.Is(err, errOther):
		return nil, goneOn()
	case err != nil:
		return nil, schema.NewError(schema.InvalidParams, err.Error()).Hint("call reply with task_id alone to have the person asked again")
	}
	result, ok := c.req.Params.InputResponses[answerKey].(*sdk.ElicitResult)
	if !ok {
		return nil, schema.NewError(schema.InvalidParams, "inputResponses has no answer to the form").
			Hint("call reply with task_id alone to have the person asked again")
	}
	return s.settle(c, q, result)
}

// settle does what the person wants.
func (s *server) settle(c *call, q question, result *sdk.ElicitResult) (facts, *schema.Error) {
	if result.Action != "accept" {
		var f facts
		f.add("task_id", q.taskID)
		f.add("attempt_id", q.attemptID)
		f.put("answered", false)
		f.add("person", map[string]string{"decline": "declined", "cancel": "cancelled"}[result.Action])
		f.add("do", "Nothing has changed: the person gave no answer, and the task goes on waiting.")
		return f, nil
	}
	words, _ := result.Content["reply"].(string)
	return s.answer(c, object{"task_id": q.taskID, "attempt_id": q.attemptID, "reply": words})
}

// shows reports whether the client can show a form. One that does not say what it can show can show forms.
func (c *call) shows() bool {
	can := c.req.ClientCapabilities()
	return can != nil && can.Elicitation != nil && (can.Elicitation.Form != nil || can.Elicitation.URL == nil)
}

// A need is what a call lacks that the host has to ask a person for.
type need struct {
	form  *sdk.ElicitParams
	state string
}

func (n *need) result() *sdk.CallToolResult {
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{answerKey: n.form}, RequestState: n.state}
}

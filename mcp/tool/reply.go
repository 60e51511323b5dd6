package tool

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"waybill/mcp/inert"
	"waybill/mcp/message"
	"waybill/schema"
	"waybill/schema/codec"
)

// This file has the tool reply, which brings questions to a person. If the host can show a form, the person is asked
// directly, without a model between the question and the answer.

const (
	formMethod   = "elicitation/create"
	answerKey    = "answer" // key of the form in requests and responses
	maxAsked     = 4 << 10  // bytes of a question in a form
	maxInList    = 500      // bytes of a question in a list
	askedAtATime = 10
)

// answerForm is the schema of the form that a person fills in.
var answerForm = jsontext.Value(`{"type":"object","properties":{"reply":{"type":"string","title":"Your answer",` +
	`"description":"It goes to the agent word for word."}},"required":["reply"]}`)

func (c *call) reply() (facts, *schema.Error) {
	_, named := c.params["task_id"]
	_, answered := c.params["reply"]
	switch {
	case answered:
		return c.answer(c.params)
	case named:
		return c.ask()
	}
	return c.listQuestions()
}

// answer passes a person's reply to the task.
func (c *call) answer(params object) (facts, *schema.Error) {
	params["by"] = c.client.nameOf()
	var r schema.ReplyResult
	if fault := c.set.Caller.Call(c.ctx, "reply", params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.add("task_id", r.TaskID)
	f.put("answered", r.Success)
	f.add("old_status", r.OldStatus)
	f.add("new_status", r.NewStatus)
	return f, nil
}

// listQuestions lists the tasks that wait for a person.
func (c *call) listQuestions() (facts, *schema.Error) {
	params := object{"limit": askedAtATime}
	if cursor := c.args.text("cursor"); cursor != "" {
		params["cursor"] = cursor
	}
	var r schema.AwaitingList
	if fault := c.set.Caller.Call(c.ctx, "list_awaiting", params, &r); fault != nil {
		return nil, fault
	}
	var f facts
	f.put("count", len(r.Items))
	f.add("questions", listOf(r.Items, awaitingFacts))
	f.add("next_cursor", r.NextCursor)
	if len(r.Items) > 0 {
		f.add("do", "Call reply with one task_id alone to have the person asked; or ask the user yourself, then call reply with "+
			"task_id, attempt_id and reply.")
	}
	return f, nil
}

func awaitingFacts(a schema.Awaiting) (f facts) {
	f.add("task_id", a.TaskID)
	f.add("attempt_id", a.AttemptID)
	f.add("since", string(a.Since))
	f.add("description", inert.Cut(a.Description, maxLine))
	f.add("question", inert.Cut(a.Question, maxInList))
	f.addOptions(a.Offered)
	f.add("url", a.URL)
	return f
}

// addOptions adds the labels of a question.
func (f *facts) addOptions(o schema.Offered) {
	if len(o.Options) == 0 {
		return
	}
	list := labels(o)
	for i := range list {
		list[i] = inert.Cut(list[i], maxLine)
	}
	f.add("options", list)
	f.add("default", inert.Cut(o.Default, maxLine))
}

// A question is the question of a task that waits for a person.
type question struct {
	taskID, attemptID string
	description, text string
	offered           schema.Offered
}

// ask asks the person by a form if the host supports that, and otherwise asks the model to do so.
func (c *call) ask() (facts, *schema.Error) {
	q, fault := c.currentQuestion()
	if fault != nil {
		return nil, fault
	}
	switch {
	case c.state != "" || c.form != nil:
		return c.acceptForm(q)
	case !c.client.Forms:
		return q.askByModel(""), nil
	case c.client.Modern:
		c.set.o.Changed() // the answer may come to the next process
		c.needs = &message.ToolResult{
			Head: message.Head{ResultType: "input_required"}, Content: []message.Text{},
			InputRequests: map[string]message.Form{answerKey: {Method: formMethod, Params: q.form()}}, RequestState: c.set.Signer.sign(q, time.Now().Add(answerTime)),
		}
		return nil, nil
	}
	return c.askByForm(q)
}

// askByForm sends the form to a host of the legacy era and waits for the answer. After answerTime it withdraws the
// form and lets the model ask.
func (c *call) askByForm(q question) (facts, *schema.Error) {
	ctx, cancel := context.WithTimeout(c.ctx, answerTime)
	defer cancel()
	var result message.FormResult
	err := c.set.o.Ask(ctx, formMethod, q.form(), &result)
	switch {
	case c.ctx.Err() != nil:
		return nil, schema.NewError(schema.Cancelled, "the call was cancelled; nothing has changed")
	case err != nil && ctx.Err() != nil:
		return q.askByModel(errFormExpired.Error()), nil
	case err != nil:
		return q.askByModel(err.Error()), nil
	}
	return c.applyAnswer(q, &result)
}

// currentQuestion returns the question that a task asks now.
func (c *call) currentQuestion() (question, *schema.Error) {
	var r schema.TaskDetail
	if fault := c.set.Caller.Call(c.ctx, "get_task", object{"task_id": c.params["task_id"]}, &r); fault != nil {
		return question{}, fault
	}
	t := &r.Task
	if t.Status != "AWAITING_RESPONSE" {
		return question{}, schema.NewError(schema.InvalidState, "the task is "+t.Status+" and asks nothing").
			Hint("call reply without task_id for the tasks that do")
	}
	q := question{t.TaskID, t.CurrentAttemptID, inert.Cut(t.Description, maxLine), t.Question, t.Offered}
	if q.text == "" {
		q.text = t.Output
	}
	if asked := c.args.text("attempt_id"); asked != "" && asked != q.attemptID {
		return question{}, alreadyResolved()
	}
	return q, nil
}

func alreadyResolved() *schema.Error {
	return schema.NewError(schema.AlreadyResolved, "that question was answered, or the task has gone on since; nothing has changed").
		Hint("call get_task, or reply without task_id for the questions that wait")
}

// form returns the form that the host shows to the person.
func (q question) form() message.FormParams {
	asked := inert.Cut(q.text, maxAsked)
	if q.description != "" {
		asked = q.description + "\n\n" + asked
	}
	if len(q.offered.Options) == 0 {
		return message.FormParams{Mode: "form", Message: asked, Schema: answerForm}
	}
	for _, o := range q.offered.Options {
		if o.Detail != "" {
			asked += "\n\n" + o.Label + ": " + inert.Cut(o.Detail, maxInList)
		}
	}
	return message.FormParams{Mode: "form", Message: asked, Schema: choiceForm(q.offered)}
}

// choiceForm returns the schema of a form with the options of a question. Own words have a field of their own where they are an
// answer.
func choiceForm(o schema.Offered) jsontext.Value {
	option := object{"type": "string", "title": "Your choice", "enum": labels(o)}
	if o.Default != "" {
		option["default"] = o.Default
	}
	form := object{"type": "object", "properties": object{"option": option}, "required": []string{"option"}}
	if o.AllowText != nil && *o.AllowText {
		form["properties"] = object{"option": option, "reply": object{
			"type": "string", "title": "Or your own words", "description": "They go to the agent word for word, instead of the choice.",
		}}
		form["required"] = []string{}
	}
	text, err := codec.Encode(form)
	if err != nil {
		panic("mcp: a form of strings does not encode: " + err.Error())
	}
	return text
}

func labels(o schema.Offered) []string {
	list := make([]string, len(o.Options))
	for i, option := range o.Options {
		list[i] = option.Label
	}
	return list
}

// askByModel returns facts that tell the model to ask the user, and why.
func (q question) askByModel(why string) (f facts) {
	f.add("task_id", q.taskID)
	f.add("attempt_id", q.attemptID)
	f.put("answered", false)
	f.add("description", q.description)
	f.add("question", inert.Cut(q.text, maxAsked))
	f.addOptions(q.offered)
	f.add("host_said", inert.Line(why))
	f.add("do", "The host did not ask the person. Ask the user, then call reply with task_id, attempt_id and their words as reply.")
	return f
}

// acceptForm applies the answer to a form of an earlier result, after checking its signed state.
func (c *call) acceptForm(q question) (facts, *schema.Error) {
	switch err := c.set.Signer.verify(c.state, q, time.Now()); {
	case errors.Is(err, errOtherQuestion):
		return nil, alreadyResolved()
	case err != nil:
		return nil, schema.NewError(schema.InvalidParams, err.Error()).Hint("call reply with task_id alone to have the person asked again")
	}
	var result message.FormResult
	if json.Unmarshal(c.form[answerKey], &result) != nil {
		return nil, schema.NewError(schema.InvalidParams, "inputResponses has no answer to the form").
			Hint("call reply with task_id alone to have the person asked again")
	}
	return c.applyAnswer(q, &result)
}

// applyAnswer passes the person's answer to the task, or reports that there is none.
func (c *call) applyAnswer(q question, result *message.FormResult) (facts, *schema.Error) {
	if result.Action != "accept" {
		var f facts
		f.add("task_id", q.taskID)
		f.add("attempt_id", q.attemptID)
		f.put("answered", false)
		f.add("form", map[string]string{"decline": "declined", "cancel": "cancelled"}[result.Action])
		f.add("do", "Nothing has changed, and the task goes on waiting. The host may have done that by itself, without showing the form. "+
			"If the user is there, ask them, then call reply with task_id, attempt_id and their words as reply.")
		return f, nil
	}
	var words, option string
	said := json.Unmarshal(result.Content.Reply, &words) == nil && (words != "" || len(q.offered.Options) == 0)
	switch {
	case said:
		return c.answer(object{"task_id": q.taskID, "attempt_id": q.attemptID, "reply": words})
	case json.Unmarshal(result.Content.Option, &option) == nil && option != "":
		return c.answer(object{"task_id": q.taskID, "attempt_id": q.attemptID, "option": option})
	}
	return q.askByModel("the form came back without a text"), nil
}

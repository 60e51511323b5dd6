package api

import (
	"context"
	"fmt"
	"unicode/utf8"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/engine"
	"waybill/ledger"
	"waybill/schema"
	"waybill/store"
)

// What is slow about a result is done before its turn in the order of changes: it is read and judged, and the
// prompt is compiled that a retry would repeat.

// A heard is a result that was judged and is still to move its run.
type heard struct {
	engine.Result
	view     engine.RunView
	prompt   string                 // what the agent was given, as far as the call or the run tells
	said     bool                   // it was the call that told
	warnings []schema.ResultWarning // beside those of the judgement
	criteria []ledger.Criterion     // of the plan, once they may matter
}

func (s *Service) ingestOutput(ctx context.Context, p *schema.IngestOutputParams) (*work[schema.IngestOutputResult], error) {
	h, fault := s.hear(ctx, p)
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.IngestOutputResult, error) {
		if fault != nil {
			return nil, fault // not before, so that a call which comes again with its key gets its first answer
		}
		taken, err := tx.TakeResult(h.Result)
		if err != nil {
			return nil, err
		}
		return h.answer(tx, taken)
	}))
}

// hear reads and judges what an agent gave.
func (s *Service) hear(ctx context.Context, p *schema.IngestOutputParams) (*heard, error) {
	e, plans, err := s.backend()
	if err != nil {
		return nil, err
	}
	output, err := outputOf(e, p)
	if err != nil {
		return nil, err
	}
	h := &heard{}
	if h.view, err = e.Peek(ctx, p.RunID); err != nil {
		return nil, err
	}
	role, generic, err := roleOf(h.view.Run, p.Role)
	if err != nil {
		return nil, err
	}
	h.Result = engine.Result{
		RunID: p.RunID, Role: role, Generic: generic, Output: output, Prompt: p.Prompt, TaskID: p.TaskID, AttemptID: p.AttemptID, Token: p.LeaseToken,
		Judgement: verdict.Judge(output, verdict.Asked{Role: role, ItemID: h.view.Run.ItemID, TaskID: p.TaskID}),
	}
	h.Tokens = resultTokens(h.Judgement.Result)
	if most := or(p.MaxOutputTokens, h.Tokens); h.Tokens > most {
		h.warnings = append(h.warnings, schema.ResultWarning{
			Code: "over_output_budget", Message: fmt.Sprintf("the result is about %d tokens long, and %d were allowed", h.Tokens, most),
		})
	}
	switch {
	case h.Judgement.Verdict == verdict.Invalid:
		h.prompt, h.said = originalPrompt(h.view, role, p.Prompt), p.Prompt != ""
	case role.Reviewer() && h.Judgement.Verdict == verdict.Pass:
		h.Plan = e.Reading(ctx, h.view.Run.Plan)
		h.criteria = ledger.AcceptanceCriteria(plans.Beside(h.view.Run.Plan, "requirements.md"))
	}
	return h, nil
}

// outputOf gives the text that is to be judged.
func outputOf(e *engine.Engine, p *schema.IngestOutputParams) (string, error) {
	if (p.Output == "") == (p.OutputPath == "") {
		if p.OutputPath != "" {
			return "", badParam("/output_path", "absent when there is an output", p.OutputPath)
		}
		return p.Output, nil // an agent that gave nothing gave an invalid result
	}
	if p.OutputPath == "" {
		return p.Output, within("/output", len(p.Output), engine.MaxOutput)
	}
	text, err := e.Output(p.OutputPath)
	if err != nil {
		return "", outputFault(err)
	}
	return text, nil
}

// originalPrompt gives what an agent was given: what the host says, or else what compile_prompt gives for the
// role. A retry prompt is a reason and an original, and only the original is repeated.
func originalPrompt(view engine.RunView, role core.Role, said string) string {
	if said != "" {
		return verdict.Original(said)
	}
	if view.Gone != nil {
		return ""
	}
	compiled, err := ledger.Compile(ledger.CompileInput{
		RunID: view.Run.ID, Role: engine.PromptRole(role), Progress: view.Progress, Task: view.Task,
		MaxOutputTokens: usualOutput, Degraded: view.Fallback,
	})
	if err != nil {
		return "" // no agent can have been given it
	}
	return compiled.Prompt
}

// resultTokens estimates how long a result is, without what stands around it.
func resultTokens(r verdict.Result) int {
	const charactersPerToken = 4
	n := 0
	add := func(texts ...string) {
		for _, text := range texts {
			n += utf8.RuneCountInString(text)
		}
	}
	add(r.TaskID, r.Status, r.GitRange, r.Confidence, r.Body, r.Summary)
	for _, issue := range r.Issues {
		add(issue.Severity, issue.File, issue.Message, issue.Fix)
	}
	for _, test := range r.Tests {
		add(test.Command)
		add(test.Failures...)
	}
	for _, list := range [][]string{r.FilesChanged, r.FollowUps, r.Strengths, r.RequiredFixes} {
		add(list...)
	}
	return (n + charactersPerToken - 1) / charactersPerToken
}

// answer says what became of a result.
func (h *heard) answer(tx *engine.Tx, taken engine.Taken) (*schema.IngestOutputResult, error) {
	j := h.Judgement
	run := wireRun(taken.Run)
	w := &schema.IngestOutputResult{
		Verdict: string(j.Verdict), Grammar: string(j.Grammar), Result: wireResult(j.Result),
		Errors: mapped(j.Errors, wireProblem), Warnings: append(mapped(j.Warnings, wireWarning), h.warnings...),
		NextAction: string(taken.Next.Action), Next: wireNext(taken.Next, taken.Readiness.Ready),
		Counters: run.Counters, TaskLedger: wireTaskLedger(taken.Ledger), Run: run,
		OutputTokens: h.Tokens, RetryContext: taken.Retry, Applied: taken.Report.Applied, Reason: taken.Report.Reason,
	}
	if d := taken.Decision; d != nil {
		w.Decision = &schema.Decision{Rule: string(d.Rule), Count: d.Count, Limit: d.Limit}
	}
	err := h.attach(tx, taken, w)
	if err == nil {
		w.Seq, err = tx.Seq()
	}
	return w, err
}

// attach adds what only some answers have.
func (h *heard) attach(tx *engine.Tx, taken engine.Taken, w *schema.IngestOutputResult) error {
	if taken.Report.Task.ID != "" {
		task, err := wireTask(tx, taken.Report.Task, tx.Now())
		if err != nil {
			return err
		}
		w.Task, w.Attempt = &task, knownAttempt(taken.Report.Attempt)
	}
	if taken.Next.Action == core.RetryWithPreamble {
		prompt, err := h.repeated(tx, taken)
		if err != nil {
			return err
		}
		w.RetryPrompt = retryPrompt(taken.Standing, prompt)
	}
	if taken.Next.Action == core.PlanCompleted {
		var err error
		w.Evidence, err = evidence(tx, h, taken)
		return err
	}
	return nil
}

// retryPrompt gives the prompt with which the role is asked once more whose turn it is.
func retryPrompt(s engine.Standing, original string) string {
	role := s.Next.Role
	return verdict.RetryPrompt(original, verdict.Asked{Role: role, ItemID: s.Run.ItemID}, s.Problems[role-1])
}

// repeated gives the prompt that a retry repeats: what the call says, else that of the task, else what the
// run gives. If the retry is another role's, the call tells nothing of what that one was given.
func (h *heard) repeated(tx *engine.Tx, taken engine.Taken) (string, error) {
	if taken.Next.Role != h.Role {
		now := h.view
		now.Task = taken.Ledger // what this result has settled is not asked about again
		return originalPrompt(now, taken.Next.Role, ""), nil
	}
	id := taken.Report.Task.ID
	if id == "" && h.TaskID != taken.Run.ItemID {
		id = h.TaskID
	}
	if h.said || id == "" {
		return h.prompt, nil
	}
	t, ok, err := tx.Task(id)
	if err != nil || !ok {
		return h.prompt, err
	}
	return verdict.Original(t.Launch.Prompt), nil
}

// evidence gathers what a completed plan rests on.
func evidence(tx store.Tx, h *heard, taken engine.Taken) (*schema.Evidence, error) {
	done, err := engine.Outcomes(tx, h.Plan, taken.Run.Plan)
	if err != nil {
		return nil, err
	}
	w := &schema.Evidence{
		AcceptanceCriteria: mapped(h.criteria, func(c ledger.Criterion) schema.Criterion { return schema.Criterion(c) }),
		Outcomes:           mapped(done, wireOutcome), FilesChanged: []string{},
	}
	seen := map[string]bool{}
	for _, o := range done {
		for _, file := range o.Ledger.FilesChanged {
			if !seen[file] {
				seen[file] = true
				w.FilesChanged = append(w.FilesChanged, file)
			}
		}
	}
	return w, nil
}

func wireOutcome(o engine.ItemOutcome) schema.ItemOutcome {
	w := schema.ItemOutcome{
		ItemID: o.Item.ID, Title: o.Item.Title, DoneBy: "plan", FilesChanged: append([]string{}, o.Ledger.FilesChanged...),
	}
	if o.Run.ID != "" {
		w.DoneBy, w.RunID, w.Attempts = "run", o.Run.ID, o.Ledger.Attempts
		w.ReviewRejections, w.Summary = o.Run.Counters.ReviewRejections, o.Ledger.Summary
	}
	if o.Fault != nil {
		w.Summary = "what was done cannot be read: " + o.Fault.Error()
	}
	return w
}

package api

import (
	"context"
	"fmt"
	"unicode/utf8"

	"waybill/api/entity"
	"waybill/core/run"
	"waybill/core/verdict"
	"waybill/engine"
	"waybill/engine/resultfile"
	"waybill/plan"
	"waybill/plan/criteria"
	"waybill/prompt"
	"waybill/schema"
	"waybill/store"
)

// Reading and judging a result, compiling the prompt for a retry, and reading plan files are slow. They happen before
// the transaction, so that other changes do not wait.

// A judgedResult is a judged result whose run has not moved yet.
type judgedResult struct {
	engine.Result
	promptInputs promptInputs
	warnings     []schema.ResultWarning // in addition to those of the judgement
	criteria     []criteria.Criterion   // of the plan, read if the plan may be completed
}

func (s *Service) ingestOutput(ctx context.Context, p *schema.IngestOutputParams) (*prepared[schema.IngestOutputResult], error) {
	h, fault := s.judgeOutput(ctx, p)
	return finishing(prepare(s, p.Keyed, func(tx *engine.Tx) (*schema.IngestOutputResult, error) {
		if fault != nil {
			return nil, fault // not earlier, so that a repeated call with the same key gets its first answer
		}
		taken, err := tx.TakeResult(h.Result)
		if err != nil {
			return nil, err
		}
		return h.answer(tx, taken)
	}))
}

// judgeOutput reads and judges the output of an agent.
func (s *Service) judgeOutput(ctx context.Context, p *schema.IngestOutputParams) (*judgedResult, error) {
	e, plans, err := s.backend()
	if err != nil {
		return nil, err
	}
	output, err := outputOf(e, p)
	if err != nil {
		return nil, err
	}
	view, err := e.Peek(ctx, p.RunID)
	if err != nil {
		return nil, err
	}
	role, generic, err := roleOf(view.Run, p.Role)
	if err != nil {
		return nil, err
	}
	asked := verdict.Asked{
		Role: role, ItemID: view.Run.ItemID, TaskID: p.TaskID, Generic: generic,
		Keys: view.Rounds.Keys(p.RunID, role, generic), RequireKey: view.Run.Policy.RequireKey,
	}
	h := &judgedResult{promptInputs: s.promptInputs(plans, view), Result: engine.Result{
		RunID: p.RunID, Role: role, Generic: generic, Output: output, Digest: verdict.Digest(output), Prompt: p.Prompt, TaskID: p.TaskID,
		AttemptID: p.AttemptID, Token: p.LeaseToken, Tree: p.Tree, Plan: view.Plan, Asked: asked, Judgement: verdict.Judge(output, asked),
	}}
	h.Tokens = resultTokens(h.Judgement.Result)
	if most := or(p.MaxOutputTokens, h.Tokens); h.Tokens > most {
		h.warnings = append(h.warnings, schema.ResultWarning{
			Code: "over_output_budget", Message: fmt.Sprintf("the result is about %d tokens long, and %d were allowed", h.Tokens, most),
		})
	}
	if view.Rebuilt {
		e.Tally(p.RunID, store.Tally{Name: engine.TallyRebuilds, N: 1})
	}
	switch {
	case h.Judgement.Verdict == verdict.Invalid && p.Prompt == "":
		h.Compiled = h.promptInputs.prompt(role, view.Run, view.Rounds, view.Task)
	case role.Reviewer() && h.Judgement.Verdict == verdict.Pass:
		h.criteria = criteriaOf(plans, view.Run.Plan, view.Plan)
	}
	return h, nil
}

// outputOf returns the text to judge.
func outputOf(e *engine.Engine, p *schema.IngestOutputParams) (string, error) {
	switch {
	case p.Output != nil && p.OutputPath != "":
		return "", badParam("/output_path", "absent when there is an output", p.OutputPath)
	case p.Output != nil: // an agent that printed nothing gave an invalid result
		return *p.Output, within("/output", len(*p.Output), resultfile.MaxBytes)
	case p.OutputPath == "":
		return "", badParam("/output", "the output of the agent, unless output_path names a file with it", nil)
	}
	text, err := e.Output(p.OutputPath)
	if err != nil {
		return "", outputFault(err)
	}
	return text, nil
}

// resultTokens estimates the tokens of a result, without the text around it.
func resultTokens(r verdict.Result) int {
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
	return prompt.Tokens(n)
}

// answer returns the answer to a result.
func (h *judgedResult) answer(tx *engine.Tx, taken engine.Taken) (*schema.IngestOutputResult, error) {
	j := taken.Judgement
	run := entity.Run(taken.Run)
	w := &schema.IngestOutputResult{
		Verdict: string(j.Verdict), Grammar: string(j.Grammar), Result: wireResult(j.Result),
		Errors: entity.All(j.Errors, wireProblem), Warnings: append(entity.All(j.Warnings, wireWarning), h.warnings...),
		Counters: run.Counters, TaskLedger: entity.TaskLedger(taken.Ledger), Run: run,
		OutputTokens: h.Tokens, RetryContext: taken.Retry, Applied: taken.Report.Applied, Reason: taken.Report.Reason, Already: taken.Again,
	}
	w.Decision = entity.Decision(taken.Decision)
	err := h.attach(tx, taken, w)
	if err == nil {
		w.Seq, err = tx.Seq()
	}
	return w, err
}

// attach adds the optional parts of the answer.
func (h *judgedResult) attach(tx *engine.Tx, taken engine.Taken, w *schema.IngestOutputResult) error {
	if taken.Report.Task.ID != "" {
		task, err := wireTask(tx.Tx, taken.Report.Task, tx.Now())
		if err != nil {
			return err
		}
		w.Task, w.Attempt = &task, knownAttempt(taken.Report.Attempt)
	}
	if !w.Applied {
		return nil // only the current worker gets a next step
	}
	next := wireNext(taken.Next, taken.Readiness.Ready)
	w.NextAction, w.Next, w.RetryPrompt = next.Action, &next, h.promptInputs.retryPrompt(taken.Standing)
	if taken.Next.Action != run.PlanCompleted {
		return nil
	}
	var err error
	w.Evidence, err = evidence(tx.Tx, h.Plan, taken.Run.Plan, h.criteria)
	return err
}

// evidence returns the finished items and changed files of a completed plan.
func evidence(tx store.Tx, plan *plan.Reading, path string, listed []criteria.Criterion) (*schema.Evidence, error) {
	done, err := engine.Outcomes(tx, plan, path)
	if err != nil {
		return nil, err
	}
	w := &schema.Evidence{
		AcceptanceCriteria: entity.All(listed, func(c criteria.Criterion) schema.Criterion {
			return schema.Criterion{Line: c.Line, Text: c.Text, ID: c.ID}
		}),
		Outcomes: entity.All(done, wireOutcome), FilesChanged: []string{},
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

// evidenceOf returns the evidence of a run whose plan is completed, and nil for others.
func evidenceOf(ctx context.Context, e *engine.Engine, plans *engine.Plans, view engine.RunView, next run.Next) (w *schema.Evidence, err error) {
	if next.Action != run.PlanCompleted {
		return nil, nil
	}
	criteria := criteriaOf(plans, view.Run.Plan, view.Plan)
	err = e.View(ctx, func(tx store.Tx) error {
		w, err = evidence(tx, view.Plan, view.Run.Plan, criteria)
		return err
	})
	return w, err
}

func wireOutcome(o engine.ItemOutcome) schema.ItemOutcome {
	w := schema.ItemOutcome{
		ItemID: o.Item.ID, Title: o.Item.Title, DoneBy: "plan", FilesChanged: append([]string{}, o.Ledger.FilesChanged...),
	}
	if o.Run.ID != "" {
		w.DoneBy, w.RunID, w.Attempts = "run", o.Run.ID, o.Ledger.Attempts
		w.ReviewRejections, w.Summary, w.Proof = o.Run.Counters.ReviewRejections, o.Ledger.Summary, proofState(o.Run)
	}
	if o.Fault != nil {
		w.Summary = "the ledger of its run cannot be read: " + o.Fault.Error()
	}
	return w
}

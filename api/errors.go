package api

import (
	"context"
	"errors"
	"fmt"

	"waybill/core"
	"waybill/engine"
	"waybill/engine/commit"
	"waybill/engine/workspace"
	"waybill/internal/safetext"
	"waybill/ledger"
	"waybill/plan"
	planfile "waybill/plan/file"
	"waybill/prompt"
	"waybill/schema"
	"waybill/store"
)

// faultOf returns the wire error for an error. It is the only place where errors become codes. An error without a
// code is a defect: cause is then that error, which the front door logs with an incident number.
func faultOf(err error) (fault *schema.Error, cause error) {
	if coded, ok := errors.AsType[*schema.Error](err); ok {
		return coded, nil
	}
	if refusal, ok := errors.AsType[*core.Refusal](err); ok {
		return refused(refusal), nil
	}
	if broken, ok := errors.AsType[*store.Error](err); ok {
		return storeFault(broken), nil
	}
	if fault := planFault(err); fault != nil {
		return fault, nil
	}
	if lost, ok := errors.AsType[*workspace.UnresolvedError](err); ok {
		return schema.NewError(schema.NoWorkspace, lost.Error()), nil
	}
	switch {
	case errors.Is(err, commit.ErrOverloaded):
		fault := schema.NewError(schema.Overloaded, err.Error())
		fault.Data.RetryAfterMS = retryAfterMS
		return fault, nil
	case errors.Is(err, commit.ErrStopped):
		return schema.NewError(schema.ShuttingDown, "waybill is shutting down; nothing new is accepted"), nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return schema.NewError(schema.Cancelled, "the request was cancelled; nothing was applied"), nil
	}
	return internal(err)
}

// retryAfterMS is the delay after which a call that was refused for load may be repeated.
const retryAfterMS = 100

// Fault returns the wire error for an error outside a method.
func Fault(err error) *schema.Error {
	fault, _ := faultOf(err)
	return fault
}

func internal(err error) (fault *schema.Error, cause error) {
	if p, ok := errors.AsType[*commit.Panic](err); ok {
		err = fmt.Errorf("%w\n%s", err, p.Stack)
	}
	return schema.NewError(schema.Internal, "the call failed; this is a defect of waybill").Hint("look for the incident in the log of waybill"), err
}

func refused(r *core.Refusal) *schema.Error {
	fault := schema.NewError(refusalCode(r), r.Message)
	if r.State != "" {
		fault = fault.With(stateKey(r.Noun), r.State)
	}
	if r.Subject != "" {
		fault = fault.With(subjectKey(r.Noun), r.Subject)
	}
	if r.Pointer != "" {
		fault = fault.With("errors", []schema.Problem{{
			Pointer: r.Pointer, Message: r.Message, Expected: "an allowed value", Found: safetext.Truncate(r.Subject, shownCharacters),
		}})
	}
	if r.Allowed != nil {
		fault = fault.With("allowed", r.Allowed)
	}
	return fault
}

// stateKey returns the name of the detail that holds the state of a subject.
func stateKey(noun string) string {
	if noun == "task" {
		return "status"
	}
	return "state"
}

// subjectKey returns the name of the detail that holds the refused subject.
func subjectKey(noun string) string {
	switch noun {
	case "instruction", "task", "attempt", "run", "notice":
		return noun + "_id"
	case "plan", "idempotency_key":
		return noun
	}
	return "subject_id"
}

func refusalCode(r *core.Refusal) schema.Code {
	switch r.Kind {
	case core.InvalidState:
		return schema.InvalidState
	case core.QueueFull:
		return schema.QueueFull
	case core.KeyReused:
		return schema.IdempotencyClash
	case core.NotFound:
		return missingCode(r.Noun)
	case core.AlreadyResolved:
		return schema.AlreadyResolved
	case core.SessionTaken:
		return schema.SessionBound
	case core.AttemptFinalized:
		return schema.AttemptFinalized
	case core.RetryPending:
		return schema.Conflict
	case core.BadDependency, core.BadAnswer, core.Foreign:
		return schema.InvalidParams
	case core.StaleAttempt: // reported as an answer, see engine.Reported
	}
	panic("api: refusal of unknown kind " + r.Kind.String())
}

func missingCode(noun string) schema.Code {
	switch noun {
	case "instruction":
		return schema.InstructionGone
	case "task":
		return schema.TaskGone
	case "attempt":
		return schema.AttemptGone
	case "run":
		return schema.RunGone
	case "plan":
		return schema.PlanGone
	case "receipt":
		return schema.ReceiptGone
	}
	return schema.SubjectGone
}

func storeFault(e *store.Error) *schema.Error {
	fault := schema.NewError(storeCode(e.Kind), e.Error())
	if e.Outcome == store.Unknown {
		fault.Data.Outcome = schema.OutcomeUnknown
		return fault.Hint("repeat the call with the same idempotency_key: it takes effect once")
	}
	if e.Kind == store.Corrupt {
		return fault.Hint("`waybill doctor` shows the damage; `waybill store salvage` saves the readable records and sets the others aside")
	}
	return fault
}

func storeCode(k store.Kind) schema.Code {
	switch k {
	case store.Full:
		return schema.StoreFull
	case store.IO:
		return schema.StoreIO
	case store.ReadOnly:
		return schema.StoreReadOnly
	case store.Corrupt:
		return schema.StoreCorrupt
	case store.NewerSchema:
		return schema.StoreNewer
	case store.Busy:
		return schema.StoreBusy
	case store.Lost:
		return schema.StoreLost
	case store.Unsafe:
		return schema.StoreUnsafe
	case store.Cancelled:
		return schema.Cancelled
	case store.Closed:
		return schema.ShuttingDown
	}
	panic("api: store error of unknown kind " + k.String())
}

// planFault returns the wire error for an error about a plan or a ledger, or nil.
func planFault(err error) *schema.Error {
	if e, ok := errors.AsType[*planfile.Error](err); ok {
		return fileFault(e)
	}
	if fault := writeFault(err); fault != nil {
		return fault
	}
	if e, ok := errors.AsType[*engine.SearchError](err); ok {
		return searchFault(e)
	}
	if e, ok := errors.AsType[*engine.StaleError](err); ok {
		return schema.NewError(schema.LedgerUnparsed, e.Error()).With("reason", e.Reason).With("path", e.Path)
	}
	if e, ok := errors.AsType[*plan.ParseError](err); ok {
		return schema.NewError(schema.LedgerUnparsed, e.Error()).
			With("reason", e.Reason).With("line", e.Line).With("offset", e.Offset).With("checkboxes", e.Checkboxes)
	}
	if e, ok := errors.AsType[*plan.ItemError](err); ok {
		return schema.NewError(schema.ItemGone, e.Error()).With("item_id", e.ItemID)
	}
	if e, ok := errors.AsType[*prompt.OverflowError](err); ok {
		return schema.NewError(schema.PromptOverflow, e.Error()).
			With("prompt_tokens", e.Estimate).With("budget", e.Budget).With("stage", e.Stage)
	}
	if e, ok := errors.AsType[*ledger.FactError](err); ok {
		return schema.NewError(schema.LedgerIncomplete, e.Error()).With("key", e.Key)
	}
	if e, ok := errors.AsType[*prompt.MissingPromptError](err); ok {
		return schema.NewError(schema.LedgerIncomplete, e.Error()).With("missing", e.Missing)
	}
	return nil
}

// addKept adds the path of a file that holds overwritten text. kept is "" if there is none.
func addKept(fault *schema.Error, kept string) *schema.Error {
	if kept == "" {
		return fault
	}
	return fault.With("kept", kept).Hint(keptHint)
}

// keptHint is the advice about the file that holds overwritten text.
const keptHint = "compare that file with the plan, copy what is missing, and remove it"

// writeFault returns the wire error for a plan file that could not be written as requested, or nil.
func writeFault(err error) *schema.Error {
	if e, ok := errors.AsType[*planfile.ConflictError](err); ok {
		fault := schema.NewError(schema.Conflict, e.Error()).
			With("path", e.Path).With("expected_hash", e.Expected).With("found_hash", e.Found)
		if e.Swapped {
			fault.Data.Outcome = schema.OutcomeUnknown
		}
		return addKept(fault, e.Kept)
	}
	if e, ok := errors.AsType[*planfile.WriteError](err); ok {
		fault := schema.NewError(schema.PlanUnwritable, e.Error()).With("reason", string(e.Reason)).With("path", e.Path)
		switch {
		case e.Left != "":
			fault.Data.Outcome = schema.OutcomeApplied
			fault = fault.Hint("the next command that reads or writes a plan removes it")
		case e.Swapped:
			fault.Data.Outcome = schema.OutcomeUnknown
		}
		return addKept(fault, e.Kept)
	}
	if e, ok := errors.AsType[*plan.MarkError](err); ok {
		return schema.NewError(schema.ItemFixed, e.Error()).
			With("reason", string(e.Reason)).With("item_id", e.ItemID).With("lines", e.Lines)
	}
	return nil
}

func searchFault(e *engine.SearchError) *schema.Error {
	if e.Gone() {
		return schema.NewError(schema.NoWorkspace, "the workspace folder is missing: "+e.Error())
	}
	return schema.NewError(schema.LedgerUnparsed, e.Error()).With("reason", string(planfile.Unreadable))
}

func fileFault(e *planfile.Error) *schema.Error {
	code := schema.LedgerUnparsed
	switch e.Reason {
	case planfile.Missing, planfile.SymlinkDangling:
		code = schema.LedgerMissing
	case planfile.OutsideWorkspace, planfile.BadPath:
		code = schema.PathOutside
	case planfile.NotRegular, planfile.Unreadable, planfile.TooLarge, planfile.TooManyFiles, planfile.SymlinkLoop:
	}
	fault := schema.NewError(code, e.Error()).With("reason", string(e.Reason)).With("path", e.Path)
	if e.Reason == planfile.TooLarge || e.Reason == planfile.TooManyFiles {
		return fault.With("size", e.Size).With("limit", e.Limit)
	}
	return fault
}

// outputFault returns the wire error for a result file that could not be read.
func outputFault(err error) error {
	e, ok := errors.AsType[*planfile.Error](err)
	if !ok {
		return err
	}
	shown := safetext.Truncate(e.Path, shownCharacters)
	fault := schema.NewError(schema.OutputGone, fmt.Sprintf("/output_path: %s cannot be read: %s", shown, e.Reason))
	switch e.Reason {
	case planfile.Missing, planfile.SymlinkDangling:
		fault = schema.NewError(schema.OutputGone, fmt.Sprintf("/output_path: there is no file %s", shown))
	case planfile.OutsideWorkspace, planfile.BadPath:
		fault = schema.NewError(schema.PathOutside, fmt.Sprintf("/output_path: %s is neither in the workspace nor in the folder named with --output-dir", shown))
	case planfile.TooLarge:
		return within("/output_path", int(e.Size), int(e.Limit))
	case planfile.NotRegular:
		fault = schema.NewError(schema.OutputGone, fmt.Sprintf("/output_path: %s is not a regular file", shown))
	case planfile.Unreadable, planfile.SymlinkLoop, planfile.TooManyFiles:
	}
	return fault.With("reason", string(e.Reason)).With("pointer", "/output_path")
}

// planError returns the error of a plan for an answer that is possible without the plan.
func planError(err error) *schema.PlanError {
	fault, _ := faultOf(err)
	reason, _ := fault.Data.Details["reason"].(string)
	return &schema.PlanError{Code: fault.Data.Code, Reason: reason, Message: fault.Message}
}

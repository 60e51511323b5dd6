package audit

import (
	"encoding/json"

	"waybill/core"
	"waybill/core/proof"
	"waybill/internal/lazyregexp"
)

// An Event is one of the event log.
type Event struct {
	Seq     int64
	At      core.Instant
	Type    core.EventType
	Subject string
	Data    string // JSON
}

// Types returns the types of events that Read reads.
func Types() []core.EventType {
	return []core.EventType{
		core.RunStarted, core.RunOutcome, core.ReceiptRecorded, core.ToolReported, core.AttemptStarted, core.AttemptFinished,
	}
}

// A Work is the work on an item in one run, as the log tells it.
type Work struct {
	Run, Plan, Item string
	Start           Start
	Passes          []Pass // in order
	failures        []failure
}

// A Pass is a result that says that the work is done, or that approves it.
type Pass struct {
	Seq           int64 // of its event
	Role          string
	Task, Attempt string // "" for a host without tasks
	Said          Said
	// False are the facts of a worker's pass that are false. Looked says that they were looked at: see Receipt, the event
	// with the receipt about them, or 0.
	False   []FalseFact
	Looked  bool
	Receipt int64

	took  core.Instant // of the attempt; negative if unknown
	tools []tool
	hears bool // the host reports the tools of this role of the plan
}

type tool struct {
	Tool
	seq int64
}

// A failure is a step that failed.
type failure struct {
	seq        int64
	task, what string
	same       string // equal for the same step
	most       int    // how often the same step may fail
}

// A record has the members of events that Read needs.
type record struct {
	Plan      string `json:"plan"`
	ItemID    string `json:"item_id"`
	Start     Start  `json:"start"`
	Role      string `json:"role"`
	Verdict   string `json:"verdict"`
	TaskID    string `json:"task_id"`
	AttemptID string `json:"attempt_id"`
	RunID     string `json:"run_id"`
	Said      Said   `json:"said"`
	Status    string `json:"attempt_status"`
	Error     string `json:"error"`
	Check     string `json:"check"`
	Outcome   string `json:"outcome"`
	Output    string `json:"output"`
	Tool
}

// A reader collects the works of a log.
type reader struct {
	works    []*Work
	byRun    map[string]*Work
	attempts map[string]*attempt
}

// An attempt is what the log tells about one attempt.
type attempt struct {
	began, took core.Instant
	tools       []tool
}

// Read returns the works that events of the log tell of, in the order of their first event.
func Read(events []Event) []Work {
	r := reader{byRun: map[string]*Work{}, attempts: map[string]*attempt{}}
	for _, ev := range events {
		var about record
		if json.Unmarshal([]byte(ev.Data), &about) == nil {
			r.read(ev, about)
		}
	}
	return r.done()
}

func (r *reader) read(ev Event, about record) {
	switch ev.Type {
	case core.RunStarted:
		w := r.work(ev.Subject)
		w.Plan, w.Item, w.Start = about.Plan, about.ItemID, about.Start
	case core.RunOutcome:
		w := r.work(ev.Subject)
		w.Plan, w.Item = about.Plan, about.ItemID
		if about.Verdict == "pass" {
			w.Passes = append(w.Passes, Pass{Seq: ev.Seq, Role: about.Role, Task: about.TaskID, Attempt: about.AttemptID, Said: about.Said})
		}
	case core.ReceiptRecorded:
		r.receipt(r.work(ev.Subject), ev.Seq, about)
	case core.AttemptStarted:
		a := r.attempt(about)
		a.began = ev.At
	case core.AttemptFinished:
		if a := r.attempt(about); a.began != 0 {
			a.took = ev.At - a.began
		}
		if about.Status == "error" && about.RunID != "" {
			w := r.work(about.RunID)
			w.failures = append(w.failures, failure{ev.Seq, ev.Subject, "its attempt failed: " + about.Error, "attempt " + ev.Subject + alike(about.Error), 1})
		}
	case core.ToolReported:
		a := r.attempt(about)
		a.tools = append(a.tools, tool{about.Tool, ev.Seq})
		if about.Failed && about.Command != "" && about.RunID != "" {
			w := r.work(about.RunID)
			w.failures = append(w.failures, failure{ev.Seq, ev.Subject, "the command " + quoted(about.Command) + " failed", "tool " + about.AttemptID + about.Command, 2})
		}
	case core.InstructionQueued, core.InstructionDue, core.InstructionSent, core.InstructionAcknowledged, core.InstructionFailed,
		core.InstructionCancelled, core.InstructionUndelivered, core.InstructionLateAck, core.TaskCreated,
		core.TaskReleased, core.TaskCancelRequested, core.TaskSettled, core.TaskReplied, core.TaskDefaulted, core.TaskRetried,
		core.AttemptReturned, core.AttemptBound, core.AttemptProgress, core.AttemptReported, core.AttemptScheduled,
		core.AttemptStale, core.BreakerOpened, core.BreakerClosed, core.RunSuperseded, core.RunReplanned,
		core.RunUnblocked, core.RunLedger, core.ProofChanged, core.LedgerChanged, core.NoticePosted,
		core.NoticeConsumed:
	}
}

// numbers differ between two executions of the same step: times, ids, addresses.
var numbers = lazyregexp.New(`[0-9]+`)

func alike(text string) string { return numbers.Compiled().ReplaceAllString(text, "0") }

// receipt takes a receipt in: the facts of the last pass of a worker, or a check that failed.
func (r *reader) receipt(w *Work, seq int64, about record) {
	red := about.Outcome == proof.Red.String()
	if about.Check != proof.Facts {
		if red {
			w.failures = append(w.failures, failure{seq, "", "check " + quoted(about.Check) + " failed", "check " + about.Check + " " + alike(about.Output), 1})
		}
		return
	}
	for i := len(w.Passes) - 1; i >= 0; i-- {
		if p := &w.Passes[i]; p.Role == core.Worker.String() {
			p.Looked, p.Receipt, p.False = true, seq, nil
			if about.Outcome != proof.Green.String() {
				p.False = ParseFalse(about.Output)
			}
			return
		}
	}
}

func (r *reader) work(run string) *Work {
	if r.byRun[run] == nil {
		r.byRun[run] = &Work{Run: run}
		r.works = append(r.works, r.byRun[run])
	}
	return r.byRun[run]
}

func (r *reader) attempt(about record) *attempt {
	if r.attempts[about.AttemptID] == nil {
		r.attempts[about.AttemptID] = &attempt{took: -1}
	}
	return r.attempts[about.AttemptID]
}

// done tells each pass of its attempt. A host reports the tools of a role of a plan if it did so for any attempt.
func (r *reader) done() []Work {
	type host struct{ plan, role string }
	hears := map[host]bool{}
	for _, w := range r.works {
		for i := range w.Passes {
			p := &w.Passes[i]
			p.took = -1
			if a := r.attempts[p.Attempt]; a != nil {
				p.took, p.tools = a.took, a.tools
			}
			if len(p.tools) > 0 {
				hears[host{w.Plan, p.Role}] = true
			}
		}
	}
	works := make([]Work, 0, len(r.works))
	for _, w := range r.works {
		for i := range w.Passes {
			w.Passes[i].hears = hears[host{w.Plan, w.Passes[i].Role}] && w.Passes[i].Attempt != ""
		}
		works = append(works, *w)
	}
	return works
}

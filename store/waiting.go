package store

import (
	"slices"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/ledger"
)

// MostWaiting bounds each list of a Waiting.
const MostWaiting = 1000

// Waiting lists the records that wait for a person, and the runs that ended since a person looked last. Texts
// are cut to what a list shows. The oldest record of each list is the first.
type Waiting struct {
	Questions    []WaitingTask
	Runs         []WaitingRun // blocked, or done and refuted since
	Tasks        []WaitingTask
	Instructions []WaitingInstruction
	Reports      []Notice     // events that hosts reported to a person
	Done         []WaitingRun // changed since, and the newest of their items
	// Cut says that a list is longer than MostWaiting, or that notices could not be read.
	Cut bool
}

// A WaitingTask is a task with the run that it belongs to; the zero Run without one.
type WaitingTask struct {
	task.Task
	Run     WaitingRun
	Notices []string // the open notices about a failed task
}

// A WaitingRun is a run with the title of its item.
type WaitingRun struct {
	run.Run
	Title string
}

// A WaitingInstruction is a failed instruction with the open notices about it.
type WaitingInstruction struct {
	instruction.Instruction
	Notices []string
}

// ReadWaiting reads what waits for a person, with the runs that are done and were changed after since. Damaged records
// are left out.
func ReadWaiting(tx Tx, since core.Instant) (Waiting, error) {
	r := waitingReader{tx: tx, runs: map[string]WaitingRun{}}
	for _, read := range []func(since core.Instant) error{r.questions, r.blocked, r.done, r.failures} {
		if err := read(since); err != nil {
			return Waiting{}, err
		}
	}
	return r.found, nil
}

type waitingReader struct {
	tx      Tx
	runs    map[string]WaitingRun // those with a title that were read
	refuted []WaitingRun          // of found.Runs
	found   Waiting
}

// tasksAtOnce bounds the tasks in memory, because each may have megabytes of text.
const tasksAtOnce = 8

func (r *waitingReader) questions(core.Instant) error {
	q := TaskQuery{Status: task.StatusAwaiting, Limit: tasksAtOnce}
	for {
		page, err := r.tx.Tasks(q)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, t := range page {
			q.After = t.Position
			if len(r.found.Questions) == MostWaiting {
				r.found.Cut = true
				return nil
			}
			w, err := r.withRun(t)
			if err != nil {
				return err
			}
			r.found.Questions = append(r.found.Questions, w)
		}
		if len(page) < tasksAtOnce {
			return nil
		}
	}
}

// blocked reads the blocked runs.
func (r *waitingReader) blocked(core.Instant) error {
	runs, err := r.tx.Runs(RunQuery{State: run.Blocked, Limit: MostWaiting})
	r.found.Cut = r.found.Cut || len(runs) == MostWaiting
	for _, blocked := range slices.Backward(runs) {
		w, err := r.titled(blocked)
		if err != nil {
			return err
		}
		r.found.Runs = append(r.found.Runs, w)
	}
	return err
}

// done reads all runs that are done. One that is refuted waits for a person while no newer run has its item.
func (r *waitingReader) done(since core.Instant) error {
	q := RunQuery{State: run.Done, Limit: DefaultLimit}
	for {
		page, err := r.tx.Runs(q)
		if err != nil {
			return err
		}
		for _, ended := range page {
			if err := r.ended(ended, since); err != nil {
				return err
			}
			q.Behind = ended.ID
		}
		if len(page) < q.Limit {
			break
		}
	}
	slices.Reverse(r.refuted)
	slices.Reverse(r.found.Done)
	r.found.Runs = append(r.found.Runs, r.refuted...)
	return nil
}

// ended adds a run that is done to its list. The newest runs come first, so that a list that is cut lacks the oldest.
func (r *waitingReader) ended(ended run.Run, since core.Instant) error {
	list := &r.found.Done
	if ended.Proof.State() == proof.Refuted {
		list = &r.refuted
	} else if ended.UpdatedAt <= since {
		return nil
	}
	if len(*list) == MostWaiting {
		r.found.Cut = true
		return nil
	}
	newest, ok, err := r.tx.LatestRun(ended.Plan, ended.ItemID)
	if err != nil && !isCorrupt(err) {
		return err
	}
	if !ok || newest.ID != ended.ID {
		return nil
	}
	w, err := r.titled(ended)
	*list = append(*list, w)
	return err
}

// failures reads the failed tasks and instructions, and the reports of hosts.
func (r *waitingReader) failures(core.Instant) error {
	whole, err := eachFailure(r.tx, failureVisitor{
		task: func(t task.Task) error {
			w, err := r.withRun(t)
			if err == nil {
				w.Notices, err = r.noticesAbout(t.ID)
			}
			r.found.Tasks = append(r.found.Tasks, w)
			return err
		},
		instruction: func(in instruction.Instruction) (err error) {
			w := WaitingInstruction{Instruction: in}
			w.Notices, err = r.noticesAbout(in.ID)
			r.found.Instructions = append(r.found.Instructions, w)
			return err
		},
		report: func(n Notice) { r.found.Reports = append(r.found.Reports, n) },
	})
	r.found.Cut = r.found.Cut || !whole
	return err
}

// noticesAbout returns the ids of the open notices with a subject.
func (r *waitingReader) noticesAbout(subject string) (ids []string, err error) {
	about, err := r.tx.NoticesAbout(subject)
	for _, n := range about {
		ids = append(ids, n.ID)
	}
	return ids, err
}

// withRun returns a task with its run, without the texts that no list shows.
func (r *waitingReader) withRun(t task.Task) (WaitingTask, error) {
	if t.Question == "" {
		t.Question = t.Output
	}
	t.Question, t.Output = beginning(t.Question), ""
	t.Spec.Prompt, t.Spec.Description = beginning(t.Spec.Prompt), beginning(t.Spec.Description)
	w := WaitingTask{Task: t}
	if t.Spec.RunID == "" {
		return w, nil
	}
	if known, ok := r.runs[t.Spec.RunID]; ok {
		w.Run = known
		return w, nil
	}
	of, ok, err := r.tx.Run(t.Spec.RunID)
	if err != nil && !isCorrupt(err) || !ok {
		return w, ignoreCorrupt(err)
	}
	w.Run, err = r.titled(of)
	return w, err
}

// titled returns a run with the title of its item from the ledger; without one, the title is "".
func (r *waitingReader) titled(of run.Run) (WaitingRun, error) {
	if known, ok := r.runs[of.ID]; ok {
		return known, nil
	}
	facts, err := r.tx.Facts(of.ID)
	if err != nil && !isCorrupt(err) {
		return WaitingRun{}, err
	}
	w := WaitingRun{Run: of, Title: beginning(ledger.CurrentTitle(facts))}
	r.runs[of.ID] = w
	return w, nil
}

func ignoreCorrupt(err error) error {
	if isCorrupt(err) {
		return nil
	}
	return err
}

// listedBytes bounds a text of a list.
const listedBytes = 4 << 10

// beginning returns at most listedBytes of a text, with a mark where it was cut.
func beginning(text string) string {
	if len(text) <= listedBytes {
		return text
	}
	cut := listedBytes
	for cut > 0 && text[cut]&0xc0 == 0x80 { // within a character
		cut--
	}
	return text[:cut] + "…"
}

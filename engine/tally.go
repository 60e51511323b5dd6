package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"waybill/core/run"
	"waybill/core/verdict"
	"waybill/engine/commit"
	"waybill/store"
)

// Compiling a prompt changes nothing, so its counts are collected in memory and stored a second later, without a
// commit of their own. A killed process loses only these counts. Tallies adds the stored counts and those in memory.

// tallyPause is how long counts are collected before they are stored.
const tallyPause = time.Second

// tallies are counts that are not stored yet, by run and name. They are guarded by Engine.mu.
type tallies map[string]map[string]int64

// Tally adds to the counts of a run. They are stored soon.
func (e *Engine) Tally(run string, counts ...store.Tally) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.changes.Stopped() {
		return
	}
	e.scheduleStore()
	for _, c := range counts {
		e.counts.add(run, c.Name, c.N)
	}
}

func (t tallies) add(run, name string, n int64) {
	if t[run] == nil {
		t[run] = map[string]int64{}
	}
	t[run][name] += n
}

// scheduleStore has the collected counts and prompts stored in a moment. The caller holds e.mu.
func (e *Engine) scheduleStore() {
	if !e.storeScheduled {
		e.storeScheduled = true
		time.AfterFunc(tallyPause, e.storeGathered) // ends once the counts are submitted or the engine is stopped
	}
}

// storeGathered submits the collected counts and prompts without waiting.
func (e *Engine) storeGathered() {
	e.storeCounts()
	e.storePrompts()
}

// storeCounts submits the counts. Counts that the store refuses are submitted with the next ones.
func (e *Engine) storeCounts() {
	e.mu.Lock()
	gathered := e.counts
	e.counts, e.storeScheduled = tallies{}, false
	if len(gathered) == 0 {
		e.mu.Unlock()
		return
	}
	if e.batchesInFlight == 0 {
		e.batchesDone = make(chan struct{})
	}
	e.batchCount++
	e.batchesInFlight++
	e.mu.Unlock()
	apply := func(tx *Tx) (any, error) {
		for _, run := range slices.Sorted(maps.Keys(gathered)) {
			if err := tx.AddTallies(run, sortedTallies(gathered[run])); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	e.Submit(context.Background(), Change{Apply: apply}, func(_ any, err error) {
		if err != nil {
			e.o.Logger.Debug("counts were not stored", "err", err)
		}
		e.batchDone(gathered, err)
	})
}

// batchDone keeps counts that were certainly not stored for the next batch.
func (e *Engine) batchDone(sent tallies, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	refused, ok := errors.AsType[*store.Error](err)
	if ok && refused.Outcome == store.NotApplied || errors.Is(err, commit.ErrOverloaded) {
		for run, counts := range sent {
			for name, n := range counts {
				e.counts.add(run, name, n)
			}
		}
	}
	if e.batchesInFlight--; e.batchesInFlight == 0 {
		close(e.batchesDone)
	}
}

func sortedTallies(counts map[string]int64) []store.Tally {
	var list []store.Tally
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, store.Tally{Name: name, N: counts[name]})
	}
	return list
}

// The names of the counts. Names that end in a dot are prefixes.
const (
	TallyPrompts      = "prompts"
	TallyOverflows    = "prompts.overflow"
	TallyBefore       = "tokens.before"
	TallyAfter        = "tokens.after"
	TallySent         = "tokens.sent"
	TallyResend       = "tokens.resend"
	TallyPacket       = "packet."
	TallyWhyFull      = "why_full."
	TallyVersion      = "version."
	TallyCut          = "cut."
	TallyStage        = "stage."
	TallyMode         = "mode."
	TallyRebuilds     = "rebuilds"
	TallyFallback     = "fallback."
	TallyFallbackMs   = "fallback_ms"
	TallyResults      = "results"
	TallyResultTokens = "results.tokens"
	TallyVerdict      = "verdict."
	TallyGrammar      = "grammar."
	TallyError        = "error."
	TallyNext         = "next."
	TallyRejections   = "rejections"
	TallyRetryPrompts = "retry_prompts"
)

// resultTallies returns the counts of a result.
func resultTallies(r Result, next run.NextAction) []store.Tally {
	j := r.Judgement
	counts := map[string]int64{
		TallyResults:                     1,
		TallyResultTokens:                int64(r.Tokens),
		TallyVerdict + string(j.Verdict): 1,
		TallyGrammar + string(j.Grammar): 1,
		TallyNext + string(next):         1,
	}
	if j.Verdict == verdict.Gaps && r.Role.Reviewer() {
		counts[TallyRejections] = 1
	}
	if next == run.RetryWithPreamble {
		counts[TallyRetryPrompts] = 1
	}
	for _, problem := range j.Errors {
		counts[TallyError+string(problem.Fault)]++
	}
	return sortedTallies(counts)
}

// Tallies returns the counts of a run, or of all runs together for "". It waits for counts in flight, so that each
// counts once.
func (e *Engine) Tallies(ctx context.Context, run string) (map[string]int64, error) {
	for {
		batch, err := e.awaitBatches(ctx)
		if err != nil {
			return nil, err
		}
		counts, err := e.storedTallies(ctx, run)
		if err != nil || e.addGathered(counts, run, batch) {
			return counts, err
		}
	}
}

// awaitBatches waits until no counts are in flight, and returns the number of submitted batches.
func (e *Engine) awaitBatches(ctx context.Context) (batch int64, err error) {
	for {
		e.mu.Lock()
		underway, batch, landed := e.batchesInFlight, e.batchCount, e.batchesDone
		e.mu.Unlock()
		if underway == 0 {
			return batch, nil
		}
		select {
		case <-landed:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

func (e *Engine) storedTallies(ctx context.Context, run string) (map[string]int64, error) {
	counts := map[string]int64{}
	err := e.View(ctx, func(tx store.Tx) error {
		if run != "" {
			if _, ok, err := tx.Run(run); err != nil || !ok {
				return orMissing(err, "run", run)
			}
		}
		list, err := tx.Tallies(run)
		for _, c := range list {
			counts[c.Name] = c.N
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return counts, nil
}

// addGathered adds the counts in memory, and reports whether no batch was submitted since the given one.
func (e *Engine) addGathered(counts map[string]int64, run string, batch int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for of, gathered := range e.counts {
		for name, n := range gathered {
			if run == "" || run == of {
				counts[name] += n
			}
		}
	}
	return e.batchCount == batch
}

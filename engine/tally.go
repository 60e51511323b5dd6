package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/store"
)

// What is counted with a change is stored with it. What is counted when a prompt is compiled, which changes
// nothing, is gathered here and stored a moment later, so that compiling costs no commit. A process that is
// killed in that moment loses these counts, and nothing else. Whoever asks for the sums is given neither more nor less
// than was counted, wherever the counts are just then.

// tallyPause is how long counts are gathered before they are stored.
const tallyPause = time.Second

// tallies are the counts that are not stored yet, by run and name. They are guarded by Engine.mu.
type tallies map[string]map[string]int64

// Tally adds to the counts of a run, soon.
func (e *Engine) Tally(run string, counts ...store.Tally) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return
	}
	e.gather()
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

// gather has what is gathered stored in a moment. The caller holds e.mu.
func (e *Engine) gather() {
	if !e.gathering {
		e.gathering = true
		time.AfterFunc(tallyPause, e.storeGathered) // ends when it has submitted it, or found the engine stopped
	}
}

// storeGathered submits the counts and prompts that were gathered. Nobody waits for it.
func (e *Engine) storeGathered() {
	e.storeCounts()
	e.storePrompts()
}

// storeCounts submits the counts. Those that the store has refused are stored with the next ones.
func (e *Engine) storeCounts() {
	e.mu.Lock()
	gathered := e.counts
	e.counts, e.gathering = tallies{}, false
	if len(gathered) == 0 {
		e.mu.Unlock()
		return
	}
	if e.underway == 0 {
		e.landed = make(chan struct{})
	}
	e.batches++
	e.underway++
	e.mu.Unlock()
	apply := func(tx *Tx) (any, error) {
		for _, run := range slices.Sorted(maps.Keys(gathered)) {
			if err := tx.AddTallies(run, listed(gathered[run])); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	e.Submit(context.Background(), Change{Apply: apply}, func(_ any, err error) {
		if err != nil {
			e.o.Logger.Debug("counts were not stored", "err", err)
		}
		e.batchArrived(gathered, err)
	})
}

// batchArrived takes back counts that were certainly not stored.
func (e *Engine) batchArrived(sent tallies, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	refused, ok := errors.AsType[*store.Error](err)
	if ok && refused.Outcome == store.NotApplied || errors.Is(err, ErrOverloaded) {
		for run, counts := range sent {
			for name, n := range counts {
				e.counts.add(run, name, n)
			}
		}
	}
	if e.underway--; e.underway == 0 {
		close(e.landed)
	}
}

func listed(counts map[string]int64) []store.Tally {
	var list []store.Tally
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, store.Tally{Name: name, N: counts[name]})
	}
	return list
}

// The names of what is counted; those that end in a dot have what they count behind it.
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

// resultTallies gives what is counted of a result.
func resultTallies(r Result, next core.NextAction) []store.Tally {
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
	if next == core.RetryWithPreamble {
		counts[TallyRetryPrompts] = 1
	}
	for _, problem := range j.Errors {
		counts[TallyError+string(problem.Fault)]++
	}
	return listed(counts)
}

// Tallies gives what was counted of a run, or of all of them together if none is named. Counts that are on their way
// to the store are waited for, so that none is missed and none is taken twice.
func (e *Engine) Tallies(ctx context.Context, run string) (map[string]int64, error) {
	for {
		batch, err := e.noneUnderway(ctx)
		if err != nil {
			return nil, err
		}
		counts, err := e.storedTallies(ctx, run)
		if err != nil || e.addGathered(counts, run, batch) {
			return counts, err
		}
	}
}

// noneUnderway waits until no counts are on their way to the store, and gives the number of those that were last.
func (e *Engine) noneUnderway(ctx context.Context) (batch int64, err error) {
	for {
		e.mu.Lock()
		underway, batch, landed := e.underway, e.batches, e.landed
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

// addGathered adds the counts that are not stored yet, and reports whether none have gone on their way since that batch.
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
	return e.batches == batch
}

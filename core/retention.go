package core

// week is the longest proof that the log or a process must provide before its clock is believed.
const week = 7 * 24 * 60 * 60 * 1_000_000

// mostGaps limits the number of gaps after which stretch looks for proof.
const mostGaps = 32

// Retention decides which finished records are old enough to be removed. The clock alone is no proof, because one
// wrong jump ahead would remove everything. A time counts only after the event log or the process continued after it
// for the length of the proof. A gap of that length in the log breaks the proof, so that two jumps of the clock cannot
// confirm each other.
type Retention struct {
	Age    Instant // age at which finished records are removed, in microseconds
	Now    Instant // present time of the clock
	Newest Instant // the time of the newest event; 0 for an empty log
	Began  Instant // time of the clock at the start of the process
	Ran    Instant // run time of the process by the monotonic clock, in microseconds
}

// EventTimes looks into the event log. first is the time of the oldest event at or after an instant, before that of
// the newest event before it. Either is 0 if there is no such event.
type EventTimes func(since Instant) (first, before Instant, err error)

// proof returns the time for which the log must continue after an instant.
func (r Retention) proof() Instant { return min(r.Age, week) }

// Cutoff returns the instant before which finished records may be removed.
func (r Retention) Cutoff(log EventTimes) (Instant, error) {
	seen, err := r.vouched(log)
	if r.Ran >= r.proof() {
		seen = max(seen, r.Began)
	}
	return min(r.Now, seen) - r.Age, err
}

// vouched returns the newest time that the log confirms, or 0. The log cannot confirm a time ahead of the clock.
func (r Retention) vouched(log EventTimes) (Instant, error) {
	_, end, err := log(min(r.Now, r.Newest) + 1)
	for range mostGaps {
		if err != nil || end == 0 {
			return 0, err
		}
		var begin, before Instant
		if begin, before, err = r.stretch(log, end); err == nil && end-begin >= r.proof() {
			_, settled, err := log(end - r.proof() + 1)
			return settled, err
		}
		end = before
	}
	return 0, err
}

// stretch returns the start of the part of the log without a gap up to end, or an instant with enough proof after it.
// before is the time of the event before the gap.
func (r Retention) stretch(log EventTimes, end Instant) (begin, before Instant, err error) {
	for begin = end; end-begin < r.proof(); {
		var first Instant
		if first, before, err = log(begin - r.proof() + 1); err != nil || first == begin {
			return begin, before, err
		}
		begin = first
	}
	return begin, before, nil
}

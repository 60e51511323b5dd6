package rows

import "waybill/core"

// phaseRow is a phase as its columns hold it.
type phaseRow struct {
	state     core.State
	sends     int64
	sentAt    core.Instant
	endedAt   core.Instant
	ackBy     core.AckSource
	reason    string
	lateAckAt core.Instant
}

// flat gives the columns of a phase.
func flat(phase core.Phase) phaseRow {
	r := phaseRow{state: phase.State()}
	switch p := phase.(type) {
	case core.Queued:
	case core.Sent:
		r.sends, r.sentAt = int64(p.Sends), p.At
	case core.Acknowledged:
		r.sends, r.sentAt, r.endedAt, r.ackBy = int64(p.Sends), p.SentAt, p.At, p.By
	case core.Failed:
		r.sends, r.sentAt, r.endedAt, r.lateAckAt = int64(p.Sends), p.SentAt, p.At, p.LateAckAt
	case core.Cancelled:
		r.sends, r.sentAt, r.endedAt, r.reason = int64(p.Sends), p.SentAt, p.At, p.Reason
	}
	return r
}

// columns gives the values of state, sends, sent_at, ended_at, ack_by, reason and late_ack_at: what
// a state does not have is NULL.
func (r phaseRow) columns() [7]any {
	cols := [7]any{0: string(r.state), 1: r.sends}
	if r.sends > 0 || r.sentAt != 0 {
		cols[2] = int64(r.sentAt)
	}
	switch r.state {
	case core.StateQueued, core.StateSent:
	case core.StateAcknowledged:
		cols[3], cols[4] = int64(r.endedAt), string(r.ackBy)
	case core.StateFailed:
		cols[3] = int64(r.endedAt)
		if r.lateAckAt != 0 {
			cols[6] = int64(r.lateAckAt)
		}
	case core.StateCancelled:
		cols[3], cols[5] = int64(r.endedAt), r.reason
	}
	return cols
}

// takePhase takes the columns that columns gives.
func takePhase(r *Row) phaseRow {
	return phaseRow{
		state: core.State(r.Text()), sends: r.Integer(),
		sentAt: core.Instant(r.maybeInteger()), endedAt: core.Instant(r.maybeInteger()),
		ackBy: core.AckSource(r.maybeText()), reason: r.maybeText(), lateAckAt: core.Instant(r.maybeInteger()),
	}
}

// phase gives the phase, or nil if there is no such state.
func (r phaseRow) phase() core.Phase {
	sends := int(r.sends)
	switch r.state {
	case core.StateQueued:
		return core.Queued{}
	case core.StateSent:
		return core.Sent{Sends: sends, At: r.sentAt}
	case core.StateAcknowledged:
		return core.Acknowledged{Sends: sends, SentAt: r.sentAt, At: r.endedAt, By: r.ackBy}
	case core.StateFailed:
		return core.Failed{Sends: sends, SentAt: r.sentAt, At: r.endedAt, LateAckAt: r.lateAckAt}
	case core.StateCancelled:
		return core.Cancelled{Sends: sends, SentAt: r.sentAt, At: r.endedAt, Reason: r.reason}
	}
	return nil
}

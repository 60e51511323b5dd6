package sqlstore

import (
	"waybill/core"
	"waybill/core/instruction"
)

// phaseRow is a phase as its columns hold it.
type phaseRow struct {
	state     instruction.State
	sends     int64
	sentAt    core.Instant
	endedAt   core.Instant
	ackBy     instruction.AckSource
	reason    string
	lateAckAt core.Instant
}

// flat returns the columns of a phase.
func flat(phase instruction.Phase) phaseRow {
	r := phaseRow{state: phase.State()}
	switch p := phase.(type) {
	case instruction.Armed, instruction.Queued:
	case instruction.Sent:
		r.sends, r.sentAt = int64(p.Sends), p.At
	case instruction.Acknowledged:
		r.sends, r.sentAt, r.endedAt, r.ackBy = int64(p.Sends), p.SentAt, p.At, p.By
	case instruction.Failed:
		r.sends, r.sentAt, r.endedAt, r.lateAckAt = int64(p.Sends), p.SentAt, p.At, p.LateAckAt
	case instruction.Cancelled:
		r.sends, r.sentAt, r.endedAt, r.reason = int64(p.Sends), p.SentAt, p.At, p.Reason
	}
	return r
}

// columns returns the values of state, sends, sent_at, ended_at, ack_by, reason and late_ack_at. Values that a state does
// not have are NULL.
func (r phaseRow) columns() [7]any {
	cols := [7]any{0: string(r.state), 1: r.sends}
	if r.sends > 0 || r.sentAt != 0 {
		cols[2] = int64(r.sentAt)
	}
	switch r.state {
	case instruction.StateArmed, instruction.StateQueued, instruction.StateSent, instruction.StateDelivered:
	case instruction.StateAcknowledged:
		cols[3], cols[4] = int64(r.endedAt), string(r.ackBy)
	case instruction.StateFailed:
		cols[3] = int64(r.endedAt)
		if r.lateAckAt != 0 {
			cols[6] = int64(r.lateAckAt)
		}
	case instruction.StateCancelled:
		cols[3], cols[5] = int64(r.endedAt), r.reason
	}
	return cols
}

// takePhase reads the values that columns returns.
func takePhase(r *Row) phaseRow {
	return phaseRow{
		state: instruction.State(r.Text()), sends: r.Integer(),
		sentAt: core.Instant(r.maybeInteger()), endedAt: core.Instant(r.maybeInteger()),
		ackBy: instruction.AckSource(r.maybeText()), reason: r.maybeText(), lateAckAt: core.Instant(r.maybeInteger()),
	}
}

// phase returns the phase, or nil if there is no such state.
func (r phaseRow) phase() instruction.Phase {
	sends := int(r.sends)
	switch r.state {
	case instruction.StateArmed:
		return instruction.Armed{}
	case instruction.StateQueued:
		return instruction.Queued{}
	case instruction.StateSent:
		return instruction.Sent{Sends: sends, At: r.sentAt}
	case instruction.StateAcknowledged:
		return instruction.Acknowledged{Sends: sends, SentAt: r.sentAt, At: r.endedAt, By: r.ackBy}
	case instruction.StateFailed:
		return instruction.Failed{Sends: sends, SentAt: r.sentAt, At: r.endedAt, LateAckAt: r.lateAckAt}
	case instruction.StateCancelled:
		return instruction.Cancelled{Sends: sends, SentAt: r.sentAt, At: r.endedAt, Reason: r.reason}
	case instruction.StateDelivered: // no phase has it
	}
	return nil
}

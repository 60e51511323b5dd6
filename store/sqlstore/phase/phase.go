// Package phase turns the phase of an instruction into the columns of its row and back. It reads and writes no row.
package phase

import (
	"waybill/core"
	"waybill/core/instruction"
)

// A Row is a phase as its columns hold it.
type Row struct {
	State     instruction.State
	Sends     int64
	SentAt    core.Instant
	EndedAt   core.Instant
	AckBy     instruction.AckSource
	Reason    string
	LateAckAt core.Instant
}

// Of returns the columns of a phase.
func Of(phase instruction.Phase) Row {
	r := Row{State: phase.State()}
	switch p := phase.(type) {
	case instruction.Armed, instruction.Queued:
	case instruction.Sent:
		r.Sends, r.SentAt = int64(p.Sends), p.At
	case instruction.Acknowledged:
		r.Sends, r.SentAt, r.EndedAt, r.AckBy = int64(p.Sends), p.SentAt, p.At, p.By
	case instruction.Failed:
		r.Sends, r.SentAt, r.EndedAt, r.LateAckAt = int64(p.Sends), p.SentAt, p.At, p.LateAckAt
	case instruction.Cancelled:
		r.Sends, r.SentAt, r.EndedAt, r.Reason = int64(p.Sends), p.SentAt, p.At, p.Reason
	}
	return r
}

// Columns returns the values of state, sends, sent_at, ended_at, ack_by, reason and late_ack_at. Values that a state does
// not have are NULL.
func (r Row) Columns() [7]any {
	cols := [7]any{0: string(r.State), 1: r.Sends}
	if r.Sends > 0 || r.SentAt != 0 {
		cols[2] = int64(r.SentAt)
	}
	switch r.State {
	case instruction.StateArmed, instruction.StateQueued, instruction.StateSent, instruction.StateDelivered:
	case instruction.StateAcknowledged:
		cols[3], cols[4] = int64(r.EndedAt), string(r.AckBy)
	case instruction.StateFailed:
		cols[3] = int64(r.EndedAt)
		if r.LateAckAt != 0 {
			cols[6] = int64(r.LateAckAt)
		}
	case instruction.StateCancelled:
		cols[3], cols[5] = int64(r.EndedAt), r.Reason
	}
	return cols
}

// Phase returns the phase, or nil if there is no such state.
func (r Row) Phase() instruction.Phase {
	sends := int(r.Sends)
	switch r.State {
	case instruction.StateArmed:
		return instruction.Armed{}
	case instruction.StateQueued:
		return instruction.Queued{}
	case instruction.StateSent:
		return instruction.Sent{Sends: sends, At: r.SentAt}
	case instruction.StateAcknowledged:
		return instruction.Acknowledged{Sends: sends, SentAt: r.SentAt, At: r.EndedAt, By: r.AckBy}
	case instruction.StateFailed:
		return instruction.Failed{Sends: sends, SentAt: r.SentAt, At: r.EndedAt, LateAckAt: r.LateAckAt}
	case instruction.StateCancelled:
		return instruction.Cancelled{Sends: sends, SentAt: r.SentAt, At: r.EndedAt, Reason: r.Reason}
	case instruction.StateDelivered: // no phase has it
	}
	return nil
}

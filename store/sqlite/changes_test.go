package sqlite_test

import (
	"fmt"
	"strings"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/store"
)

// content is as long as the messages that the limits of this store are measured with.
var content = strings.Repeat("look at the failing test again ", 10)

func benchID(n int64) string { return fmt.Sprintf("ins_0192f0c1-7d3a-7abc-8def-%012d", n) }

// queueOne is what queueing an instruction costs the store.
func queueOne(tx store.Tx, n int64) error {
	in := instruction.Instruction{
		ID: benchID(n), Session: "default", Content: content, Tracked: true, MaxRetries: 3,
		CreatedAt: core.Instant(n), Position: n, Phase: instruction.Queued{},
	}
	if err := tx.PutInstruction(in); err != nil {
		return err
	}
	_, err := tx.Append(store.Event{Type: core.InstructionQueued, Subject: in.ID, At: core.Instant(n), Data: eventData})
	return err
}

const eventData = `{"session_id":"default","state":"queued","sends":0,"sends_max":4}`

// acknowledgeOne is what acknowledging one costs it.
func acknowledgeOne(tx store.Tx, n int64) error {
	in, _, err := tx.Instruction(benchID(n))
	if err != nil {
		return err
	}
	in.Phase = instruction.Acknowledged{At: core.Instant(n), By: instruction.ByCall}
	if err := tx.PutInstruction(in); err != nil {
		return err
	}
	_, err = tx.Append(store.Event{Type: core.InstructionAcknowledged, Subject: in.ID, At: core.Instant(n), Data: eventData})
	return err
}

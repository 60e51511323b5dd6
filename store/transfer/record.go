package transfer

import (
	"encoding/hex"
	"errors"
	"fmt"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/store"
)

// A record is one record of a store as a line of an export has it. Its fields are written in their order; an instant
// is in microseconds since 1970. Fields that the kind cannot have are not written.
type record interface {
	kind() string
	// name is the record's name in messages.
	name() string
	// key orders the records of one kind that stand in a row.
	key() key
	// put puts it into the store.
	put(to *filler) error
}

// exact refuses a record with a value that its state cannot have, because the store would drop the value.
func exact(said, kept record) error {
	if same, err := equal(said, kept); err != nil || same {
		return err
	}
	return errors.New("it has fields that none in its state has")
}

// A key compares by its number and then by the bytes of its text.
type key struct {
	number int64
	text   string
}

func (k key) less(other key) bool {
	if k.number != other.number {
		return k.number < other.number
	}
	return k.text < other.text
}

// hash is a store.Hash in hexadecimal digits.
type hash store.Hash

// MarshalText writes the digits.
func (h hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads them.
func (h *hash) UnmarshalText(digits []byte) error {
	if len(digits) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("a hash has %d digits, and %q has %d", hex.EncodedLen(len(h)), digits, len(digits))
	}
	_, err := hex.Decode(h[:], digits)
	return err
}

type event struct {
	Seq     int64        `json:"seq"`
	At      core.Instant `json:"at"`
	Type    text         `json:"type"`
	Subject text         `json:"subject"`
	Data    text         `json:"data"`
	Hash    hash         `json:"hash"`
}

func eventOf(ev store.Event) *event {
	return &event{ev.Seq, ev.At, text(ev.Type), text(ev.Subject), text(ev.Data), hash(ev.Hash)}
}

func (e *event) kind() string { return "event" }
func (e *event) name() string { return fmt.Sprintf("event %d", e.Seq) }
func (e *event) key() key     { return key{number: e.Seq} }

func (e *event) value() store.Event {
	return store.Event{
		Seq: e.Seq, At: e.At, Type: core.EventType(e.Type), Subject: string(e.Subject), Data: string(e.Data), Hash: store.Hash(e.Hash),
	}
}

type instructionRecord struct {
	ID         text              `json:"id"`
	Position   int64             `json:"position"`
	Session    text              `json:"session"`
	Content    text              `json:"content"`
	Tracked    bool              `json:"tracked,omitempty"`
	Priority   bool              `json:"priority,omitempty"`
	MaxRetries int               `json:"max_retries,omitempty"`
	AckEvent   text              `json:"ack_event,omitempty"`
	AckMatch   text              `json:"ack_match,omitempty"`
	Trigger    text              `json:"trigger_event,omitempty"`
	Fires      text              `json:"trigger_match,omitempty"`
	Path       text              `json:"trigger_path,omitempty"`
	CreatedAt  core.Instant      `json:"created_at"`
	State      instruction.State `json:"state"`
	Sends      int               `json:"sends,omitempty"`
	SentAt     core.Instant      `json:"sent_at,omitempty"`
	At         core.Instant      `json:"at,omitempty"`
	By         text              `json:"by,omitempty"`
	Reason     text              `json:"reason,omitempty"`
	LateAckAt  core.Instant      `json:"late_ack_at,omitempty"`
}

func instructionOf(in instruction.Instruction) *instructionRecord {
	i := &instructionRecord{
		ID: text(in.ID), Position: in.Position, Session: text(in.Session), Content: text(in.Content),
		Tracked: in.Tracked, Priority: in.Priority, MaxRetries: in.MaxRetries,
		AckEvent: text(in.AckOn.EventType), AckMatch: text(in.AckOn.Match), CreatedAt: in.CreatedAt,
		Trigger: text(in.Trigger.EventType), Fires: text(in.Trigger.Match), Path: text(in.Trigger.Path),
		State: in.Phase.State(), Sends: in.Sends(), SentAt: in.LastSentAt(),
	}
	switch p := in.Phase.(type) {
	case instruction.Armed, instruction.Queued, instruction.Sent:
	case instruction.Acknowledged:
		i.At, i.By = p.At, text(p.By)
	case instruction.Failed:
		i.At, i.LateAckAt = p.At, p.LateAckAt
	case instruction.Cancelled:
		i.At, i.Reason = p.At, text(p.Reason)
	}
	return i
}

func (i *instructionRecord) kind() string { return "instruction" }
func (i *instructionRecord) name() string { return "instruction " + string(i.ID) }
func (i *instructionRecord) key() key     { return key{number: i.Position} }

func (i *instructionRecord) put(to *filler) error {
	phase, err := i.phase()
	if err != nil {
		return err
	}
	value := instruction.Instruction{
		ID: string(i.ID), Position: i.Position, Session: string(i.Session), Content: string(i.Content),
		Tracked: i.Tracked, Priority: i.Priority, MaxRetries: i.MaxRetries,
		AckOn:   instruction.AckRule{EventType: string(i.AckEvent), Match: string(i.AckMatch)},
		Trigger: instruction.Trigger{EventType: string(i.Trigger), Match: string(i.Fires), Path: string(i.Path)}, CreatedAt: i.CreatedAt, Phase: phase,
	}
	if err := exact(i, instructionOf(value)); err != nil {
		return err
	}
	return to.tx.PutInstruction(value)
}

func (i *instructionRecord) phase() (instruction.Phase, error) {
	switch i.State {
	case instruction.StateArmed:
		return instruction.Armed{}, nil
	case instruction.StateQueued:
		return instruction.Queued{}, nil
	case instruction.StateSent:
		return instruction.Sent{Sends: i.Sends, At: i.SentAt}, nil
	case instruction.StateAcknowledged:
		return instruction.Acknowledged{Sends: i.Sends, SentAt: i.SentAt, At: i.At, By: instruction.AckSource(i.By)}, nil
	case instruction.StateFailed:
		return instruction.Failed{Sends: i.Sends, SentAt: i.SentAt, At: i.At, LateAckAt: i.LateAckAt}, nil
	case instruction.StateCancelled:
		return instruction.Cancelled{Sends: i.Sends, SentAt: i.SentAt, At: i.At, Reason: string(i.Reason)}, nil
	case instruction.StateDelivered: // no phase has it
	}
	return nil, fmt.Errorf("%q is no state of an instruction", i.State)
}

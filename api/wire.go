package api

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/engine"
	"waybill/internal/safetext"
	"waybill/schema"
	"waybill/store"
)

func wireSend(d engine.Delivery, escalate bool) schema.Send {
	in := d.Instruction
	text := in.Content
	if escalate {
		text = instruction.Escalated(in.Content, d.Send)
	}
	return schema.Send{
		InstructionID: in.ID, Content: in.Content, Send: d.Send, SendsMax: in.SendsMax(), Tracked: in.Tracked, Text: text,
	}
}

// cursorAt returns the cursor of a time, "@" and microseconds. initialize uses it while the store is not open. Other
// cursors are an event number, a dot and the beginning of the event's hash, which detects a replaced log.
func cursorAt(at time.Time) string { return "@" + strconv.FormatInt(at.UnixMicro(), 10) }

// stampSlack is the longest time between an event's time and its commit. A cursor with a time may return events
// again, but misses none.
const stampSlack = core.Instant(time.Second / time.Microsecond)

// markBytes is the length of the hash in a cursor, enough for the few logs of a workspace.
const markBytes = 4

// cursorOf returns the cursor after an event. Without a known hash it is only the number.
func cursorOf(p store.Point) string {
	number := strconv.FormatInt(p.Seq, 10)
	if p.Hash == (store.Hash{}) {
		return number
	}
	return number + "." + hex.EncodeToString(p.Hash[:markBytes])
}

// position returns the event after which a cursor points. known is false if the log does not have it.
func position(tx store.EventLog, cursor string) (seq int64, known bool, err error) {
	moment, timed := strings.CutPrefix(cursor, "@")
	number, mark, marked := strings.Cut(moment, ".")
	seq, err = strconv.ParseInt(number, 10, 64)
	if _, bad := hex.DecodeString(mark); err != nil || seq < 0 || marked && (timed || bad != nil || len(mark) != 2*markBytes) {
		return 0, false, badParam("/cursor", "a cursor from waybill, or \"0\" for the beginning", cursor)
	}
	if timed {
		seq, err = tx.SeqBefore(core.Instant(seq) - stampSlack)
		return seq, true, err
	}
	if seq == 0 {
		return 0, true, nil
	}
	p, known, err := store.PointAt(tx, seq)
	if marked && p.Hash != (store.Hash{}) {
		known = known && cursorOf(p) == cursor
	}
	return seq, known, err
}

// badParam returns INVALID_PARAMS for one param.
func badParam(pointer, expected string, found any) *schema.Error {
	shown := safetext.Truncate(fmt.Sprintf("%#v", found), shownCharacters)
	return problem(pointer, pointer+" must be "+expected+", not "+shown, expected, shown)
}

// requireAlone refuses filters together with a param that names one subject. The filters are pairs of pointer and
// value.
func requireAlone(name string, others ...[2]string) error {
	for _, other := range others {
		if other[1] != "" {
			return badParam(other[0], "absent when "+name+" is given", other[1])
		}
	}
	return nil
}

// problem refuses one param with its own message.
func problem(pointer, message, expected, found string) *schema.Error {
	return schema.NewError(schema.InvalidParams, message).With("errors", []schema.Problem{{
		Pointer: pointer, Message: message, Expected: expected, Found: safetext.Truncate(found, shownCharacters),
	}})
}

// shownCharacters limits how much of a param an error repeats: a param may be as large as a message.
const shownCharacters = 48

// or returns the value of a pointer, or the default for nil.
func or[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}

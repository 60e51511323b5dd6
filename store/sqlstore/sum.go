package sqlstore

import (
	"crypto/sha256"
	"encoding/binary"

	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/store"
	"waybill/store/sqlstore/phase"
)

// encoder writes the values of a row one after the other, each text after its length, so that no two rows of a table
// produce the same bytes.
type encoder []byte

func (e encoder) table(name byte) encoder { return append(e[:0], name) }

func (e encoder) integer(n int64) encoder { return binary.BigEndian.AppendUint64(e, uint64(n)) }

func (e encoder) text(s string) encoder { return append(e.integer(int64(len(s))), s...) }

func (e encoder) flag(b bool) encoder { return e.integer(flag(b)) }

// sum returns the checksum that is stored with the row. Eight bytes are enough against accidents; the hash chain of the
// event log protects against intent.
func (e encoder) sum() []byte {
	full := sha256.Sum256(e)
	return full[:8]
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (e encoder) instruction(in instruction.Instruction) encoder {
	p := phase.Of(in.Phase)
	return e.table('i').integer(in.Position).text(in.ID).text(in.Session).text(in.Content).
		flag(in.Tracked).flag(in.Priority).integer(int64(in.MaxRetries)).
		text(in.AckOn.EventType).text(in.AckOn.Match).
		text(in.Trigger.EventType).text(in.Trigger.Match).text(in.Trigger.Path).integer(int64(in.CreatedAt)).
		text(string(in.Phase.State())).integer(p.Sends).integer(int64(p.SentAt)).integer(int64(p.EndedAt)).
		text(string(p.AckBy)).text(p.Reason).integer(int64(p.LateAckAt))
}

func (e encoder) run(number int64, run run.Run) encoder {
	e = e.table('r').integer(number).text(run.ID).text(run.Plan).text(run.ItemID).text(string(run.State))
	for _, n := range numbersOf(run) {
		e = e.integer(n)
	}
	return e
}

func (e encoder) fact(runID string, f store.Fact) encoder {
	return e.table('f').text(runID).text(f.Key).text(f.Value)
}

func (e encoder) event(ev store.Event) encoder {
	e = e.table('e').integer(ev.Seq).integer(int64(ev.At)).text(string(ev.Type)).text(ev.Subject).text(ev.Data)
	return append(e, ev.Hash[:]...)
}

func (e encoder) notice(n store.Notice) encoder {
	return e.table('n').integer(n.Position).text(n.ID).text(string(n.Kind)).text(n.Session).text(n.Subject).
		text(n.Text).text(n.Data).integer(int64(n.CreatedAt)).integer(int64(n.Deliveries))
}

func (e encoder) answer(a store.Answer) encoder {
	return e.table('a').text(a.Key).text(a.Fingerprint).text(a.Result).integer(int64(a.At))
}

func (e encoder) head(h Head) encoder {
	e = e.table('h').integer(h.Oldest).integer(h.Newest).integer(int64(h.At))
	e = append(append(e, h.Base[:]...), h.Hash[:]...)
	for _, n := range h.counts {
		e = e.integer(n)
	}
	return e
}

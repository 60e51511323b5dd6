package law

import (
	"errors"
	"fmt"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/store"
)

// Agree runs the same random transactions on two empty stores and fails t where their answers differ.
func Agree(t *rapid.T, a, b store.Store) {
	transact := func(t *rapid.T) {
		verbs := rapid.SliceOfN(rapid.Custom(drawVerb), 1, 12).Draw(t, "verbs")
		commit := rapid.IntRange(0, 4).Draw(t, "commit") > 0
		require.Equal(t, carryOut(t, a, verbs, commit), carryOut(t, b, verbs, commit))
	}
	look := func(t *rapid.T) {
		verbs := rapid.SliceOfN(rapid.Custom(drawGetting), 1, 12).Draw(t, "verbs")
		require.Equal(t, lookUp(t, a, verbs), lookUp(t, b, verbs))
	}
	t.Repeat(map[string]func(*rapid.T){"transact": transact, "look": look})
	for _, s := range []store.Store{a, b} {
		damage, err := s.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, damage)
	}
}

// Populate carries out random transactions on an empty store, so that it holds something of everything there can be.
func Populate(t *rapid.T, s store.Store) {
	for range rapid.IntRange(0, 40).Draw(t, "transactions") {
		verbs := rapid.SliceOfN(rapid.Custom(drawPutting), 1, 3).Draw(t, "verbs")
		carryOut(t, s, verbs, true)
	}
}

// A verb is one call with its parameters; do returns the answer as a text that can be compared.
type verb struct {
	name string
	do   func(tx store.Tx) string
}

// String describes the verb in the report of a failure.
func (v verb) String() string { return v.name }

func carryOut(t *rapid.T, s store.Store, verbs []verb, commit bool) []string {
	t.Helper()
	var answers []string
	err := s.Update(t.Context(), func(tx store.Tx) error {
		answers = nil
		for _, v := range verbs {
			answers = append(answers, v.do(tx))
		}
		answers = append(answers, fmt.Sprint("writes ", tx.Writes()))
		if !commit {
			return errNo
		}
		return nil
	})
	if err != nil { // of a refusal, only its presence counts
		return append(answers, fmt.Sprint("update refused, by itself ", errors.Is(err, errNo)))
	}
	return append(answers, "update")
}

func lookUp(t *rapid.T, s store.Store, verbs []verb) []string {
	t.Helper()
	var answers []string
	require.NoError(t, s.View(t.Context(), func(tx store.Tx) error {
		for _, v := range verbs {
			answers = append(answers, v.do(tx))
		}
		return nil
	}))
	return answers
}

// answer writes what a verb gave. Of an error only its presence counts: the words may differ.
func answer(err error, values ...any) string {
	if err != nil {
		return "refused"
	}
	return fmt.Sprintf("%+v", values)
}

func drawVerb(t *rapid.T) verb {
	return rapid.OneOf(rapid.Custom(drawPutting), rapid.Custom(drawGetting)).Draw(t, "verb")
}

func drawID(t *rapid.T, prefix string) string {
	return fmt.Sprint(prefix, rapid.IntRange(1, 6).Draw(t, prefix))
}

func drawInstant(t *rapid.T) core.Instant {
	return start + core.Instant(rapid.IntRange(-2, 12).Draw(t, "at"))*day
}

func drawLimit(t *rapid.T) int { return rapid.IntRange(-1, 8).Draw(t, "limit") }

func drawAfter(t *rapid.T) int64 { return rapid.Int64Range(0, 12).Draw(t, "after") }

func drawPutting(t *rapid.T) verb {
	return rapid.OneOf(
		rapid.Custom(drawPutInstruction), rapid.Custom(drawPutInstruction), rapid.Custom(drawAppend),
		rapid.Custom(drawPutRun), rapid.Custom(drawPutFacts), rapid.Custom(drawAddTallies), rapid.Custom(drawPutPrompt),
		rapid.Custom(drawPutNotice),
		rapid.Custom(drawConsume), rapid.Custom(drawPutAnswer), rapid.Custom(drawPrune), rapid.Custom(drawPutRoot), rapid.Custom(drawTaskVerb),
		rapid.Custom(drawTaskVerb), rapid.Custom(drawTaskVerb),
	).Draw(t, "put")
}

// drawInstruction returns an instruction whose fixed fields nearly always follow from its number.
func drawInstruction(t *rapid.T) instruction.Instruction {
	n := rapid.Int64Range(1, 8).Draw(t, "instruction")
	i := tracked(fmt.Sprint("ins", n), n)
	if n%3 == 0 {
		i = plain(i.ID, n)
	}
	i.Priority = n%2 == 0
	i.Session = []string{"a", "b"}[n%2]
	if n%4 == 1 {
		i.AckOn = instruction.AckRule{EventType: "tool", Match: `{"n":1}`}
	}
	if n == 7 {
		i = recurring(i.ID, n)
	}
	if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
		i.Position = drawAfter(t)
	}
	i.Phase = drawPhase(t, i)
	return i
}

func drawPhase(t *rapid.T, i instruction.Instruction) instruction.Phase {
	at, sentAt := drawInstant(t), drawInstant(t)
	sends := rapid.IntRange(1, i.SendsMax()).Draw(t, "sends")
	phases := []instruction.Phase{
		instruction.Queued{},
		instruction.Sent{Sends: sends, At: sentAt},
		instruction.Cancelled{At: at, Reason: "over"},
		instruction.Cancelled{Sends: sends, SentAt: sentAt, At: at},
	}
	if i.Standing() {
		phases = append(phases, instruction.Armed{})
	} else if i.Tracked {
		phases = append(phases,
			instruction.Acknowledged{At: at, By: instruction.ByEvent},
			instruction.Acknowledged{Sends: sends, SentAt: sentAt, At: at, By: instruction.ByCall},
			instruction.Failed{Sends: i.SendsMax(), SentAt: sentAt, At: at},
			instruction.Failed{Sends: i.SendsMax(), SentAt: sentAt, At: at, LateAckAt: at + day},
		)
	}
	return rapid.SampledFrom(phases).Draw(t, "phase")
}

func drawPutInstruction(t *rapid.T) verb {
	i := drawInstruction(t)
	return verb{fmt.Sprintf("PutInstruction %+v", i), func(tx store.Tx) string {
		return answer(tx.PutInstruction(i))
	}}
}

func drawAppend(t *rapid.T) verb {
	ev := event(rapid.SampledFrom(core.EventTypes()).Draw(t, "type"), drawID(t, "ins"), drawInstant(t))
	return verb{fmt.Sprintf("Append %+v", ev), func(tx store.Tx) string {
		seq, err := tx.Append(ev)
		return answer(err, seq)
	}}
}

func drawPutRun(t *rapid.T) verb {
	r := newRun(drawID(t, "run"), drawID(t, "item"))
	r.State = rapid.SampledFrom(run.States()).Draw(t, "state")
	if r.State == run.Blocked {
		r.Halt = rapid.SampledFrom(coretest.Halts()).Draw(t, "halt")
	}
	drawStanding(t, &r)
	r.Revision = rapid.Int64Range(1, 9).Draw(t, "revision")
	r.UpdatedAt = drawInstant(t)
	return verb{fmt.Sprintf("PutRun %+v", r), func(tx store.Tx) string { return answer(tx.PutRun(r)) }}
}

func drawPutFacts(t *rapid.T) verb {
	id := drawID(t, "run")
	fact := rapid.Custom(func(t *rapid.T) store.Fact {
		return store.Fact{Key: drawID(t, "key"), Value: rapid.StringN(0, 8, 40).Draw(t, "value")}
	})
	some := rapid.SliceOfN(fact, 0, 4).Draw(t, "facts")
	return verb{fmt.Sprintf("PutFacts %s %v", id, some), func(tx store.Tx) string {
		return answer(tx.PutFacts(id, some))
	}}
}

func drawPutNotice(t *rapid.T) verb {
	n := notice(drawID(t, "ntc"), drawAfter(t))
	n.Session = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "session")
	n.Deliveries = rapid.IntRange(0, 3).Draw(t, "deliveries")
	return verb{fmt.Sprintf("PutNotice %+v", n), func(tx store.Tx) string { return answer(tx.PutNotice(n)) }}
}

func drawConsume(t *rapid.T) verb {
	id := drawID(t, "ntc")
	return verb{"ConsumeNotice " + id, func(tx store.Tx) string {
		ok, err := tx.ConsumeNotice(id)
		return answer(err, ok)
	}}
}

func drawPutAnswer(t *rapid.T) verb {
	a := store.Answer{Key: drawID(t, "key"), Result: rapid.StringN(0, 8, 40).Draw(t, "result"), At: drawInstant(t)}
	return verb{fmt.Sprintf("PutAnswer %+v", a), func(tx store.Tx) string { return answer(tx.PutAnswer(a)) }}
}

func drawPrune(t *rapid.T) verb {
	before, limit := drawInstant(t), drawLimit(t)
	return verb{fmt.Sprintf("Prune %d %d", before, limit), func(tx store.Tx) string {
		n, err := tx.Prune(before, limit)
		return answer(err, n)
	}}
}

func drawPutRoot(t *rapid.T) verb {
	r := store.Root{Seq: rapid.Int64Range(0, 3).Draw(t, "seq"), Hash: store.Hash{byte(rapid.IntRange(0, 3).Draw(t, "hash"))}, At: drawInstant(t)}
	return verb{fmt.Sprintf("PutRoot %+v", r), func(tx store.Tx) string { return answer(tx.PutRoot(r)) }}
}

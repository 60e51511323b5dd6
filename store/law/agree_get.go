package law

import (
	"fmt"

	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/store"
)

func drawGetting(t *rapid.T) verb {
	return rapid.OneOf(
		rapid.Custom(drawGetOne), rapid.Custom(drawQuery), rapid.Custom(drawQuery), rapid.Custom(drawQuery),
		rapid.Custom(drawEvents), rapid.Custom(drawRunQuery), rapid.Custom(drawSeqBefore), rapid.Custom(drawNotices), rapid.Just(counts()),
		rapid.Custom(drawWhole), rapid.Custom(drawGetTask), rapid.Custom(drawTaskQuery), rapid.Custom(drawTaskQuery), rapid.Custom(drawLeased),
	).Draw(t, "get")
}

func drawGetOne(t *rapid.T) verb {
	number := drawID(t, "")
	return verb{"get what is numbered " + number, func(tx store.Tx) string {
		in, okIn, errIn := tx.Instruction("ins" + number)
		run, okRun, errRun := tx.Run("run" + number)
		latest, okLatest, errLatest := tx.LatestRun("tasks.md", "item"+number)
		all, errAll := tx.LatestRuns("tasks.md")
		counted, errCounted := tx.Tallies("run" + number)
		prompts, errPrompts := allPrompts(tx, "run"+number)
		facts, errFacts := tx.Facts("run" + number)
		n, okN, errN := tx.Notice("ntc" + number)
		a, okA, errA := tx.Answered("key" + number)
		return answer(errIn, in, okIn) + answer(errRun, run, okRun) + answer(errLatest, latest, okLatest) +
			answer(errFacts, facts) + answer(errAll, all) + answer(errCounted, counted) + answer(errPrompts, prompts) + answer(errN, n, okN) + answer(errA, a, okA)
	}}
}

// drawWhole calls the methods that only a copy of the whole store needs.
func drawWhole(t *rapid.T) verb {
	after, limit := drawID(t, "key"), drawLimit(t)
	return verb{fmt.Sprintf("the root, answers and breakers behind %s, %d", after, limit), func(tx store.Tx) string {
		root, err := tx.Root()
		answers, errAnswers := tx.Answers(after, limit)
		breakers, errBreakers := tx.Breakers(after, limit)
		return answer(err, root) + answer(errAnswers, answers) + answer(errBreakers, breakers)
	}}
}

func drawQuery(t *rapid.T) verb {
	some := func(what string) bool { return rapid.IntRange(0, 2).Draw(t, what) == 0 }
	q := store.InstructionQuery{
		Order: rapid.SampledFrom([]store.Order{store.ByPosition, store.ByUrgency, store.ByLastSend}).Draw(t, "order"),
		Limit: rapid.IntRange(0, 5).Draw(t, "limit"),
	}
	if some("by session") {
		q.Session = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "session")
	}
	if some("by state") {
		q.State = rapid.SampledFrom(instruction.States()).Draw(t, "state")
	}
	if some("by send") {
		q.SentBefore, q.Now = drawInstant(t), drawInstant(t)
	}
	if some("by exhaustion") {
		exhausted := some("exhausted")
		q.Exhausted = &exhausted
	}
	if some("by rule") {
		q.AckEvent = "tool"
	}
	if some("by trigger") {
		q.Trigger = "tool"
	}
	if some("after") {
		q.After = drawAfter(t)
	}
	return verb{fmt.Sprintf("Instructions %+v", q), func(tx store.Tx) string {
		page, err := tx.Instructions(q)
		n, errCount := tx.CountInstructions(q)
		return answer(err, page) + answer(errCount, n)
	}}
}

func drawEvents(t *rapid.T) verb {
	after, limit, subject := drawAfter(t), drawLimit(t), drawID(t, "ins")
	types := rapid.SliceOfN(rapid.SampledFrom(core.EventTypes()), 0, 4).Draw(t, "types")
	return verb{fmt.Sprintf("Events %d %d %v %s", after, limit, types, subject), func(tx store.Tx) string {
		page, err := tx.Events(after, limit, types)
		of, errOf := tx.EventsOf(subject, after, limit)
		return answer(err, page) + answer(errOf, of)
	}}
}

func drawSeqBefore(t *rapid.T) verb {
	at := drawInstant(t)
	return verb{fmt.Sprint("SeqBefore ", at), func(tx store.Tx) string {
		seq, err := tx.SeqBefore(at)
		return answer(err, seq)
	}}
}

func drawNotices(t *rapid.T) verb {
	session := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "session")
	after, limit, subject := drawAfter(t), drawLimit(t), "ins_"+drawID(t, "ntc")
	return verb{fmt.Sprintf("Notices %q %d %d, about %s", session, after, limit, subject), func(tx store.Tx) string {
		page, err := tx.Notices(session, after, limit)
		about, errAbout := tx.NoticesAbout(subject)
		return answer(err, page) + answer(errAbout, about)
	}}
}

// counts asks for everything that is counted.
func counts() verb {
	return verb{"counts", func(tx store.Tx) string {
		states, err := tx.InstructionCounts()
		runs, errRuns := tx.RunCounts()
		notices, errNotices := tx.CountNotices()
		oldest, newest, errBounds := tx.Bounds()
		tasks, errTasks := tx.TaskCounts()
		breakers, errBreakers := tx.OpenedBreakers()
		tallies, errTallies := tx.Tallies("")
		return answer(errTasks, tasks) + answer(errBreakers, breakers) + answer(err, states) + answer(errRuns, runs) + answer(errNotices, notices) +
			answer(errBounds, oldest, newest) + answer(errTallies, tallies)
	}}
}

package instruction_test

import (
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/coretest"
	"waybill/core/instruction"
)

func tracked(maxRetries int) instruction.Instruction {
	return instruction.Instruction{
		ID: "ins_1", Session: "default", Content: "run the tests", Tracked: true, MaxRetries: maxRetries,
		CreatedAt: coretest.CreatedAt, Position: 1, Phase: instruction.Queued{},
	}
}

func plain() instruction.Instruction {
	in := tracked(0)
	in.Tracked = false
	return in
}

// after returns what the instruction becomes by events that are all allowed.
func after(t testing.TB, in instruction.Instruction, events ...instruction.Event) instruction.Instruction {
	t.Helper()
	for _, event := range events {
		next, _, err := in.Step(event)
		require.NoError(t, err)
		in = next
	}
	return in
}

// pass dispatches once and returns the numbers of the sends that this handed out.
func pass(t testing.TB, in instruction.Instruction, at core.Instant) (instruction.Instruction, []int) {
	t.Helper()
	next, effects, err := in.Step(instruction.Dispatch{At: at})
	require.NoError(t, err)
	return next, delivered(effects)
}

func delivered(effects []core.Effect) []int {
	var sends []int
	for _, effect := range effects {
		if d, ok := effect.(instruction.Deliver); ok {
			sends = append(sends, d.Send)
		}
	}
	return sends
}

func ackCall(at core.Instant) instruction.Event {
	return instruction.Acknowledge{At: at, By: instruction.ByCall}
}

func ackEvent(at core.Instant) instruction.Event {
	return instruction.Acknowledge{At: at, By: instruction.ByEvent}
}
func dispatch(at core.Instant) instruction.Event { return instruction.Dispatch{At: at} }

// refused asserts that the event is refused with the facts, and that nothing changed.
func refused(t testing.TB, in instruction.Instruction, event instruction.Event) {
	t.Helper()
	next, effects, err := in.Step(event)
	var refusal *core.Refusal
	require.ErrorAs(t, err, &refusal)
	require.True(t, next == in, "a refusal changed the instruction")
	require.Empty(t, effects)
	require.Equal(t, core.InvalidState, refusal.Kind)
	require.Equal(t, "instruction", refusal.Noun)
	require.Equal(t, in.ID, refusal.Subject)
	require.Equal(t, string(in.State()), refusal.State)
	require.Contains(t, refusal.Error(), in.ID)
}

// A retry loop that runs over everything sent, right behind the loop that sends, hands a new
// instruction out twice at once.
func TestFirstDispatchAndRetryAreNeverTheSamePass(t *testing.T) {
	in, sends := pass(t, tracked(3), 200)
	require.Equal(t, []int{1}, sends)
	require.Equal(t, 1, in.Sends())

	in, sends = pass(t, in, 200)
	require.Equal(t, []int{2}, sends, "the second send is the second pass's")
	require.Equal(t, 2, in.Sends())
}

// Tracking by the text loses one of two instructions that say the same.
func TestEqualContentsAreTrackedSeparately(t *testing.T) {
	first, second := tracked(1), tracked(1)
	second.ID, second.Position = "ins_2", 2

	first = after(t, first, dispatch(200), ackCall(300))
	require.Equal(t, instruction.StateAcknowledged, first.State())
	require.Equal(t, instruction.StateQueued, second.State(), "the acknowledgement of one confirmed the other")

	second = after(t, second, dispatch(300), dispatch(400), dispatch(500))
	require.Equal(t, instruction.StateFailed, second.State())
	require.Equal(t, instruction.StateAcknowledged, first.State())
}

// Counting passes alone lets a host that asks often use up every retry in a moment.
func TestChattyHostDoesNotUseUpRetriesWithinTheMinimumAge(t *testing.T) {
	const minAge = 30_000_000
	in := after(t, tracked(3), instruction.Dispatch{At: 200, MinAge: minAge})
	for at := core.Instant(201); at < 300; at++ {
		in = after(t, in, instruction.Dispatch{At: at, MinAge: minAge})
	}
	require.Equal(t, instruction.Sent{Sends: 1, At: 200}, in.Phase)

	in = after(t, in, instruction.Dispatch{At: 200 + minAge - 1, MinAge: minAge})
	require.Equal(t, 1, in.Sends(), "sent again a microsecond early")
	in = after(t, in, instruction.Dispatch{At: 200 + minAge, MinAge: minAge})
	require.Equal(t, 2, in.Sends(), "not sent again when it was due")
}

// The minimum age must not hurry the failure either: the last send gets its time to be confirmed.
func TestMinimumAgeDelaysTheFailureAsItDelaysARepeat(t *testing.T) {
	in := after(t, tracked(0), instruction.Dispatch{At: 200, MinAge: 50}, instruction.Dispatch{At: 249, MinAge: 50})
	require.Equal(t, instruction.StateSent, in.State())
	in = after(t, in, instruction.Dispatch{At: 250, MinAge: 50})
	require.Equal(t, instruction.StateFailed, in.State())
}

// A clock that was set back must not make an instruction wait until it has caught up.
func TestClockSetBackDoesNotSilenceAnInstruction(t *testing.T) {
	in := after(t, tracked(3), instruction.Dispatch{At: 1_000_000}, instruction.Dispatch{At: 500, MinAge: 400})
	require.Equal(t, instruction.Sent{Sends: 2, At: 500}, in.Phase)
}

// An instruction that is confirmed while it still waits must leave the queue.
func TestAcknowledgedBeforeItsDispatchIsNeverSent(t *testing.T) {
	in := after(t, tracked(3), ackCall(150))
	refused(t, in, dispatch(200))
	require.Zero(t, in.Sends())
}

// An acknowledgement between two sends must take the waiting repeat with it.
func TestAcknowledgementCancelsTheRepeatThatIsStillQueued(t *testing.T) {
	in := after(t, tracked(3), dispatch(200), dispatch(300), ackEvent(350))
	refused(t, in, dispatch(400))
	require.Equal(t, instruction.Acknowledged{Sends: 2, SentAt: 300, At: 350, By: instruction.ByEvent}, in.Phase)
}

// A text that is queued already must not swallow the urgency of the same text queued again.
func TestEqualContentWithPriorityIsAnInstructionOfItsOwn(t *testing.T) {
	ordinary, urgent := plain(), plain()
	urgent.ID, urgent.Position, urgent.Priority = "ins_2", 2, true
	require.False(t, ordinary == urgent)

	urgent = after(t, urgent, dispatch(200))
	require.True(t, urgent.Priority)
	require.Equal(t, instruction.StateDelivered, urgent.State())
	require.Equal(t, instruction.StateQueued, ordinary.State())
}

// No retries means one send and a failure that stays to be seen, not an instruction that is dropped.
func TestNoRetriesStillMeansOneSendAndAFailureThatIsKept(t *testing.T) {
	in, sends := pass(t, tracked(0), 200)
	require.Equal(t, []int{1}, sends)
	require.Equal(t, instruction.StateSent, in.State(), "it failed before anybody could confirm it")

	in, effects, err := in.Step(dispatch(300))
	require.NoError(t, err)
	require.Equal(t, instruction.Failed{Sends: 1, SentAt: 200, At: 300}, in.Phase)
	require.Equal(t, []core.Effect{
		core.Record{Type: core.InstructionFailed}, core.Post{Kind: core.NoticeInstructionFailed},
	}, effects)
}

// A pass over an instruction whose first copy still waits must not make a second copy, nor count a
// retry of something that was never sent.
func TestPassOverAQueuedInstructionMakesOneCopyAndCountsNoRetry(t *testing.T) {
	in, sends := pass(t, tracked(1), 200)
	require.Equal(t, []int{1}, sends)
	in, sends = pass(t, in, 300)
	require.Equal(t, []int{2}, sends, "the only retry was used up before the first send")
	in, sends = pass(t, in, 400)
	require.Empty(t, sends)
	require.Equal(t, instruction.StateFailed, in.State())
}

// The age of a send counts from the send. An instruction that waited long in the queue is not due
// again at once.
func TestLastSentAtIsTheSendAndNotTheQueueing(t *testing.T) {
	in := tracked(3)
	require.Zero(t, in.LastSentAt())
	in = after(t, in, dispatch(90_000))
	require.Equal(t, core.Instant(90_000), in.LastSentAt())
	in = after(t, in, instruction.Dispatch{At: 90_010, MinAge: 1000})
	require.Equal(t, 1, in.Sends(), "the age was counted from the queueing")
}

// A short checksum of the text as the id takes two different texts for one instruction.
func TestTextsWithTheSameChecksumAreTwoInstructions(t *testing.T) {
	one, other := tracked(3), tracked(3)
	one.Content, other.Content, other.ID = "plumless", "buckeroo", "ins_2"
	require.Equal(t, crc32.ChecksumIEEE([]byte(one.Content)), crc32.ChecksumIEEE([]byte(other.Content)))

	one = after(t, one, dispatch(200), ackCall(300))
	require.Equal(t, instruction.StateAcknowledged, one.State())
	require.Equal(t, instruction.StateQueued, other.State())
	require.Equal(t, "buckeroo", other.Content)
}

// A second acknowledgement must neither be an error nor move the time of the first.
func TestFaultD2_AcknowledgingTwiceKeepsTheFirst(t *testing.T) {
	in := after(t, tracked(3), dispatch(200), ackCall(300))
	again, effects, err := in.Step(ackEvent(400))
	require.NoError(t, err)
	require.Empty(t, effects)
	require.True(t, again == in)
	require.Equal(t, instruction.Acknowledged{Sends: 1, SentAt: 200, At: 300, By: instruction.ByCall}, again.Phase)
}

// A confirmation that comes after the failure must be kept, must not undo the failure, and counts once.
func TestFaultD3_LateAcknowledgementIsRecordedAndLeavesItFailed(t *testing.T) {
	in := after(t, tracked(0), dispatch(200), dispatch(300))
	in, effects, err := in.Step(ackCall(400))
	require.NoError(t, err)
	require.Equal(t, instruction.Failed{Sends: 1, SentAt: 200, At: 300, LateAckAt: 400}, in.Phase)
	require.Equal(t, []core.Effect{core.Record{Type: core.InstructionLateAck}}, effects)

	again, effects, err := in.Step(ackEvent(500))
	require.NoError(t, err)
	require.Empty(t, effects)
	require.True(t, again == in, "the second late acknowledgement moved the time of the first")
	refused(t, in, dispatch(600))
}

// A confirmation may come before the first send, and then there is nothing left to send.
func TestFaultD4_AcknowledgementBeforeTheFirstDispatchIsAccepted(t *testing.T) {
	in, effects, err := tracked(3).Step(ackCall(150))
	require.NoError(t, err)
	require.Equal(t, instruction.Acknowledged{Sends: 0, At: 150, By: instruction.ByCall}, in.Phase)
	require.Equal(t, []core.Effect{core.Record{Type: core.InstructionAcknowledged}}, effects)
	require.False(t, in.Outstanding())
}

// Two instructions with the same content must each have their sends and their end.
func TestFaultD5_EqualContentsFailAndAreConfirmedIndependently(t *testing.T) {
	first, second := tracked(1), tracked(1)
	second.ID, second.Position = "ins_2", 2
	for at := core.Instant(200); at < 500; at += 100 {
		first = after(t, first, dispatch(at))
	}
	second = after(t, second, dispatch(400), ackEvent(450))
	require.Equal(t, instruction.Failed{Sends: 2, SentAt: 300, At: 400}, first.Phase)
	require.Equal(t, instruction.Acknowledged{Sends: 1, SentAt: 400, At: 450, By: instruction.ByEvent}, second.Phase)
}

// A pass must send an instruction once, and the count of the sends must be exact.
func TestFaultD6_ThreeRetriesAreFourSendsAndAFailureInTheFifthPass(t *testing.T) {
	in := tracked(3)
	for n := 1; n <= 4; n++ {
		var sends []int
		in, sends = pass(t, in, core.Instant(100*n))
		require.Equal(t, []int{n}, sends, "pass %d", n)
		require.Equal(t, instruction.StateSent, in.State(), "pass %d", n)
	}
	in, sends := pass(t, in, 500)
	require.Empty(t, sends, "the fifth pass sent a fifth time")
	require.Equal(t, instruction.Failed{Sends: 4, SentAt: 400, At: 500}, in.Phase)
}

// A send that never reached the host must not count. One of which nobody can say so, because the
// process died, must.
func TestFaultD7_UndeliveredSendBurnsNoRetryAndALostReplyDoes(t *testing.T) {
	in := tracked(1)
	for at := core.Instant(200); at < 1200; at += 100 {
		in = after(t, in, dispatch(at))
		require.Equal(t, 1, in.Sends())
		in = after(t, in, instruction.Undeliver{Send: 1})
		require.Equal(t, instruction.Queued{}, in.Phase)
	}
	in = after(t, in, dispatch(1200), dispatch(1300), instruction.Undeliver{Send: 2, Previous: 1200})
	require.Equal(t, instruction.Sent{Sends: 1, At: 1200}, in.Phase, "the age must count from the send that arrived")

	in = after(t, in, dispatch(1400)) // the process dies here, so that no Undeliver follows
	in, sends := pass(t, in, 1500)
	require.Empty(t, sends)
	require.Equal(t, instruction.Failed{Sends: 2, SentAt: 1400, At: 1500}, in.Phase)
}

// Whoever confirmed or withdrew the instruction while its send was in flight has settled it.
func TestUndeliverComesTooLateForWhatIsSettledOrSentAgain(t *testing.T) {
	sent := after(t, tracked(3), dispatch(200))
	for name, in := range map[string]instruction.Instruction{
		"queued":       tracked(3),
		"sent again":   after(t, sent, dispatch(300)),
		"acknowledged": after(t, sent, ackCall(300)),
		"cancelled":    after(t, sent, instruction.Cancel{At: 300}),
		"failed":       after(t, tracked(0), dispatch(200), dispatch(300)),
	} {
		next, effects, err := in.Step(instruction.Undeliver{Send: 1})
		require.NoError(t, err, name)
		require.Empty(t, effects, name)
		require.True(t, next == in, name)
	}
}

// Every allowed number of retries is that many sends after the first, the bounds included.
func TestFaultD8_SendsAreOnePlusMaxRetriesAtEveryBound(t *testing.T) {
	for _, maxRetries := range []int{0, 1, 2, 999, 1000} {
		in, count := tracked(maxRetries), 0
		for in.Outstanding() {
			var sends []int
			in, sends = pass(t, in, core.Instant(200+count))
			count += len(sends)
			require.LessOrEqual(t, count, 1+maxRetries)
		}
		require.Equal(t, instruction.StateFailed, in.State())
		require.Equal(t, 1+maxRetries, count)
		require.Equal(t, in.SendsMax(), in.Sends())
	}
}

func TestPlainInstructionIsSentOnceAndNeverAsksForMore(t *testing.T) {
	in := plain()
	require.True(t, in.Outstanding())
	require.Equal(t, 1, in.SendsMax())
	refused(t, in, ackCall(150))

	in = after(t, in, dispatch(200))
	require.Equal(t, instruction.Sent{Sends: 1, At: 200}, in.Phase)
	require.False(t, in.Outstanding())
	refused(t, in, dispatch(300))
	refused(t, in, ackCall(300))
	refused(t, in, instruction.Cancel{At: 300})

	in = after(t, in, instruction.Undeliver{Send: 1})
	require.True(t, in.Outstanding(), "what never reached the host is still to be sent")
}

// Retries mean nothing for an instruction without tracking.
func TestPlainInstructionHasOneSendWhateverItsRetriesSay(t *testing.T) {
	in := plain()
	in.MaxRetries = 5
	require.Equal(t, 1, in.SendsMax())
	in = after(t, in, dispatch(200))
	refused(t, in, dispatch(300))
}

func TestEnqueueIsRecorded(t *testing.T) {
	require.Equal(t, []core.Effect{core.Record{Type: core.InstructionQueued}}, instruction.Enqueue())
}

// What is passed over once must not look the same twice, and must stay whole.
func TestRepeatsGrowMoreUrgentAndKeepTheContent(t *testing.T) {
	seen := map[string]int{}
	for send := 1; send <= 4; send++ {
		text := instruction.Escalated("run the tests", send)
		require.Zero(t, seen[text], "send %d looks like send %d", send, seen[text])
		require.Contains(t, text, "run the tests")
		seen[text] = send
	}
	require.Equal(t, "run the tests", instruction.Escalated("run the tests", 1), "the first send is the content itself")
	require.Equal(t, instruction.Escalated("x", 4), instruction.Escalated("x", 1001))
}

// A broken invariant is our own bug and must not pass for an answer.
func TestInstructionWithoutAPhaseOrAnUnknownEventPanics(t *testing.T) {
	none := tracked(1)
	none.Phase = nil
	require.Panics(t, func() { none.Sends() })
	require.Panics(t, func() { none.LastSentAt() })
	require.Panics(t, func() { none.Outstanding() })
	for _, event := range []instruction.Event{dispatch(200), ackCall(200), instruction.Undeliver{Send: 1}, instruction.Cancel{At: 200}} {
		require.Panics(t, func() { _, _, _ = none.Step(event) }, "%T", event)
	}
	require.Panics(t, func() { _, _, _ = tracked(1).Step(nil) })
}

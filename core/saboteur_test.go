package core_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

// A saboteur is a copy of Step with one defect, and the law that must catch it. The test proves that
// the laws can fail: each defect here is one that a real queue has had, or nearly.
type saboteur struct {
	name string
	law  string
	step stepper
}

var saboteurs = []saboteur{
	{"logs a take-back that it does not make", "no effect without a change, and one record of each change", onlyLogs},
	{"burns a retry on Undeliver", "the sends of the value are those that reached the host", burnsARetry},
	{"sends and retries in one pass", "only a dispatch delivers, and once", sendsTwice},
	{"fails in the pass of the last send", "a dispatch does not both deliver and fail", failsAtOnce},
	{"gives up one send early", "it fails only when its sends are used up", givesUpEarly},
	{"never gives up", "there are at most 1 + max_retries sends", neverGivesUp},
	{"sends what was acknowledged", "nothing is delivered when it is over", sendsAcknowledged},
	{"leaves the repeat queued", "an acknowledgement ends what is outstanding", leavesRepeat},
	{"revives the failed", "final states are final", revives},
	{"forgets the failed", "a failure, and nothing else, leaves one notice", failsSilently},
	{"skips a number", "sends are numbered without gaps", skipsNumber},
	{"ages from the queueing", "the last send of the value is the last that reached the host", agesFromQueueing},
	{"ignores the minimum age", "a pass serves what is due and nothing else", ignoresMinAge},
	{"changes what it refuses", "a refusal changes nothing", changesRefused},
	{"cancels nothing that was sent", "a cancellation ends what is outstanding", ignoresCancel},
	{"loses the priority", "what it is never changes", losesPriority},
}

func TestEverySaboteurIsCaughtByItsLaw(t *testing.T) {
	for _, s := range saboteurs {
		t.Run(s.name, func(t *testing.T) {
			var broken []string
			for _, start := range starts() {
				start.Priority = true
				for _, b := range hunt(s.step, start, 4) {
					broken = append(broken, b.law)
				}
			}
			require.Contains(t, broken, s.law)
		})
	}
}

// A law without a saboteur is one of which nobody knows whether it can fail.
func TestEveryLawHasItsSaboteur(t *testing.T) {
	var proved, all []string
	for _, s := range saboteurs {
		proved = append(proved, s.law)
	}
	for _, law := range append(slices.Clone(laws), accounts...) {
		all = append(all, law.name)
	}
	require.ElementsMatch(t, all, proved)
}

// replacing gives Step with what one event type does replaced.
func replacing[E core.Event](broken func(core.Instruction, E) (core.Instruction, []core.Effect, error)) stepper {
	return func(in core.Instruction, event core.Event) (core.Instruction, []core.Effect, error) {
		if e, ok := event.(E); ok {
			return broken(in, e)
		}
		return in.Step(event)
	}
}

var onlyLogs = replacing(func(in core.Instruction, e core.Undeliver) (core.Instruction, []core.Effect, error) {
	_, effects, err := in.Step(e)
	return in, effects, err
})

var burnsARetry = replacing(func(in core.Instruction, e core.Undeliver) (core.Instruction, []core.Effect, error) {
	next, effects, err := in.Step(e)
	if p, ok := in.Phase.(core.Sent); ok && len(effects) > 0 {
		next.Phase = core.Sent{Sends: p.Sends, At: e.Previous}
	}
	return next, effects, err
})

var sendsTwice = replacing(func(in core.Instruction, e core.Dispatch) (core.Instruction, []core.Effect, error) {
	next, effects, err := in.Step(e)
	if in.State() != core.StateQueued || !in.Tracked || in.MaxRetries == 0 {
		return next, effects, err
	}
	next, again, err := next.Step(core.Dispatch{At: e.At})
	return next, append(effects[:1:1], again...), err
})

var failsAtOnce = replacing(func(in core.Instruction, e core.Dispatch) (core.Instruction, []core.Effect, error) {
	next, effects, err := in.Step(e)
	if in.Tracked && len(delivered(effects)) == 1 && next.Sends() == next.SendsMax() {
		next.Phase = core.Failed{Sends: next.Sends(), SentAt: e.At, At: e.At}
		effects = append(effects, core.Post{Kind: core.NoticeInstructionFailed})
	}
	return next, effects, err
})

var givesUpEarly = replacing(func(in core.Instruction, e core.Dispatch) (core.Instruction, []core.Effect, error) {
	fewer := in
	if in.MaxRetries > 0 {
		fewer.MaxRetries--
	}
	next, effects, err := fewer.Step(e)
	next.MaxRetries = in.MaxRetries
	return next, effects, err
})

var neverGivesUp = replacing(func(in core.Instruction, e core.Dispatch) (core.Instruction, []core.Effect, error) {
	more := in
	more.MaxRetries = 1000
	next, effects, err := more.Step(e)
	next.MaxRetries = in.MaxRetries
	return next, effects, err
})

var sendsAcknowledged = replacing(func(in core.Instruction, e core.Dispatch) (core.Instruction, []core.Effect, error) {
	if p, ok := in.Phase.(core.Acknowledged); ok && p.Sends < in.SendsMax() {
		p.Sends, p.SentAt = p.Sends+1, e.At
		in.Phase = p
		return in, []core.Effect{core.Deliver{Send: p.Sends}, core.Record{Type: core.InstructionSent}}, nil
	}
	return in.Step(e)
})

var leavesRepeat = replacing(func(in core.Instruction, e core.Acknowledge) (core.Instruction, []core.Effect, error) {
	next, effects, err := in.Step(e)
	if p, ok := in.Phase.(core.Sent); ok && err == nil {
		next.Phase = core.Sent{Sends: p.Sends, At: e.At}
	}
	return next, effects, err
})

var revives = replacing(func(in core.Instruction, e core.Acknowledge) (core.Instruction, []core.Effect, error) {
	if p, ok := in.Phase.(core.Failed); ok {
		in.Phase = core.Acknowledged{Sends: p.Sends, SentAt: p.SentAt, At: e.At, By: e.By}
		return in, []core.Effect{core.Record{Type: core.InstructionAcknowledged}}, nil
	}
	return in.Step(e)
})

var failsSilently = replacing(func(in core.Instruction, e core.Dispatch) (core.Instruction, []core.Effect, error) {
	next, effects, err := in.Step(e)
	if posts(effects) > 0 {
		return next, effects[:1], err
	}
	return next, effects, err
})

var skipsNumber = replacing(func(in core.Instruction, e core.Dispatch) (core.Instruction, []core.Effect, error) {
	next, effects, err := in.Step(e)
	if p, ok := next.Phase.(core.Sent); ok && p.Sends == 2 && len(delivered(effects)) == 1 {
		next.Phase = core.Sent{Sends: 3, At: e.At}
		return next, []core.Effect{core.Deliver{Send: 3}, core.Record{Type: core.InstructionSent}}, err
	}
	return next, effects, err
})

var agesFromQueueing = replacing(func(in core.Instruction, e core.Dispatch) (core.Instruction, []core.Effect, error) {
	next, effects, err := in.Step(e)
	if p, ok := next.Phase.(core.Sent); ok && p.Sends == 1 {
		next.Phase = core.Sent{Sends: 1, At: in.CreatedAt}
	}
	return next, effects, err
})

var ignoresMinAge = replacing(func(in core.Instruction, e core.Dispatch) (core.Instruction, []core.Effect, error) {
	return in.Step(core.Dispatch{At: e.At})
})

func changesRefused(in core.Instruction, event core.Event) (core.Instruction, []core.Effect, error) {
	next, effects, err := in.Step(event)
	if err != nil {
		next.Priority = false
	}
	return next, effects, err
}

var ignoresCancel = replacing(func(in core.Instruction, e core.Cancel) (core.Instruction, []core.Effect, error) {
	if in.State() == core.StateSent {
		return in, nil, nil
	}
	return in.Step(e)
})

var losesPriority = replacing(func(in core.Instruction, e core.Dispatch) (core.Instruction, []core.Effect, error) {
	next, effects, err := in.Step(e)
	if err == nil {
		next.Priority = next.Priority && len(effects) == 0
	}
	return next, effects, err
})

package program

import (
	"context"
	"fmt"
	"strings"

	"waybill/cli/output"
	"waybill/schema"
	"waybill/store"
)

// AnyID are the kinds of ids that explain knows.
var AnyID = []store.IDKind{store.TaskID, store.AttemptID, store.RunID, store.InstructionID, store.NoticeID}

// FullID returns the complete id for an id shortened to its beginning or its end. It returns an unknown id unchanged,
// so that the method refuses it. For an ambiguous id it returns a usage error with the candidates.
func (l *Local) FullID(ctx context.Context, short string, kinds ...store.IDKind) (string, error) {
	ids, more, err := l.MatchIDs(ctx, short, kinds...)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		l.sayNear(ctx, short, kinds)
		return short, nil
	case len(ids) == 1:
		return ids[0], nil
	}
	return "", output.UsageError(fmt.Errorf("%q may mean several: %s; give more of the id", short, l.candidates(ctx, ids, more)))
}

// candidates lists ids, each with what it is.
func (l *Local) candidates(ctx context.Context, ids []string, more bool) string {
	shown := make([]string, len(ids))
	for i, id := range ids {
		shown[i] = id + " (" + l.describe(ctx, id) + ")"
	}
	if more {
		shown = append(shown, "and more")
	}
	return strings.Join(shown, ", ")
}

// leastTyped is how many characters of an id must be right to find what a mistyped one may mean.
const leastTyped = 5

// sayNear names the ids that end as a mistyped one does, or else those that begin as it does.
func (l *Local) sayNear(ctx context.Context, mistyped string, kinds []store.IDKind) {
	half := max(leastTyped, len(mistyped)/2)
	if len(mistyped) <= half {
		return
	}
	for _, part := range []string{mistyped[len(mistyped)-half:], mistyped[:half]} {
		if ids, more, err := l.MatchIDs(ctx, part, kinds...); err == nil && len(ids) > 0 {
			l.say("waybill: did you mean " + l.candidates(ctx, ids, more) + "?")
			return
		}
	}
}

// idWords maps the prefix of an id to its kind.
var idWords = map[string]string{"tsk": "task", "att": "attempt", "run": "run", "ins": "instruction", "ntc": "notice"}

// describe returns the kind and the state of the subject of an id in a few words.
func (l *Local) describe(ctx context.Context, id string) string {
	beginning, _, _ := strings.Cut(id, "_")
	word, ok := idWords[beginning]
	if !ok {
		return "session"
	}
	var why schema.Explanation
	if l.Call(ctx, "explain", schema.ExplainParams{SubjectID: id}, &why) != nil {
		return word
	}
	if why.Subject != id {
		return word + " of " + why.Subject
	}
	return word + ", " + why.State
}

// RunID returns the id of a run that was named by its id, which may be shortened, or by its plan and item.
func RunID(ctx context.Context, l *Local, args []string) (string, error) {
	if len(args) == 1 {
		return l.FullID(ctx, args[0], store.RunID)
	}
	var r schema.ResumeRunResult
	err := l.Call(ctx, "resume_run", schema.ResumeRunParams{Plan: args[0], ItemID: args[1]}, &r)
	return r.Run.RunID, err
}

package verdict_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/run"
	"waybill/core/verdict"
)

// said is every status word of every vocabulary, written down once more and independently.
var said = map[verdict.Vocabulary]string{
	verdict.V2Status:       "pass gaps error",
	verdict.WorkerBlock:    "completed blocked failed",
	verdict.ReviewerBlock:  "approved needs_changes blocked",
	verdict.AttemptStatus:  "pending running completed error cancelled interrupt",
	verdict.QueueStatus:    "QUEUED RUNNING AWAITING_RESPONSE WAITING_CHILDREN COMPLETE ERROR CANCELLED",
	verdict.SnapshotStatus: "running blocked done failed",
}

// ours is what may stand in each of our fields.
func ours() map[verdict.Field][]string {
	var states []string
	for _, s := range run.States() {
		states = append(states, string(s))
	}
	return map[verdict.Field][]string{
		verdict.VerdictField: {"pass", "gaps", "error"}, // a word is never what makes a result invalid
		verdict.AttemptField: strings.Fields("pending running completed error cancelled interrupted lost awaiting_response"),
		verdict.TaskField:    strings.Fields("QUEUED RUNNING COMPLETE AWAITING_RESPONSE ERROR CANCELLED BLOCKED"),
		verdict.RunField:     states,
	}
}

func TestEveryStatusWordHasOneMeaning(t *testing.T) {
	require.Len(t, said, len(verdict.Vocabularies()))
	count := 0
	for _, in := range verdict.Vocabularies() {
		for _, word := range strings.Fields(said[in]) {
			count++
			w, ok := verdict.Lookup(in, word)
			require.True(t, ok, "%s: %s", in, word)
			require.Equal(t, in, w.In)
			require.Equal(t, word, w.Word)
			require.Contains(t, ours()[w.Field], w.Means, "%s: %s", in, word)
		}
	}
	require.Len(t, verdict.Words(), count, "no word is there twice, and none is there that nobody says")
}

// A vocabulary is about one thing, so all its words go into the same field.
func TestEveryVocabularyHasOneField(t *testing.T) {
	fields := map[verdict.Vocabulary]verdict.Field{}
	for _, w := range verdict.Words() {
		if field, ok := fields[w.In]; ok {
			require.Equal(t, field, w.Field, w)
		}
		fields[w.In] = w.Field
	}
	require.Len(t, fields, len(verdict.Vocabularies()))
}

func TestStrangersHaveNoMeaning(t *testing.T) {
	for _, in := range verdict.Vocabularies() {
		for _, stranger := range []string{"", "passed", "unknown", "pass "} {
			_, ok := verdict.Lookup(in, stranger)
			require.False(t, ok, "%s: %q", in, stranger)
		}
	}
	_, ok := verdict.Lookup("another vocabulary", "pass")
	require.False(t, ok)
	w, ok := verdict.Lookup(verdict.QueueStatus, "queued")
	require.True(t, ok, "the case does not matter")
	require.Equal(t, "QUEUED", w.Word)
}

// The same word means different things in different places; that is why there is a table.
func TestFalseFriendsAreToldApart(t *testing.T) {
	for _, c := range []struct {
		in    verdict.Vocabulary
		word  string
		field verdict.Field
		means string
	}{
		{verdict.WorkerBlock, "blocked", verdict.VerdictField, "gaps"},
		{verdict.ReviewerBlock, "blocked", verdict.VerdictField, "error"},
		{verdict.SnapshotStatus, "blocked", verdict.RunField, "blocked"},
		{verdict.V2Status, "error", verdict.VerdictField, "error"},
		{verdict.AttemptStatus, "error", verdict.AttemptField, "error"},
		{verdict.WorkerBlock, "completed", verdict.VerdictField, "pass"},
		{verdict.AttemptStatus, "completed", verdict.AttemptField, "completed"},
	} {
		w, ok := verdict.Lookup(c.in, c.word)
		require.True(t, ok)
		require.Equal(t, c.field, w.Field, w)
		require.Equal(t, c.means, w.Means, w)
	}
}

// What a caller does with the table does not change it.
func TestTheTablesCannotBeChanged(t *testing.T) {
	verdict.Words()[0].Means = "gaps"
	w, _ := verdict.Lookup(verdict.V2Status, "pass")
	require.Equal(t, "pass", w.Means)
	verdict.Matrix()[0].Required[0] = "nothing"
	require.Equal(t, "role", verdict.Matrix()[0].Required[0])
}

package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/plan"
)

// Whatever the files are called and hold, they come apart as they were put together.
func TestJoinedFilesComeApartAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var files []plan.PlanFile
		for range rapid.IntRange(0, 5).Draw(t, "files") {
			text := rapid.String().Draw(t, "text")
			if rapid.Bool().Draw(t, "forged") {
				text = plan.JoinFiles([]plan.PlanFile{{Name: "inner.md", Text: text}})
			}
			files = append(files, plan.PlanFile{Name: rapid.String().Draw(t, "name"), Text: text})
		}
		got, ok := plan.SplitFiles(plan.JoinFiles(files))
		require.True(t, ok)
		require.Equal(t, files, got)
	})
}

func TestWhatIsNotJoinedDoesNotComeApart(t *testing.T) {
	whole := plan.JoinFiles([]plan.PlanFile{{Name: "a.md", Text: "one"}, {Name: "b.md", Text: "two"}})
	for _, text := range []string{
		"", "- [ ] 1. a\n", whole[1:], whole[:len(whole)-1], whole + "x", "\x00files\n", "\x00files\n3\n\nabc",
		"\x00files\n-1 \"a\"\n\n", "\x00files\n3 a.md\n\nabc", "\x00files\n9 \"a.md\"\n\nabc",
	} {
		_, ok := plan.SplitFiles(text)
		require.False(t, ok, "%q", text)
	}
}

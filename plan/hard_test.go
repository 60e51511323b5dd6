package plan_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/dialect"
	"waybill/plan/graph"
	"waybill/plan/read"
	"waybill/test/slow"
)

// inDialect sets the dialect of a text.
func inDialect(dialect, text string) string {
	return "<!-- waybill: dialect=" + dialect + " -->\n" + text
}

// forEachDialect runs a test for each dialect that there is.
func forEachDialect(t *testing.T, test func(t *testing.T, dialect string)) {
	t.Helper()
	for _, dialect := range dialect.Names() {
		t.Run(dialect, func(t *testing.T) { test(t, dialect) })
	}
}

// Two tasks with one id are never merged, whatever the dialect: both are items, a lookup returns the first, and the
// diagnostic names both places.
func TestFaultF19_DuplicateIDsInEveryDialect(t *testing.T) {
	forEachShape(t, withoutTwins, func(t *testing.T, dialect string, s shape) {
		once, twice := s.nine(nil), s.nine(nil)
		for _, p := range s.nine(nil) {
			p.again = true
			twice = append(twice, p)
		}
		text := s.plan(dialect, twice)
		checkRecordLaws(t, text)
		r := parse(t, text)
		require.Equal(t, 2*parse(t, s.plan(dialect, once)).Len(), r.Len())
		found := diagnostics(r, "duplicate_id")
		require.Len(t, found, 9*s.levels)
		for n := 1; n <= 9; n++ {
			d, it := found[(n-1)*s.levels], item(t, r, s.idOf(n))
			require.Contains(t, d.Message, s.idOf(n))
			require.Contains(t, d.Message, fmt.Sprintf("line %d", it.Line), "the first is found")
			require.True(t, d.Line > it.Line || d.Source != it.Source)
		}
	})
}

// Dependencies that cannot be met are reported with their path, whatever the dialect, and all tasks stay.
func TestFaultF20_ImpossibleDependenciesInEveryDialect(t *testing.T) {
	forEachShape(t, withoutIDs, func(t *testing.T, dialect string, s shape) {
		text := s.plan(dialect, s.nine(map[int]int{1: 2, 2: 3, 3: 1, 4: 4, 5: 777, 6: 5}))
		checkRecordLaws(t, text)
		r := parse(t, text)
		require.Equal(t, 9*s.levels, r.Len())
		circles := diagnostics(r, "dependency_cycle")
		require.Len(t, circles, 2, "%s", text)
		require.Contains(t, circles[0].Message, strings.Join([]string{s.idOf(1), s.idOf(2), s.idOf(3), s.idOf(1)}, " -> "))
		require.Contains(t, circles[1].Message, s.idOf(4)+" -> "+s.idOf(4))
		unknown := diagnostics(r, "dependency_unresolved")
		require.Len(t, unknown, 1)
		require.Contains(t, unknown[0].Message, fmt.Sprintf("%s waits for %q", s.idOf(5), s.idOf(777)))
		ready := graph.Ready(r.Items(), func(string) plan.ItemRun { return plan.NoRun })
		if s.levels == 1 {
			require.Contains(t, ready.Ready, s.idOf(7))
		}
		require.NotContains(t, ready.Ready, s.idOf(1))
	})
}

// The marks that people use are never taken for something else, whatever the dialect: an unknown one is open.
func TestFaultF21_UnknownMarksAreOpenInEveryDialect(t *testing.T) {
	marks := map[bool][]string{
		false: {"?", "/", "!", "§", "é", "1", "P", "*", "", "]"},
		true:  {"?", "!", "perhaps", "almost done", "é", "1", "P"},
	}
	forEachShape(t, withoutMarks, func(t *testing.T, dialect string, s shape) {
		for _, mark := range marks[s.worded] {
			text := s.plan(dialect, []planned{{n: 1, mark: mark}, {n: 2}})
			if mark == "" { // which is no mark of its own in a plan of planned items
				text = strings.Replace(s.plan(dialect, []planned{{n: 1}, {n: 2}}), "["+s.open+"]", "[]", 1)
			}
			checkRecordLaws(t, text)
			r := parse(t, text)
			require.NotZero(t, r.Len())
			for _, it := range r.Items() {
				require.Equal(t, plan.Pending, it.Status, "%s: %q", dialect, text)
			}
		}
		for _, other := range shapes { // what is written as in another dialect
			if other.worded || other.named != "" {
				continue
			}
			for _, mark := range marks[false] {
				text := inDialect(dialect, "## Tasks\n"+other.item(planned{n: 1, mark: mark, title: "a"}))
				checkLaws(t, []byte(text))
				if r, err := read.Read(text, plan.Hints{}); err == nil {
					require.Equal(t, plan.Pending, r.Items()[0].Status, "%s: %q", dialect, text)
				}
			}
		}
	})
}

// hardTexts returns what editors, tools and accidents leave behind.
func hardTexts(t testing.TB) (texts []string) {
	src, err := os.ReadFile("testdata/cases/hard.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(src)) {
		if read, ok := strings.CutPrefix(strings.TrimSpace(line), "read "); ok {
			text, _ := caseText(t, read)
			texts = append(texts, text)
		}
	}
	return texts
}

func TestFaultF21_HardInputInEveryDialect(t *testing.T) {
	forEachDialect(t, func(t *testing.T, dialect string) {
		for _, text := range hardTexts(t) {
			checkHard(t, inDialect(dialect, text))
			checkHard(t, inDialect(dialect, text+"\n- [ ] 1. a\n- [ ] T001 b\n### Task 1: c\n"+text))
		}
	})
	for _, text := range hardTexts(t) {
		checkHard(t, text)
	}
}

// checkHard wants the laws, the same from the same, and the same with other line ends.
func checkHard(t require.TestingT, text string) {
	checkLaws(t, []byte(text))
	r, err := readBytes([]byte(text))
	if err != nil {
		return
	}
	if r.Len() <= 4 && !slow.Race { // it costs the square of it
		checkEveryMarkIn(t, text, true)
	}
	once := meaningOf(t, text)
	require.Equal(t, once, meaningOf(t, text))
	if !strings.Contains(text, "\r") {
		require.Equal(t, once, meaningOf(t, strings.ReplaceAll(text, "\n", "\r\n")), "with CRLF: %q", text)
	}
}

// A hundred thousand items are read in every dialect, and each is found.
func TestFaultF21_AHundredThousandItemsInEveryDialect(t *testing.T) {
	slow.Test(t)
	many := slow.Size(100_000)
	forEachDialect(t, func(t *testing.T, dialect string) {
		s := shapeOf(t, dialect)
		items := make([]planned, many)
		for i := range items {
			items[i].n = i + 1
		}
		r := parse(t, s.plan(dialect, items))
		require.Equal(t, many*s.levels, r.Len())
		if !s.worded && s.named == "" {
			require.Equal(t, r.Checkboxes, countBoxed(r)+countNotTasks(r.Diagnostics))
		}
		last := ""
		for id := range r.IDs() {
			last = id
		}
		if s.id != "" && s.levels == 1 {
			require.Equal(t, s.idOf(many), last)
		}
		require.NotEmpty(t, item(t, r, last).Title)
	})
}

// Ten thousand levels are no recursion.
func TestFaultF21_TenThousandLevels(t *testing.T) {
	const levels = 10_000
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i))
		b.WriteString("- [ ] ")
		fmt.Fprintf(&b, "%d a\n", i+1)
	}
	for _, dialect := range []string{"kiro", "loose"} {
		r := parse(t, inDialect(dialect, b.String()))
		require.Equal(t, levels, r.Len())
		require.Equal(t, levels-1, r.Totals.Groups)
		last := ""
		for id := range r.IDs() {
			last = id
		}
		it := item(t, r, last)
		require.Equal(t, levels-1, it.Level)
		require.LessOrEqual(t, len(it.ID), 128)
	}
}

// A line of a megabyte is a title, a detail or a heading as any other is.
func TestFaultF21_LinesOfAMegabyteInEveryDialect(t *testing.T) {
	long := strings.Repeat("a b ", 1<<18)
	forEachDialect(t, func(t *testing.T, dialect string) {
		s := shapeOf(t, dialect)
		if s.named != "" && dialect != "gsd" {
			t.Log("a title stands in front matter, which is bounded: TestFrontMatterIsBounded")
			return
		}
		text := strings.Replace(s.plan(dialect, []planned{{n: 1, title: "x " + long, below: "  - " + long + "\n"}}), "## Tasks\n", "## Preface "+long+"\n## Tasks\n", 1)
		r := parse(t, text)
		items := r.Items()
		it := items[len(items)-1]
		require.GreaterOrEqual(t, len(it.Title)+len(strings.Join(it.Details, "")), len(long)-1)
		for _, d := range r.Diagnostics {
			require.Less(t, len(d.Message), 4096, "a message does not repeat the line")
		}
	})
}

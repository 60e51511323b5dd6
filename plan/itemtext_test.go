package plan_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"waybill/plan"
)

// Text of an item was once dropped without a word: code and quotations altogether, the lines of a table and of a
// sentence with their ends, the indent of code.
func TestTheTextOfAnItemStandsInItsDetailsLineByLine(t *testing.T) {
	for _, c := range []struct {
		name, plan string
		want       map[string][]string
	}{
		{
			"code below a detail", "- [ ] 1. a\n  - Exactly this:\n    ```sql\n    CREATE (\n      mm REAL\n    );\n    ```\n  - b\n    - c\n- [ ] 2. d\n",
			map[string][]string{"1": {"Exactly this:\n```sql\nCREATE (\n  mm REAL\n);\n```", "b", "c"}, "2": nil},
		},
		{
			"behind blank lines", "- [ ] 1. a\n\n  Config:\n\n  ```yaml\n  a:\n\n    b: 1\n  ```\n  and more\n\n  then this\n",
			map[string][]string{"1": {"Config:\n\n```yaml\na:\n\n  b: 1\n```\nand more", "then this"}},
		},
		{
			"a table, a quotation, code without a fence", "- [ ] 1. a\n  | x | y |\n  |---|---|\n  | 1 | 2 |\n\n  > quoted\n  >\n  > - rule\n\n      if x:\n        y\n",
			map[string][]string{"1": {"| x | y |\n|---|---|\n| 1 | 2 |\n\n> quoted\n>\n> - rule\n\n    if x:\n      y"}},
		},
		{
			"a quotation in a plan that is quoted", "> - [ ] 1. a\n>   - b\n>     > c\n>     ```\n>       d\n>     ```\n",
			map[string][]string{"1": {"b\n> c\n```\n  d\n```"}},
		},
		{
			"what a sentence goes over", "- [ ] 1. a\n  - b\n    c\n1. d\n   e\n  f\n    g\n",
			map[string][]string{"1": {"b\nc", "1. d\n   e\n  f\n    g"}},
		},
		{
			"text without indent", "- [ ] 1. a\nb\n\nc\n\n```\nd\n```\n\n---\n\n- [ ] 2. e\n",
			map[string][]string{"1": {"b", "c\n\n```\nd\n```"}, "2": nil},
		},
		{
			"a fence that begins a detail, and one with tabs", "- [ ] 1. a\n\t- ```sh\n\t  b\n\t  \tc\n\t  ```\n\t- d\n\n\t\t~~~\n\t\te\n\t\t\tf\n\t\t~~~\n",
			map[string][]string{"1": {"```sh\nb\n\tc\n```", "d\n\n~~~\ne\n\tf\n~~~"}},
		},
		{
			"a fence that never ends", "- [ ] 1. a\n  ```\n  b\n- [ ] 2. c\n",
			map[string][]string{"1": {"```\nb"}, "2": nil},
		},
		{
			"a box in a fence, and one without id", "- [ ] 1. a\n  ```\n  - [ ] 2. b\n  ```\n  - [ ] c\n    - _Requirements: 9_\n    d\n  - e\n- [ ] 3. f\n",
			map[string][]string{"1": {"```\n- [ ] 2. b\n```", "[ ] c\n- _Requirements: 9_\nd", "e"}, "3": nil},
		},
		{
			"behind a comment", "- [ ] 1. a\n  <!-- b\n  c --> d\n  - e <!-- f -->\n",
			map[string][]string{"1": {"d", "e <!-- f -->"}},
		},
		{
			"below a heading that has the id", "#### Task 4: a\nb\n\n- [ ] **Files**: `c.go`\n  - d\n",
			map[string][]string{"4": {"b", "d"}},
		},
		{
			"in the groups of openspec", "## 1. a\n- [ ] 1.1 b\n  ```sh\n  rm x\n  ```\n  tail\n  - [ ] c\n    > d\n",
			map[string][]string{"1.1": {"```sh\nrm x\n```\ntail"}, "1.1/1": {"> d"}},
		},
		{
			"of the steps of a task", "### Task 1: a\n**Files:**\n- Create: `b.py`\n- `c.py`\n\n- [ ] **Step 1: d**\n\n```python\ndef e():\n    f\n```\n\n- [ ] **Step 2: g**\n\nRun: `h`\nExpected: i\n",
			map[string][]string{"1": {"Create: `b.py`"}, "1.1": {"```python\ndef e():\n    f\n```"}, "1.2": {"Run: `h`\nExpected: i"}},
		},
		{
			"behind the steps of a task", "### Task 1: a\n- [ ] **Step 1: b**\n#### Notes\nc\n```\n### Task 9: d\n```\n- [ ] **Step 2: e**\n\nf\n\n**Acceptance Criteria:**\n- [ ] g\n" +
				"#### Hints\n- Depends on 7\n  - [ ] **Step 3: h**\ni\n### Task 2: j\n",
			map[string][]string{
				"1":   {"#### Notes\nc\n```\n### Task 9: d\n```", "**Acceptance Criteria:**", "[ ] g", "#### Hints", "Depends on 7", "i"},
				"1.1": nil, "1.2": {"f"}, "1.3": nil, "2": nil,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, c.plan)
			require.Equal(t, slices.Sorted(maps.Keys(c.want)), slices.Sorted(r.IDs()))
			for id, details := range c.want {
				require.Equal(t, details, item(t, r, id).Details, id)
			}
		})
	}
}

// words returns the words of a text, without anything between them.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

var (
	boxMark = regexp.MustCompile(`(?m)^[ \t>]*(?:[-*+]|[0-9]+[.)]|#+)?[ \t]*\[[^\]]*\]`)
	// aroundTitle is what may stand around a title and is said in another way.
	aroundTitle   = regexp.MustCompile(` \d{4}-\d\d-\d\d\)|step \d+:|\bacs?[ :#-]*(\d)`)
	closedComment = regexp.MustCompile(`(?sm)^[ \t>]*(?:[-*+] )?<!--.*?-->`)
	// fieldNames are what a field is called, and what may stand around ids in one.
	fieldNames = words("requirements prompt leverage depends on dependencies blocked by prerequisites requires files file purpose" +
		" task tasks group groups and or to through none n a nfr")
	// titleWords are what the first line of an item may say besides its title and its mark.
	titleWords = words("p x yes ac step sub subtask track md parallel true false with")
)

// lostLine returns a line of an item of which something stands nowhere in it, "" for none.
func lostLine(text, mark string, it *plan.Item) string {
	said := slices.Concat([]string{it.ID, it.Title, it.Prompt, it.Leverage, it.Purpose, it.BlockedReason}, it.Details, it.Files, it.Requirements, it.DependsOn)
	for i, s := range said {
		s = strings.ToLower(s)
		said[i] = " " + strings.Join(words(s), " ") + " "
	}
	known, first := map[string]bool{}, map[string]bool{}
	for _, word := range slices.Concat(fieldNames, words(strings.Join(said, " "))) {
		known[word] = true
	}
	for _, word := range slices.Concat(titleWords, words(strings.ToLower(mark))) {
		first[word] = true
	}
	text = strings.ToLower(boxMark.ReplaceAllString(text, ""))
	text = closedComment.ReplaceAllString(text, "")
	title, below, _ := strings.Cut(text, "\n")
	text = aroundTitle.ReplaceAllString(title, " $1") + "\n" + below
	for k, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		whole := " " + strings.Join(words(line), " ") + " "
		if slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, whole) }) {
			continue
		}
		for _, word := range words(line) {
			if !known[word] && !(k == 0 && first[word]) {
				return line
			}
		}
	}
	return ""
}

// corpora returns all plans under testdata.
func corpora(t *testing.T) map[string]string {
	paths, err := filepath.Glob("testdata/plans/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	plans := map[string]string{}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		plans[filepath.Base(path)] = string(src)
	}
	return plans
}

// Nothing of an item is dropped, in any dialect.
func TestNoLineOfAnItemIsDropped(t *testing.T) {
	for name, text := range corpora(t) {
		r := parse(t, text)
		for i, it := range r.Items() {
			lines := plan.TextOf(r, i)
			if l := lostLine(lines, text[it.Mark.Start:it.Mark.End], &it); l != "" {
				t.Errorf("%s: %s: %q: %+v", name, it.ID, l, it)
			}
		}
	}
}

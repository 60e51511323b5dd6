package record_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/plan"
	"waybill/plan/record"
)

func TestFrontMatterIsReadAsPeopleWriteIt(t *testing.T) {
	for fields, want := range map[string]string{
		"title: Hang: the lamp":                          "Hang: the lamp",
		"title: \"a \\\"b\\\" c\" # d":                   "a \"b\" c",
		"title: 'it''s'":                                 "it's",
		"title: >-\n  a long\n  title":                   "a long title",
		"title: |\n  a\n":                                "a",
		"title: \"a\n  b\"":                              "a b",
		"title: plain\n  on":                             "plain on",
		"title: a # b":                                   "a",
		"title: !!str a":                                 "a",
		"title: &x a\nmore: *x":                          "a",
		"title: 雨どい":                                     "雨どい",
		"# note\n\ntitle: a":                             "a",
		"\"title\": a":                                   "a",
		"title: a\nlabels:\n- x\n-  \"y\"\nrest:\n b: c": "a Labels: x, y",
		"labels: [x, 'y', \"z\"]\ntitle: a":              "a Labels: x, y, z",
		"labels: [x,\n  y]\ntitle: a":                    "a Labels: x, y",
		"labels: []\ntitle: a":                           "a",
	} {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			text := strings.ReplaceAll("---\nid: B-1\nstatus: Done\npriority:\n"+fields+"\n---\n", "\n", end)
			r, err := record.Read(text, plan.Hints{})
			require.NoError(t, err, fields)
			require.NotNil(t, r, fields)
			var it plan.Item
			r.Describe(0, &it)
			require.Equal(t, want, strings.Join(append([]string{it.Title}, it.Details...), " "), "%q", text)
			e := r.Rows.Entries[0]
			require.Equal(t, "Done", text[e.Mark:e.MarkEnd])
			require.Equal(t, plan.Completed, e.Status)
		}
	}
}

// Whatever stands in front matter, it is read without a fault, and only a word in one line can be replaced.
func FuzzFrontMatter(f *testing.F) {
	for _, text := range []string{"status: Done\nid: 1", "status: \"Done\"", "status: [Done]", "status:\n  - Done", "status: &a Done", "status: |\n  Done", "status: 'Done", "status: *a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, fields string) {
		text := "---\ndependencies: []\n" + fields + "\nid: x\nstatus: todo\n---\n- [ ] a\n"
		r, err := record.Read(text, plan.Hints{})
		if err != nil || r == nil {
			return
		}
		for i := range r.Rows.Entries {
			e := &r.Rows.Entries[i]
			if e.MarkEnd > 0 {
				word := text[e.Mark:e.MarkEnd]
				require.NotEmpty(t, strings.TrimSpace(word))
				require.NotContains(t, word, "\n")
			}
			r.Describe(int32(i), &plan.Item{})
		}
		for _, d := range r.Notes.Diagnostics() {
			require.Positive(t, d.Line)
		}
	})
}

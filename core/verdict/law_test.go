package verdict_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
)

// A law holds for every text. It returns what is wrong, or "".
type law struct {
	name  string
	check func(text string, asked verdict.Asked) string
}

var laws = []law{
	{"the same text has the same judgement", sameTwice},
	{"white space at the end does not matter", blankEnd},
	{"white space at the ends of lines does not matter", blankLineEnds},
	{"a result is invalid if and only if there are errors", invalidHasErrors},
	{"another task's result is invalid", foreignTask},
	{"a result has what the matrix requires", hasRequired},
	{"the status word decides the verdict", wordDecides},
	{"errors are shown on one line and have a place", shownOnOneLine},
	{"an added approval makes no pass of a rejection", rejectionStays},
	{"a result is bounded and shows nothing that cannot be seen", isBounded},
}

func sameTwice(text string, asked verdict.Asked) string {
	return differ(verdict.Judge(text, asked), verdict.Judge(strings.Clone(text), asked))
}

func blankEnd(text string, asked verdict.Asked) string {
	return differ(verdict.Judge(text, asked), verdict.Judge(text+" \t\r\n\u00a0\n", asked))
}

// blankLineEnds ignores the body, which keeps the ends of its lines.
func blankLineEnds(text string, asked verdict.Asked) string {
	if strings.Contains(text, "\r") {
		return ""
	}
	before, after := verdict.Judge(text, asked), verdict.Judge(strings.ReplaceAll(text, "\n", " \t\n"), asked)
	before.Result.Body, after.Result.Body = "", ""
	if before.Verdict == verdict.Invalid { // what was found may be shown with more space in it
		return differ(before.Verdict, after.Verdict)
	}
	return differ(before, after)
}

func invalidHasErrors(text string, asked verdict.Asked) string {
	j := verdict.Judge(text, asked)
	if (j.Verdict == verdict.Invalid) != (len(j.Errors) > 0) {
		return fmt.Sprintf("%s with %d errors", j.Verdict, len(j.Errors))
	}
	if j.Grammar == verdict.None && j.Verdict != verdict.Invalid {
		return "a verdict by no grammar"
	}
	return ""
}

func foreignTask(text string, asked verdict.Asked) string {
	j := verdict.Judge(text, verdict.Asked{Role: asked.Role, ItemID: "9.9.9"})
	if j.Grammar != verdict.Legacy && j.Verdict != verdict.Invalid && j.Result.TaskID != "9.9.9" {
		return "it was taken for 9.9.9"
	}
	return ""
}

func hasRequired(text string, asked verdict.Asked) string {
	j := verdict.Judge(text, asked)
	if j.Grammar != verdict.V2 || j.Verdict == verdict.Invalid {
		return ""
	}
	for _, rule := range verdict.Matrix() {
		if rule.Grammar != j.Grammar || rule.Role != asked.Role || rule.Status != j.Result.Status {
			continue
		}
		if slices.Contains(rule.Required, "git_range") && j.Result.GitRange == "" ||
			slices.Contains(rule.Required, "issues") && len(j.Result.Issues) == 0 {
			return "a required field is empty"
		}
		return ""
	}
	return "no row of the matrix has this status"
}

func wordDecides(text string, asked verdict.Asked) string {
	j := verdict.Judge(text, asked)
	if j.Verdict == verdict.Invalid {
		return ""
	}
	in := verdict.V2Status // the words of statements are the same
	if j.Grammar == verdict.JSONBlock {
		in = verdict.ReviewerBlock
		if asked.Role == core.Worker {
			in = verdict.WorkerBlock
		}
	}
	word, ok := verdict.Lookup(in, j.Result.Status)
	if !ok || word.Means != j.Verdict {
		return fmt.Sprintf("%s of a %s became %s", j.Result.Status, asked.Role, j.Verdict)
	}
	return ""
}

func shownOnOneLine(text string, asked verdict.Asked) string {
	j := verdict.Judge(text, asked)
	last := strings.Count(text, "\n") + 1
	for _, p := range j.Errors {
		for _, s := range []string{p.Field, p.Expected, p.Found, p.Message} {
			if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) || utf8.RuneCountInString(s) > 160 {
				return fmt.Sprintf("%q is shown", s)
			}
		}
		if p.Line < 1 || p.Line > last || p.Message == "" || p.Field == "" {
			return fmt.Sprintf("%+v", p)
		}
	}
	for _, w := range j.Warnings {
		if w.Line < 1 || w.Line > last || w.Message == "" || strings.ContainsFunc(w.Message, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Sprintf("%+v", w)
		}
	}
	return ""
}

func remarked(j verdict.Judgement, remark verdict.Remark) bool {
	return slices.ContainsFunc(j.Warnings, func(w verdict.Warning) bool { return w.Remark == remark })
}

// rejectionStays adds an approval in every form before and behind a text. A line "error: …" is left out: it
// states something only as the first or last line.
func rejectionStays(text string, asked verdict.Asked) string {
	j := verdict.Judge(text, asked)
	if j.Verdict != verdict.Gaps && j.Verdict != verdict.Error || j.Grammar == verdict.Legacy && strings.Contains(strings.ToLower(text), "error") {
		return ""
	}
	for _, added := range approvalsOf(asked.Role) {
		for _, whole := range []string{text + "\n\n" + added, added + "\n\n" + text} {
			if j := verdict.Judge(whole, asked); j.Verdict == verdict.Pass {
				return fmt.Sprintf("it passes with %q", added)
			}
		}
	}
	return ""
}

// approvalsOf writes an approval by a role in every form, without a key.
func approvalsOf(role core.Role) []string {
	if role == core.Worker {
		return []string{block(workerObject), workerHeaders, "Implementation complete."}
	}
	object := `{"task_id":"2.1","assessment":"approved","strengths":[],"issues":[],"required_fixes":[]}`
	return []string{block(object), "role: " + role.String() + "\ntask_id: 2.1\nstatus: pass\n", "APPROVED", "Review passed."}
}

// isBounded looks at all texts of a result but the body.
func isBounded(text string, asked verdict.Asked) string {
	r := verdict.Judge(text, asked).Result
	r.Body = ""
	if len(r.TaskID) > 128 || len(r.Summary) > 16<<10 || len(r.GitRange) > 4<<10 {
		return "a text is too long"
	}
	lists := [][]string{r.FilesChanged, r.FollowUps, r.Strengths, r.RequiredFixes, nil, nil}
	for _, i := range r.Issues {
		lists[4] = append(lists[4], i.Severity, i.File, i.Message, i.Fix)
	}
	for _, test := range r.Tests {
		lists[5] = append(append(lists[5], test.Command), test.Failures...)
	}
	for _, list := range lists {
		if len(strings.Join(list, "")) > 64<<10 {
			return "a list is too long"
		}
		if slices.ContainsFunc(list, func(s string) bool { return len(s) > 4<<10 }) {
			return "an entry is too long"
		}
	}
	all := strings.Join(append(slices.Concat(lists...), r.TaskID, r.Summary, r.GitRange, r.Confidence), "")
	if all != withoutControls(all) || !utf8.ValidString(all) {
		return fmt.Sprintf("%q", all)
	}
	return ""
}

// differ returns how two judgements differ.
func differ(want, got any) string {
	if a, b := fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got); a != b {
		return fmt.Sprintf("%s\nbecame\n%s", a, b)
	}
	return ""
}

// specimens is the corpus, and each text of it asked from every role.
func specimens(t testing.TB) []example {
	var all []example
	for _, e := range examples(t) {
		for i := range core.Roles {
			e.asked.Role = core.Role(i + 1)
			all = append(all, e)
		}
	}
	return all
}

func TestLaws(t *testing.T) {
	all := specimens(t)
	for _, law := range laws {
		t.Run(law.name, func(t *testing.T) {
			for _, e := range all {
				require.Empty(t, law.check(e.text, e.asked), "%s: %q", e.name, e.text)
			}
		})
	}
}

package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
	"waybill/core/verdict"
)

// A saboteur judges with one defect, and the law that must catch it. The test proves that the laws can
// fail: each defect is one that a reader of results has had, or nearly.
type saboteur struct {
	name, law string
	judge     judge
}

var saboteurs = []saboteur{
	{"remembers the text before", "the same text has the same judgement", remembers()},
	{"keeps white space at the end", "white space at the end does not matter", keepsEnd},
	{"wants the role alone on its line", "white space at the ends of lines does not matter", wantsBareRole},
	{"passes in spite of errors", "a result is invalid if and only if there are errors", changed(func(j *verdict.Judgement) {
		if j.Result.Status == "pass" {
			j.Verdict = verdict.Pass
		}
	})},
	{"refuses without saying why", "a result is invalid if and only if there are errors", changed(func(j *verdict.Judgement) { j.Errors = nil })},
	{"takes any task_id", "another task's result is invalid", takesAnyTask},
	{"takes an id that begins like the right one", "another task's result is invalid", takesPrefix},
	{"lets a worker pass without a range", "a result has what the matrix requires", asReviewer},
	{"takes a reviewer's blocked for a worker's", "the status word decides the verdict", changed(func(j *verdict.Judgement) {
		if j.Result.Status == "blocked" && j.Verdict == verdict.Error {
			j.Verdict = verdict.Gaps
		}
	})},
	{"takes completed for approved", "the status word decides the verdict", changed(func(j *verdict.Judgement) {
		if j.Result.Status == "failed" {
			j.Verdict = verdict.Pass
		}
	})},
	{"shows what it found as it is", "errors are shown on one line and have a place", func(text string, asked verdict.Asked) verdict.Judgement {
		j := verdict.Judge(text, asked)
		for i := range j.Errors {
			j.Errors[i].Found = text
		}
		return j
	}},
	{"counts lines from zero", "errors are shown on one line and have a place", changed(func(j *verdict.Judgement) {
		for i := range j.Errors {
			j.Errors[i].Line--
		}
	})},
	{"tolerates silently", "what is tolerated is remarked", changed(func(j *verdict.Judgement) { j.Warnings = nil })},
	{"stumbles over a fence", "what a wrapping says is not the result's", func(text string, asked verdict.Asked) verdict.Judgement {
		return verdict.Judge(strings.TrimSuffix(text, "END_DISPATCH_RESULT\n```\n"), asked)
	}},
	{"reads CR LF as legacy", "what a wrapping says is not the result's", func(text string, asked verdict.Asked) verdict.Judgement {
		return verdict.Judge(strings.ReplaceAll(text, "\r\n", "\v"), asked)
	}},
	{"passes what says approved anywhere", "free text passes nothing that it also doubts", func(text string, asked verdict.Asked) verdict.Judgement {
		if strings.Contains(strings.ToLower(text), "approved") {
			return verdict.Judge("APPROVED", asked)
		}
		return verdict.Judge(text, asked)
	}},
	{"reads the first line only", "free text passes nothing that it also doubts", func(text string, asked verdict.Asked) verdict.Judgement {
		first, _, _ := strings.Cut(text, "\n")
		if j := verdict.Judge(first, asked); j.Grammar == verdict.Legacy {
			return j
		}
		return verdict.Judge(text, asked)
	}},
	{"takes the first block", "a later result block takes the place of an earlier one", takesFirst},
	{"wants each marker once", "a later result block takes the place of an earlier one", func(text string, asked verdict.Asked) verdict.Judgement {
		if strings.Count(text, "BEGIN_DISPATCH_RESULT") > 1 {
			return verdict.Judge("", asked)
		}
		return verdict.Judge(text, asked)
	}},
	{"keeps what a terminal would obey", "a result is bounded and shows nothing that cannot be seen", changed(func(j *verdict.Judgement) {
		j.Result.Issues = append(j.Result.Issues, verdict.Issue{Message: "\x1b[2J"})
	})},
	{"keeps a book", "a result is bounded and shows nothing that cannot be seen", changed(func(j *verdict.Judgement) {
		j.Result.Issues = append(j.Result.Issues, verdict.Issue{Message: strings.Repeat("x", 5000)})
	})},
	{"stops at the first error", "every missing field is named", changed(func(j *verdict.Judgement) {
		if len(j.Errors) > 1 {
			j.Errors = j.Errors[:1]
		}
	})},
}

func TestEverySaboteurIsCaughtByItsLaw(t *testing.T) {
	all := specimens(t)
	for _, s := range saboteurs {
		t.Run(s.name, func(t *testing.T) {
			i := slices.IndexFunc(laws, func(l law) bool { return l.name == s.law })
			require.GreaterOrEqual(t, i, 0, s.law)
			require.True(t, slices.ContainsFunc(all, func(e example) bool {
				return laws[i].check(s.judge, e.text, e.asked) != ""
			}))
		})
	}
}

// A law without a saboteur is one of which nobody knows whether it can fail.
func TestEveryLawHasItsSaboteur(t *testing.T) {
	for _, law := range laws {
		require.True(t, slices.ContainsFunc(saboteurs, func(s saboteur) bool { return s.law == law.name }), law.name)
	}
}

// changed gives a judge whose judgements are changed afterwards.
func changed(change func(*verdict.Judgement)) judge {
	return func(text string, asked verdict.Asked) verdict.Judgement {
		j := verdict.Judge(text, asked)
		change(&j)
		return j
	}
}

func remembers() judge {
	seen := 0
	return func(text string, asked verdict.Asked) verdict.Judgement {
		j := verdict.Judge(text, asked)
		if seen++; seen%2 == 0 {
			j.Warnings = append(j.Warnings, verdict.Warning{Remark: "seen", Line: 1, Message: "seen before"})
		}
		return j
	}
}

func keepsEnd(text string, asked verdict.Asked) verdict.Judgement {
	j := verdict.Judge(text, asked)
	if j.Grammar == verdict.Legacy {
		j.Result.Body = text
	}
	return j
}

func wantsBareRole(text string, asked verdict.Asked) verdict.Judgement {
	first, _, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(first, "role:") && strings.TrimSpace(first) != first {
		return verdict.Judge("", asked)
	}
	return verdict.Judge(text, asked)
}

func takesAnyTask(text string, asked verdict.Asked) verdict.Judgement {
	asked.TaskID = verdict.Judge(text, asked).Result.TaskID
	return verdict.Judge(text, asked)
}

func takesPrefix(text string, asked verdict.Asked) verdict.Judgement {
	if id := verdict.Judge(text, asked).Result.TaskID; strings.HasPrefix(asked.ItemID, id[:min(1, len(id))]) || strings.HasPrefix(id, "2.1") {
		asked.TaskID = id
	}
	return verdict.Judge(text, asked)
}

func asReviewer(text string, asked verdict.Asked) verdict.Judgement {
	if asked.Role == core.Worker && strings.HasPrefix(text, "role:") {
		asked.Role = core.SpecReviewer
	}
	return verdict.Judge(text, asked)
}

func takesFirst(text string, asked verdict.Asked) verdict.Judgement {
	const end = "END_DISPATCH_RESULT"
	if i := strings.Index(text, end); i >= 0 {
		return verdict.Judge(text[:i+len(end)], asked)
	}
	return verdict.Judge(text, asked)
}

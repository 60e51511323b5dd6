package verdict

import (
	"encoding/json"
	"fmt"
	"strings"

	"waybill/core"
	"waybill/core/run"
)

const retryPrefix = "RETRY CONTEXT:"

// Texts of a retry prompt. Only the parts in braces differ between retries.
const (
	workerRetry = retryPrefix + ` the previous run of this task ended without a usable result. It counts as
neither done nor failed, and what it changed may still be there.

What was wrong with its result:
{problems}

`
	reviewerRetry = retryPrefix + ` the previous run of this review ended without a usable result. It counts as
neither an approval nor a rejection.

What was wrong with its result:
{problems}

`
	retryHeaders = `Answer with these lines first, before any other word and outside any code fence:

`
	retryBlock = `Answer with one result block at the very end, in exactly this form:

`
	retryEnd = `
Fill in what is in angle brackets. The key belongs to this answer alone: copy it as it is.
Any other result format or key named below does not count.
`
	retrySeparator = "\n---\n"
	// These words follow the original prompt, which may ask for another form.
	lastHeaders = retrySeparator + `Answer with the header lines at the beginning of this text, and with their key ` + lastRule
	lastBlock   = retrySeparator + `Answer with one result block as at the beginning of this text, and with its key ` + lastRule
	lastRule    = `{key}. Any
other result format or key named above does not count.
`
)

// Required forms. The angle brackets mark them as templates, which are no results.
const (
	workerForm = `role: {role}
task_id: {task_id}
key: {key}
status: <pass, gaps or error>
git_range: <base>..<head>
issues: <what is missing or wrong; separated by semicolons>
files_changed: <paths, separated by commas>
`
	workerFormRules = `
"role", "task_id", "key" and "status" are always required. "git_range" is required with pass, "issues" is
required with gaps and error, and "files_changed" may be left out.
Then leave one line blank, and say below it whatever else there is to say.
`
	reviewerForm = `role: {role}
task_id: {task_id}
key: {key}
status: <pass, gaps or error>
issues: <what is missing or wrong; separated by semicolons>
confidence: <high, medium or low>
`
	reviewerFormRules = `
"role", "task_id", "key" and "status" are always required. "issues" is required with gaps and error, and
"confidence" may be left out.
Then leave one line blank, and say below it whatever else there is to say.
`
	workerBlockForm = beginMarker + `
{"task_id":"{task_id}","key":"{key}","status":"<completed, blocked or failed>","summary":"<what you did>","files_changed":["<path>"],"tests":[{"command":"<what you ran>","passed":true}],"follow_up_actions":[],"git_range":"<base>..<head>"}
` + endMarker + `
`
	reviewerBlockForm = beginMarker + `
{"task_id":"{task_id}","key":"{key}","assessment":"<approved, needs_changes or blocked>","strengths":[],"issues":[{"severity":"<critical, important or minor>","file":"<path>","message":"<what is wrong>","fix":"<what to do>"}],"required_fixes":["<what must change>"]}
` + endMarker + `
`
	blockRules = `
Write each marker alone on its line, bare JSON between them, and [] for a list without entries.
`
)

// retryForms are the texts before and after the original prompt.
var retryForms = [...]struct{ first, last string }{
	{workerRetry + retryHeaders + workerForm + workerFormRules + retryEnd, lastHeaders},
	{reviewerRetry + retryHeaders + reviewerForm + reviewerFormRules + retryEnd, lastHeaders},
	{workerRetry + retryBlock + workerBlockForm + blockRules + retryEnd, lastBlock},
	{reviewerRetry + retryBlock + reviewerBlockForm + blockRules + retryEnd, lastBlock},
}

// RetryPrompt returns the prompt for another try after an invalid result. It has the problems, one per line, the
// required form with the first of the keys, and the original prompt unchanged. Form and key are named first and last,
// so that they overrule the original prompt.
func RetryPrompt(prompt string, asked Asked, problems []Problem) string {
	i := 0
	if asked.Role != core.Worker {
		i = 1
	}
	if asked.Form == run.ResultJSON {
		i += 2
	}
	id, key := asked.ItemID, ""
	if id == "" {
		id = asked.TaskID
	}
	if len(asked.Keys) > 0 {
		key = asked.Keys[0]
	}
	if id = show(id); asked.Form == run.ResultJSON {
		id = inString(id)
	}
	fill := strings.NewReplacer(
		"{problems}", problemLines(problems), "{role}", asked.Role.String(), "{task_id}", id, "{key}", key,
	)
	return fill.Replace(retryForms[i].first) + retrySeparator + prompt + fill.Replace(retryForms[i].last)
}

// inString returns a text escaped for a JSON string.
func inString(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic("verdict: a string has no JSON: " + err.Error())
	}
	return string(text[1 : len(text)-1])
}

// IsRetry reports whether RetryPrompt made the prompt.
func IsRetry(prompt string) bool { return strings.HasPrefix(prompt, retryPrefix) }

// Original returns the prompt that a retry prompt repeats, and any other prompt unchanged. Only a text with all
// constant parts is a retry prompt.
func Original(prompt string) string {
	for _, form := range retryForms {
		if original, ok := repeated(prompt, form.first, form.last); ok {
			return original
		}
	}
	return prompt
}

// repeated returns the prompt inside a filled-in form. The parts that were filled in are single lines, so the first
// end of the form and the last words are its own.
func repeated(prompt, form, last string) (string, bool) {
	head, rest, _ := strings.Cut(form, "{problems}")
	filled, ok := strings.CutPrefix(prompt, head)
	if !ok {
		return "", false
	}
	end := rest[strings.LastIndex(rest, "{key}")+len("{key}"):]
	middle, _, headers := strings.Cut(rest, "{role}")
	if !headers {
		middle, _, _ = strings.Cut(rest, "{task_id}")
	}
	filled, original, ended := strings.Cut(filled, end+retrySeparator)
	problems, _, asks := strings.Cut(filled, middle)
	if !ended || !asks {
		return "", false
	}
	for line := range strings.SplitSeq(problems, "\n") {
		if !strings.HasPrefix(line, "- ") {
			return "", false
		}
	}
	before, behind, _ := strings.Cut(last, "{key}")
	at := strings.LastIndex(original, before)
	if at < 0 || !strings.HasSuffix(strings.TrimRight(original, "\n")+"\n", behind) {
		return "", false
	}
	return original[:at], true
}

func problemLines(problems []Problem) string {
	if len(problems) == 0 {
		return "- nothing in it was recognised as a result"
	}
	var b strings.Builder
	for i, p := range problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.line())
	}
	return b.String()
}

// line returns a problem as one line of a prompt. Its texts are made safe again, because they may come back from a
// host.
func (p Problem) line() string {
	s := "- " + show(p.Field)
	if p.Line > 0 {
		s += fmt.Sprintf(" (line %d)", p.Line)
	}
	s += ": " + showUpTo(p.Message, maxShownLong)
	if p.Expected != "" {
		s += "; expected " + showUpTo(p.Expected, maxShownLong)
	}
	switch {
	case p.Found != "":
		s += "; found " + show(p.Found)
	case p.Expected != "":
		s += "; found nothing"
	}
	return s
}

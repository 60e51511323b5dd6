package verdict

import (
	"fmt"
	"strings"

	"waybill/core"
)

const retryPrefix = "RETRY CONTEXT:"

// What an agent is told when its result was invalid. There is one text for each family of roles, and
// only what is in braces differs from one retry to the next.
const (
	workerRetry = retryPrefix + ` the previous run of this task ended without a usable result. It counts as
neither done nor failed, and what it changed may still be there.

What was wrong with its result:
{problems}

Answer with these lines first, before any other word and outside any code fence:

role: {role}
task_id: {task_id}
status: <pass, gaps or error>
git_range: <base>..<head>
issues: <what is missing or wrong; separated by semicolons>
files_changed: <paths, separated by commas>

"role", "task_id" and "status" are always required. "git_range" is required with pass, "issues" is
required with gaps and error, and "files_changed" may be left out. Fill in what is in angle brackets.
Then leave one line blank, and say below it whatever else there is to say. If the task below asks for a
result block, give it at the very end as well; both must say the same.
Do not leave these lines out and do not put anything before them: a result that cannot be read is lost.
`
	reviewerRetry = retryPrefix + ` the previous run of this review ended without a usable result. It counts as
neither an approval nor a rejection.

What was wrong with its result:
{problems}

Answer with these lines first, before any other word and outside any code fence:

role: {role}
task_id: {task_id}
status: <pass, gaps or error>
issues: <what is missing or wrong; separated by semicolons>
confidence: <high, medium or low>

"role", "task_id" and "status" are always required. "issues" is required with gaps and error, and
"confidence" may be left out. Fill in what is in angle brackets.
Then leave one line blank, and say below it whatever else there is to say. If the review below asks for
a result block, give it at the very end as well; both must say the same.
Do not leave these lines out and do not put anything before them: a result that cannot be read is lost.
`
	retrySeparator = "\n---\n"
)

// RetryPrompt gives the prompt for another try after an invalid result: why there is one, every
// problem on a line of its own, the headers that are required, and the original prompt, unchanged.
// What the problems quote cannot be taken for any other part of it.
func RetryPrompt(prompt string, asked Asked, problems []Problem) string {
	text := reviewerRetry
	if asked.Role == core.Worker {
		text = workerRetry
	}
	id := asked.ItemID
	if id == "" {
		id = asked.TaskID
	}
	return strings.NewReplacer(
		"{problems}", problemLines(problems), "{role}", asked.Role.String(), "{task_id}", show(id),
	).Replace(text) + retrySeparator + prompt
}

// IsRetry reports whether a prompt is one that RetryPrompt made.
func IsRetry(prompt string) bool { return strings.HasPrefix(prompt, retryPrefix) }

// Original gives the prompt that a retry prompt repeats, and any other prompt as it is. A prompt may begin
// like a retry and be none: only what has all that is constant in one is taken for one.
func Original(prompt string) string {
	for _, form := range [...]string{workerRetry, reviewerRetry} {
		if original, ok := repeated(prompt, form); ok {
			return original
		}
	}
	return prompt
}

// repeated gives the prompt behind a form that was filled in. What is filled in has no line feed but those
// between the problems, so the first end of the form is its own, whatever the prompt says.
func repeated(prompt, form string) (string, bool) {
	head, rest, _ := strings.Cut(form, "{problems}")
	middle, rest, _ := strings.Cut(rest, "{role}")
	_, end, _ := strings.Cut(rest, "{task_id}")
	filled, ok := strings.CutPrefix(prompt, head)
	if !ok {
		return "", false
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
	return original, true
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

// line writes a problem as one line of a prompt. Its texts are made harmless once more, because they
// may have come back from a host.
func (p Problem) line() string {
	s := "- " + show(p.Field)
	if p.Line > 0 {
		s += fmt.Sprintf(" (line %d)", p.Line)
	}
	s += ": " + clip(p.Message, shownLong)
	if p.Expected != "" {
		s += "; expected " + clip(p.Expected, shownLong)
	}
	switch {
	case p.Found != "":
		s += "; found " + show(p.Found)
	case p.Expected != "":
		s += "; found nothing"
	}
	return s
}

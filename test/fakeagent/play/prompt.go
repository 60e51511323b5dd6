package play

import (
	"fmt"
	"slices"
	"strings"
)

// This file reads a prompt as an agent does: by its words.

// The roles.
const (
	worker              = "worker"
	specReviewer        = "spec-reviewer"
	codeQualityReviewer = "code-quality-reviewer"
)

var roles = []string{worker, specReviewer, codeQualityReviewer}

// openings are the first words of the lines that name the role.
var openings = []struct{ words, role string }{
	{"You are the worker on one task of a plan", worker},
	{"You review the work on one task of a plan: is it what was asked for", specReviewer},
	{"You review the work on one task of a plan: is it correct", codeQualityReviewer},
}

const (
	retryOpening  = "RETRY CONTEXT:"
	retryEnd      = "\n---\n"
	continuedFrom = "[Previous Output]\n"
	continuedTask = "\n[Continue Task]\n"
	continuedText = "\nThe task was:\n"
	quoteMark     = "│ " // before a quoted line that looks like a heading
	taskHead      = "[Task]"
	nowHead       = "[Now]"
	from          = " (from " // between the name of a section and its source
	taskID        = "Task id:"
	resultKey     = "Result key:"
)

// asked holds the facts of a prompt. Older prompts have no key.
type asked struct{ role, item, key string }

func (a asked) reviewer() bool { return a.role != worker }

// readPrompt reads the facts of a prompt. Flags override them.
func (c call) readPrompt(prompt string) (asked, error) {
	a := asked{role: c.role, item: c.task}
	a.fillIn(said(strings.ReplaceAll(prompt, "\r\n", "\n")))
	switch {
	case a.role == "":
		return asked{}, mistake{fmt.Errorf("found no role in the prompt; allowed: a line that begins with %q, %q or %q, or --role",
			openings[0].words, openings[1].words, openings[2].words)}
	case !slices.Contains(roles, a.role):
		return asked{}, mistake{fmt.Errorf("found the role %q in the prompt; allowed: %s", a.role, strings.Join(roles, ", "))}
	case a.item == "":
		return asked{}, mistake{fmt.Errorf("found no item in the prompt; allowed: a line %q below %s, or --task", taskID+" X", taskHead)}
	}
	return a, nil
}

func (a *asked) fillIn(other asked) {
	if a.role == "" {
		a.role = other.role
	}
	if a.item == "" {
		a.item = other.item
	}
	if a.key == "" {
		a.key = other.key
	}
}

// said returns the role and item of a prompt. A retry or continuation has the original prompt at its end, which
// counts, because a retry shortens long ids.
func said(prompt string) asked {
	switch {
	case strings.HasPrefix(prompt, retryOpening):
		form, inner, _ := strings.Cut(prompt, retryEnd)
		a := said(inner)
		a.fillIn(asked{role: field(form, "role:"), item: field(form, "task_id:"), key: keyOf(form)})
		return a
	case strings.HasPrefix(prompt, continuedFrom):
		_, inner, _ := strings.Cut(prompt, continuedTask)
		_, inner, _ = strings.Cut(inner, continuedText)
		return said(strings.TrimPrefix(strings.ReplaceAll("\n"+inner, "\n"+quoteMark, "\n"), "\n"))
	}
	_, task, _ := strings.Cut("\n"+prompt, "\n"+taskHead+from)
	task, _, _ = strings.Cut(task, "\n\n") // end of the section
	_, now, _ := strings.Cut("\n"+prompt, "\n"+nowHead+from)
	return asked{role: opening(prompt), item: field(task, taskID), key: field(now, resultKey)}
}

// keyOf returns the key from the form in a retry: a header, or a member of the block.
func keyOf(form string) string {
	if key := field(form, "key:"); key != "" {
		return key
	}
	_, key, _ := strings.Cut(form, `"key":"`)
	key, _, _ = strings.Cut(key, `"`)
	return key
}

// opening returns the role in the first line.
func opening(prompt string) string {
	for _, o := range openings {
		if strings.HasPrefix(prompt, o.words) {
			return o.role
		}
	}
	return ""
}

// field returns the value of the first line with the name.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

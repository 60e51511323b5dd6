package play

import (
	"fmt"
	"slices"
	"strings"
)

// This file reads a prompt as an agent does: by its words, without knowing who wrote it.

// The roles.
const (
	worker              = "worker"
	specReviewer        = "spec-reviewer"
	codeQualityReviewer = "code-quality-reviewer"
)

var roles = []string{worker, specReviewer, codeQualityReviewer}

// openings are the first words of the line by which a prompt says who is asked.
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
	quoteMark     = "│ " // before a line of a continued task that would pass for a heading of the new prompt
	taskHead      = "[Task]"
	from          = " (from " // and behind it whose words the section has
	taskID        = "Task id:"
)

// asked is what an agent was asked.
type asked struct{ role, item string }

func (a asked) reviewer() bool { return a.role != worker }

// readPrompt finds out what is asked. What was given by hand counts more than what the prompt says.
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
}

// said gives what a prompt says about who is asked about what. A retry and a continuation have the
// first prompt at their end, and what that says counts more: a retry shortens a long id.
func said(prompt string) asked {
	switch {
	case strings.HasPrefix(prompt, retryOpening):
		form, inner, _ := strings.Cut(prompt, retryEnd)
		a := said(inner)
		a.fillIn(asked{role: field(form, "role:"), item: field(form, "task_id:")})
		return a
	case strings.HasPrefix(prompt, continuedFrom):
		_, inner, _ := strings.Cut(prompt, continuedTask)
		_, inner, _ = strings.Cut(inner, continuedText)
		return said(strings.TrimPrefix(strings.ReplaceAll("\n"+inner, "\n"+quoteMark, "\n"), "\n"))
	}
	_, task, _ := strings.Cut("\n"+prompt, "\n"+taskHead+from)
	task, _, _ = strings.Cut(task, "\n\n") // the section ends there
	return asked{role: opening(prompt), item: field(task, taskID)}
}

// opening gives the role that the prompt begins with.
func opening(prompt string) string {
	for _, o := range openings {
		if strings.HasPrefix(prompt, o.words) {
			return o.role
		}
	}
	return ""
}

// field gives the value of the first line that has the name.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

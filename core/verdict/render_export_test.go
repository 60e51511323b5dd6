package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"waybill/core"
)

// Render writes a result in the v2 grammar or as a result block, so that Judge reads the same result
// from it. A result that the grammar cannot carry, or that Judge would refuse, is an error.
func Render(r Result, g Grammar) (string, error) {
	var text string
	switch g {
	case JSONBlock:
		object, err := json.Marshal(blockOf(r))
		if err != nil {
			return "", fmt.Errorf("render a result block: %w", err)
		}
		text = beginMarker + "\n" + string(object) + "\n" + endMarker + "\n"
	case V2:
		text = headerText(r)
	case Legacy, None:
	}
	if text == "" {
		return "", fmt.Errorf("a result cannot be written in the grammar %q", string(g))
	}
	if err := readsBack(text, r, g); err != nil {
		return "", err
	}
	return text, nil
}

// readsBack makes sure that what was written says what was meant. There is no second list of what a
// grammar can carry that could be wrong.
func readsBack(text string, r Result, g Grammar) error {
	j := Judge(text, Asked{Role: r.Role, ItemID: r.TaskID})
	if len(j.Errors) > 0 {
		return errors.New(j.Errors[0].Message)
	}
	if j.Grammar != g {
		return fmt.Errorf("it would be read as %s", j.Grammar)
	}
	meant, said := reflect.ValueOf(r), reflect.ValueOf(j.Result)
	for i := range meant.NumField() {
		if spelled(meant.Field(i)) != spelled(said.Field(i)) {
			return fmt.Errorf("the grammar %s cannot carry this %s", g, meant.Type().Field(i).Name)
		}
	}
	return nil
}

// spelled writes a field so that different values are different texts. A list without entries is the
// same as no list, at every depth, which reflect.DeepEqual does not grant.
func spelled(field reflect.Value) string { return fmt.Sprintf("%+q", field.Interface()) }

// roleName returns a name for the role from which Judge reads what the text itself names.
func (r Result) roleName() string {
	switch {
	case r.Own != 0:
		return r.Own.String()
	case r.Role == core.Worker:
		return "implementer"
	}
	return "reviewer"
}

func headerText(r Result) string {
	messages := make([]string, len(r.Issues))
	for i, issue := range r.Issues {
		messages[i] = issue.Message
	}
	var b strings.Builder
	for _, h := range []struct{ key, value string }{
		{"role", r.roleName()},
		{"task_id", r.TaskID},
		{"status", r.Status},
		{"git_range", r.GitRange},
		{"issues", strings.Join(messages, "; ")},
		{"files_changed", strings.Join(r.FilesChanged, ", ")},
		{"confidence", r.Confidence},
	} {
		if h.value != "" {
			b.WriteString(h.key + ": " + h.value + "\n")
		}
	}
	if r.Body != "" {
		b.WriteString("\n" + r.Body + "\n")
	}
	return b.String()
}

type workerObject struct {
	TaskID       string       `json:"task_id"`
	Status       string       `json:"status"`
	Summary      string       `json:"summary"`
	FilesChanged []string     `json:"files_changed"`
	Tests        []testObject `json:"tests"`
	FollowUps    []string     `json:"follow_up_actions"`
	GitRange     string       `json:"git_range,omitempty"`
}

type testObject struct {
	Command  string   `json:"command"`
	Passed   bool     `json:"passed"`
	Failures []string `json:"failures,omitempty"`
}

type reviewerObject struct {
	TaskID        string        `json:"task_id"`
	Assessment    string        `json:"assessment"`
	Strengths     []string      `json:"strengths"`
	Issues        []issueObject `json:"issues"`
	RequiredFixes []string      `json:"required_fixes"`
}

type issueObject struct {
	Severity string `json:"severity"`
	File     string `json:"file,omitempty"`
	Message  string `json:"message"`
	Fix      string `json:"fix"`
}

func blockOf(r Result) any {
	if r.Role != core.Worker {
		issues := make([]issueObject, len(r.Issues))
		for i, issue := range r.Issues {
			issues[i] = issueObject(issue)
		}
		return reviewerObject{r.TaskID, r.Status, some(r.Strengths), issues, some(r.RequiredFixes)}
	}
	tests := make([]testObject, len(r.Tests))
	for i, test := range r.Tests {
		tests[i] = testObject(test)
	}
	return workerObject{r.TaskID, r.Status, r.Summary, some(r.FilesChanged), tests, some(r.FollowUps), r.GitRange}
}

// some returns a list that is written as [] if it is empty.
func some(list []string) []string { return append([]string{}, list...) }

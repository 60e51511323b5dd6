package play

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
)

// This file writes answers in all forms. Their content depends on the item alone.

// headers writes the three required headers, and others.
func (a asked) headers(status string, more ...string) string {
	lines := []string{"role: " + a.role, "task_id: " + a.item}
	if a.key != "" {
		lines = append(lines, "key: "+a.key)
	}
	lines = append(lines, "status: "+status)
	return strings.Join(append(lines, more...), "\n") + "\n"
}

func (a asked) good() string {
	if a.reviewer() {
		return a.headers("pass", "confidence: high") + "\nIt is what it has to be.\n"
	}
	return a.headers("pass", "git_range: "+a.gitRange(), "files_changed: "+strings.Join(a.files(), ", ")) + "\nAll of it is there, with a test.\n"
}

func (a asked) fenced() string { return "```\n" + a.good() + "```\n" }
func (a asked) crlf() string   { return "\uFEFF" + strings.ReplaceAll(a.good(), "\n", "\r\n") }
func (a asked) preamble() string {
	return "I have read the task and the files around it.\n\n" + a.good()
}

func (a asked) garbage() string {
	return "Sure! I had a look around, and there is a lot going on in this code.\n" +
		"Tell me which part you care about most, and I will gladly think about it some more.\n"
}

func (a asked) foreign() string {
	return asked{role: a.role, item: a.item + "0", key: a.key}.good()
}

func (a asked) missingField() string {
	if a.reviewer() {
		return "role: " + a.role + "\ntask_id: " + a.item + "\nconfidence: high\n\nIt is what it has to be.\n"
	}
	return a.headers("pass", "files_changed: "+strings.Join(a.files(), ", ")) + "\nAll of it is there, with a test.\n"
}

func (a asked) gaps(issues []string) string {
	return a.headers("gaps", "issues: "+strings.Join(issues, "; "))
}

func (a asked) failed(reason []string) string {
	return a.headers("error", "issues: "+strings.Join(reason, "; "))
}

func (a asked) legacyPass() string {
	switch a.role {
	case specReviewer:
		return "Spec review passed.\n"
	case codeQualityReviewer:
		return "Code quality review passed.\n"
	}
	return "Implementation complete.\n\nGit range: " + a.gitRange() + "\n"
}

func (a asked) legacyFail() string {
	const findings = "\n\n- the last part of it is not there\n- it has no test\n"
	switch a.role {
	case specReviewer:
		return "Spec review failed." + findings
	case codeQualityReviewer:
		return "Code quality review failed." + findings
	}
	return "Task blocked on the part before it, which is not there.\n"
}

// workerResult and reviewerResult are the objects of a result block.
type (
	workerResult struct {
		TaskID          string   `json:"task_id"`
		Key             string   `json:"key,omitempty"`
		Status          string   `json:"status"`
		Summary         string   `json:"summary"`
		FilesChanged    []string `json:"files_changed"`
		Tests           []test   `json:"tests"`
		FollowUpActions []string `json:"follow_up_actions"`
	}
	reviewerResult struct {
		TaskID        string   `json:"task_id"`
		Key           string   `json:"key,omitempty"`
		Assessment    string   `json:"assessment"`
		Strengths     []string `json:"strengths"`
		Issues        []issue  `json:"issues"`
		RequiredFixes []string `json:"required_fixes"`
	}
	test struct {
		Command string `json:"command"`
		Passed  bool   `json:"passed"`
	}
	issue struct {
		Severity string `json:"severity"`
		File     string `json:"file"`
		Message  string `json:"message"`
		Fix      string `json:"fix"`
	}
)

func (a asked) goodBlock() string {
	if a.reviewer() {
		return "I have read all of it.\n\n" + block(reviewerResult{
			TaskID: a.item, Key: a.key, Assessment: "approved", Strengths: []string{"it is short"}, Issues: []issue{}, RequiredFixes: []string{},
		})
	}
	return "I have made the change and run the tests.\n\n" + block(workerResult{
		TaskID: a.item, Key: a.key, Status: "completed", Summary: "All of it is there, with a test.",
		FilesChanged: a.files(), Tests: []test{{"go test ./...", true}}, FollowUpActions: []string{},
	})
}

func (a asked) reject(issues []string) string {
	return a.review("needs_changes", "important", issues)
}

func (a asked) blocked(reason []string) string {
	if a.reviewer() {
		return a.review("blocked", "critical", reason)
	}
	return block(workerResult{
		TaskID: a.item, Key: a.key, Status: "blocked", Summary: strings.Join(reason, "; "),
		FilesChanged: []string{}, Tests: []test{}, FollowUpActions: reason,
	})
}

// review writes a rejecting review with an issue and a required fix for each text.
func (a asked) review(assessment, severity string, texts []string) string {
	r := reviewerResult{TaskID: a.item, Key: a.key, Assessment: assessment, Strengths: []string{}, RequiredFixes: texts}
	for _, text := range texts {
		r.Issues = append(r.Issues, issue{Severity: severity, File: a.files()[0], Message: text, Fix: "mend it: " + text})
	}
	return block(r)
}

func block(result any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(result); err != nil {
		panic(fmt.Sprintf("play: strings and lists of them have no JSON: %v", err))
	}
	return "BEGIN_DISPATCH_RESULT\n" + b.String() + "END_DISPATCH_RESULT\n"
}

func (a asked) gitRange() string { return commit("before "+a.item) + ".." + commit("after "+a.item) }

func commit(of string) string {
	sum := sha256.Sum256([]byte(of))
	return fmt.Sprintf("%x", sum[:4])
}

func (a asked) files() []string {
	name := "items/" + a.slug()
	return []string{name + ".go", name + "_test.go"}
}

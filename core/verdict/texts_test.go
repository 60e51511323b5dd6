package verdict_test

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
	"waybill/core/verdict"
)

// block puts an object between the markers.
func block(object string) string {
	return "BEGIN_DISPATCH_RESULT\n" + object + "\nEND_DISPATCH_RESULT\n"
}

// without takes a member out of an object.
func without(t require.TestingT, object, key string) string {
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(object), &members))
	require.Contains(t, members, key)
	delete(members, key)
	left, err := json.Marshal(members)
	require.NoError(t, err)
	return string(left)
}

var (
	workerHeaders = "role: worker\ntask_id: 2.1\nstatus: pass\ngit_range: a1b2c3d..e4f5a6b\n\nDrew the hands.\n"
	gapsHeaders   = "role: spec-reviewer\ntask_id: 2.1\nstatus: gaps\nissues: too long; no test\n\nSee above.\n"
	workerObject  = `{"task_id":"2.1","status":"completed","summary":"drew","files_changed":["a.go"],"tests":[],"follow_up_actions":[]}`
	gapsObject    = `{"task_id":"2.1","assessment":"needs_changes","strengths":[],"issues":[{"severity":"minor","message":"m","fix":"f"}],"required_fixes":["f"]}`
)

var role = rapid.Custom(func(t *rapid.T) core.Role { return core.Role(rapid.IntRange(1, core.Roles).Draw(t, "role")) })

// anyRule draws a row of the matrix of a grammar.
func anyRule(t *rapid.T, g verdict.Grammar) verdict.Rule {
	var rules []verdict.Rule
	for _, rule := range verdict.Matrix() {
		if rule.Grammar == g {
			rules = append(rules, rule)
		}
	}
	return rapid.SampledFrom(rules).Draw(t, "rule")
}

// jsonText is any text that JSON can carry, with what could be taken for structure.
var jsonText = rapid.Map(rapid.OneOf(
	rapid.String(),
	rapid.SampledFrom([]string{
		"", " ", "a\nb", `"`, `\`, "BEGIN_DISPATCH_RESULT", "END_DISPATCH_RESULT\n{", "```", "role: worker", "> x",
		"<b>&amp;", "\u2028", "größe 針 🕰", "\x00", "none",
	}),
), withoutControls)

var controls = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}]`)

// withoutControls returns a text as a result keeps it.
func withoutControls(s string) string {
	return controls.ReplaceAllString(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD")
}

// aResultBlock draws a result that a result block can carry.
func aResultBlock(t *rapid.T) verdict.Result {
	rule := anyRule(t, verdict.JSONBlock)
	r := verdict.Result{Role: rule.Role, TaskID: "2.1", Status: rule.Status}
	texts := func(label string) []string { return someOf(t, jsonText, label) }
	if rule.Role == core.Worker {
		r.Summary, r.FilesChanged, r.FollowUps = jsonText.Draw(t, "summary"), texts("files"), texts("follow-ups")
		r.Tests = someOf(t, rapid.Custom(func(t *rapid.T) verdict.Test {
			return verdict.Test{
				Command: jsonText.Draw(t, "command"), Passed: rapid.Bool().Draw(t, "passed"),
				Failures: someOf(t, jsonText, "failures"),
			}
		}), "tests")
		return r
	}
	r.Strengths, r.RequiredFixes = texts("strengths"), texts("fixes")
	r.Issues = someOf(t, rapid.Custom(func(t *rapid.T) verdict.Issue {
		return verdict.Issue{
			Severity: rapid.SampledFrom([]string{"critical", "important", "minor"}).Draw(t, "severity"),
			File:     jsonText.Draw(t, "file"), Message: jsonText.Draw(t, "message"), Fix: jsonText.Draw(t, "fix"),
		}
	}), "issues")
	return r
}

// someOf draws a list that is nil if it is empty, like those of Judge.
func someOf[T any](t *rapid.T, of *rapid.Generator[T], label string) []T {
	if list := rapid.SliceOfN(of, 0, 4).Draw(t, label); len(list) > 0 {
		return list
	}
	return nil
}

// headerItem is an entry of a header: one line, without what separates entries.
var headerItem = rapid.StringMatching(`[a-zA-Zä針(][a-z0-9ö/._()'>: -]{0,20}[a-z0-9)]`)

// aHeaderResult draws a result that v2 headers can carry.
func aHeaderResult(t *rapid.T) verdict.Result {
	rule := anyRule(t, verdict.V2)
	r := minimal(rule)
	r.Own = rapid.SampledFrom([]core.Role{0, rule.Role}).Draw(t, "own")
	r.FilesChanged = someOf(t, headerItem, "files")
	if rule.Status != "pass" || rapid.Bool().Draw(t, "issues anyway") {
		r.Issues = nil
		for _, message := range rapid.SliceOfN(headerItem, 1, 4).Draw(t, "issues") {
			r.Issues = append(r.Issues, verdict.Issue{Message: message})
		}
	}
	if rapid.Bool().Draw(t, "range anyway") {
		r.GitRange = rapid.StringMatching(`[a-z0-9/_~^][a-z0-9/_~^-]{0,8}\.\.[a-z0-9/_~^-]{1,9}`).Draw(t, "range")
	}
	if rule.Role != core.Worker {
		r.Confidence = rapid.SampledFrom([]string{"", "high", "medium", "low"}).Draw(t, "confidence")
	}
	r.Body = rapid.SampledFrom([]string{
		"", "Done.", "Two\n\nparagraphs.", "- a list\n- of things", "```go\nfmt.Println()\n```", "größe 針",
		"see BEGIN_DISPATCH_RESULT", "| a | table |", "---\n\nrole of the rule", "a status: gaps",
	}).Draw(t, "body")
	return r
}

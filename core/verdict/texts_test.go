package verdict_test

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"waybill/core"
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

var controls = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}]`)

// withoutControls returns a text as a result keeps it.
func withoutControls(s string) string {
	return controls.ReplaceAllString(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD")
}

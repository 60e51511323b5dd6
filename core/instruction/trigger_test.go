package instruction_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/instruction"
)

const formatted = `{"tool_input.command":{"$command":"gofmt -w"}}`

func toolRule(t *testing.T, match string) instruction.AckRule {
	t.Helper()
	r, err := instruction.NewAckRule("tool", match)
	require.NoError(t, err)
	return r
}

// triggered returns a standing instruction with a trigger, acknowledged by a run of gofmt.
func triggered(t *testing.T, match, path string) instruction.Instruction {
	t.Helper()
	in := standing(0)
	var err error
	in.AckOn = toolRule(t, formatted)
	in.Trigger, err = instruction.NewTrigger("tool", match, path, in.AckOn)
	require.NoError(t, err)
	return in
}

func TestTriggersFitTheFilesOfEvents(t *testing.T) {
	edit := func(file string) string { return `{"tool_name":"Edit","tool_input":{"file_path":"` + file + `"}}` }
	for _, row := range []struct {
		path, data string
		fires      bool
	}{
		{"*.go", edit("/repo/cmd/main.go"), true},
		{"*.go", edit("main.go"), true},
		{"*.go", edit(`C:\\repo\\cmd\\main.go`), true},
		{"*.go", edit("/repo/main.go.txt"), false},
		{"*.go", edit("/repo/main.rs"), false},
		{"cmd/*.go", edit("/repo/cmd/main.go"), true},
		{"cmd/*.go", edit("/repo/cmd/in/main.go"), false},
		{"cmd/**/*.go", edit("/repo/cmd/in/main.go"), true},
		{"cmd/*.go", edit("/repo/xcmd/main.go"), false},
		{"/repo/*.go", edit("/repo/main.go"), true},
		{"/repo/*.go", edit("/other/repo/main.go"), false},
		{"**", edit("/repo/main.go"), true},
		{"*.go", `{"path":"a.go"}`, true},
		{"*.go", `{"args":{"paths":["a.rs","b.go"]}}`, true},
		{"*.go", `{"arguments":{"filePath":"b.go"}}`, true},
		{"*.go", `{"tool_name":"Grep","tool_input":{"pattern":"x"},"tool_response":{"files":["b.go"]}}`, false},
		{"*.go", `{"tool_input":{"command":"touch a.go"}}`, false},
		{"*.go", `{"file_path":7}`, false},
		{"*.go", `["a.go"]`, false},
		{"*.go", ``, false},
		{"*.go", `{"a":{"a":{"a":{"a":{"a":{"path":"a.go"}}}}}}`, false},
		{"*.go", edit(strings.Repeat("d/", 4096) + "a.go"), false},
		{"", `{}`, true},
	} {
		require.Equal(t, row.fires, triggered(t, "", row.path).FiredBy("tool", row.data), "%s %.100s", row.path, row.data)
	}
}

func TestTriggersFireOnTheirEventsOnly(t *testing.T) {
	in := triggered(t, `{"tool_name":{"$any":["Edit","Write"]}}`, "*.go")
	require.True(t, in.FiredBy("tool", `{"tool_name":"Write","tool_input":{"file_path":"a.go"}}`))
	require.False(t, in.FiredBy("tool", `{"tool_name":"Read","tool_input":{"file_path":"a.go"}}`))
	require.False(t, in.FiredBy("tool_failed", `{"tool_name":"Write","tool_input":{"file_path":"a.go"}}`))
	require.False(t, tracked(3).FiredBy("tool", `{}`), "it has no trigger")
}

// The formatter changes files, too. If that made the instruction due again, it would never be settled.
func TestAnEventThatAcknowledgesDoesNotFire(t *testing.T) {
	in := triggered(t, "", "")
	require.True(t, in.FiredBy("tool", `{"tool_input":{"command":"go test ./..."}}`))
	require.False(t, in.FiredBy("tool", `{"tool_input":{"command":"cd x && gofmt -w a.go"}}`))
}

func TestTriggersThatCannotFireAreRefused(t *testing.T) {
	ack := toolRule(t, formatted)
	for name, row := range map[string]struct {
		eventType, match, path string
		ack                    instruction.AckRule
		says                   string
	}{
		"no type":             {"", "", "*.go", ack, "event_type is empty"},
		"bad match":           {"tool", `{"":1}`, "", ack, "is empty; name a member"},
		"excluding paths":     {"tool", `{"a":1,"/a":2}`, "", ack, "exclude each other, so that no event could match"},
		"bad pattern":         {"tool", "", "[", ack, "path a [ has no ]"},
		"a folder":            {"tool", "", "src/", ack, "no file could fit"},
		"a long pattern":      {"tool", "", strings.Repeat("a", 600), ack, "at most 512 are allowed"},
		"acknowledged always": {"tool", `{"tool_name":"Edit"}`, "*.go", instruction.AckRule{EventType: "tool"}, "would never be due"},
		"the same rule":       {"tool", formatted, "*.go", ack, "would never be due"},
	} {
		_, err := instruction.NewTrigger(row.eventType, row.match, row.path, row.ack)
		require.ErrorContains(t, err, row.says, name)
	}
	_, err := instruction.NewTrigger("tool", "", "*.go", instruction.AckRule{})
	require.NoError(t, err, "a call acknowledges it")
}

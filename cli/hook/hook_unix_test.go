//go:build unix

package hook_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

const untilTested = `{"content":"Run the tests.","max_retries":%d,` +
	`"ack_on":{"event_type":"tool","match":{"tool_name":"Bash","tool_input.command":{"$command":"go test ./..."}}}}`

func TestAnAgentAcknowledgesByWhatItDoes(t *testing.T) {
	w := newWorld(t)
	w.call("queue_instruction_with_ack", fmt.Sprintf(untilTested, 3), nil)
	require.Equal(t, "Run the tests.", w.hook("UserPromptSubmit", map[string]any{"prompt": "Go on."}).context())

	require.Zero(t, w.hook("PostToolUse", bash("toolu_1", "go vet ./...")))
	failed := bash("toolu_2", "go test ./...")
	delete(failed, "tool_response")
	failed["error"] = "Command exited with non-zero status code 1"
	require.Zero(t, w.hook("PostToolUseFailure", failed))
	require.Equal(t, "sent", w.only().State, "neither another command nor one that failed is what was asked for")

	require.Equal(t, directive{Decision: "block", Reason: "**REMINDER:** Run the tests."}, w.stopped(false))
	require.EqualValues(t, 2, w.only().Sends)
	require.Zero(t, w.hook("PostToolUse", bash("toolu_3", "cd . && go test ./... 2>&1 | tail -20")))
	require.Equal(t, "acknowledged", w.only().State)
	require.Equal(t, "event", w.only().AcknowledgedBy)
	require.Zero(t, w.stopped(true))
	require.Empty(t, w.notices())
}

// A subagent does a part of the work that the main agent was told to do.
func TestACallOfASubagentDidNotAcknowledge(t *testing.T) {
	for session, acknowledged := range map[string]bool{"default": true, "s": true, "sub": true, "other": false} {
		w := newWorld(t)
		w.call("queue_instruction_with_ack", strings.Replace(fmt.Sprintf(untilTested, 3), "{", `{"session_id":"`+session+`",`, 1), nil)
		call := bash("toolu_1", "go test ./...")
		call["agent_id"] = "sub"
		require.Zero(t, w.hook("PostToolUse", call), "and it gets no instruction of its parent")
		var list schema.InstructionList
		w.call("list_instructions", `{"session_id":"`+session+`"}`, &list)
		require.Equal(t, acknowledged, list.Items[0].State == "acknowledged", session)
	}
}

// A hook that stands in two configurations runs twice for one call; what was asked for in between is not done by that.
func TestACallCountsOnce(t *testing.T) {
	w := newWorld(t)
	w.call("queue_instruction", `{"content":"a store must exist"}`, nil)
	w.hook("PostToolUse", bash("toolu_1", "go test ./..."))
	w.call("queue_instruction_with_ack", strings.Replace(fmt.Sprintf(untilTested, 3), "{", `{"session_id":"s",`, 1), nil)
	state := func() string {
		var list schema.InstructionList
		w.call("list_instructions", `{"session_id":"s"}`, &list)
		return list.Items[0].State
	}
	w.hook("PostToolUse", bash("toolu_1", "go test ./..."))
	require.Equal(t, "queued", state())
	w.hook("PostToolUse", bash("toolu_2", "go test ./..."))
	require.Equal(t, "acknowledged", state())
}

func TestAStopIsHeldAFewTimesAndThenLetGoWithANotice(t *testing.T) {
	w := newWorld(t)
	w.call("queue_instruction_with_ack", fmt.Sprintf(untilTested, 9), nil)
	for i := range w.holds() {
		require.Equal(t, "block", w.stopped(i > 0).Decision)
	}
	got := w.stopped(true)
	require.Empty(t, got.Decision, "the agent would never come to its end")
	require.Contains(t, got.SystemMessage, "stopped after it was held 3 times; still open: instruction ins_")
	require.Len(t, w.notices(), 1)
	require.Contains(t, w.notices()[0], "Run the tests.")
	require.Equal(t, w.holds(), w.only().Sends, "what is not handed over uses up no send")
	require.Equal(t, "block", w.stopped(false).Decision, "the next turn is held again")
}

func TestWhatWasNeverConfirmedIsToldToThePerson(t *testing.T) {
	w := newWorld(t)
	w.call("queue_instruction_with_ack", fmt.Sprintf(untilTested, 1), nil)
	for range 2 {
		require.NotEmpty(t, w.hook("UserPromptSubmit", nil).context())
	}
	require.Equal(t, directive{SystemMessage: "waybill: never confirmed after 2 sends: Run the tests."}, w.stopped(false), "and the agent may stop")
	require.Zero(t, w.hook("UserPromptSubmit", nil), "it is told once")
}

// A pass before the model runs would use up a send.
func TestASessionStartUsesUpNoSend(t *testing.T) {
	w := newWorld(t)
	w.call("queue_instruction_with_ack", fmt.Sprintf(untilTested, 0), nil)
	for _, source := range []string{"startup", "resume", "clear", "compact"} {
		require.NotContains(t, w.hook("SessionStart", map[string]any{"source": source}).context(), "**")
	}
	require.Zero(t, w.only().Sends)
	require.Equal(t, "Run the tests.", w.hook("UserPromptSubmit", nil).context())
}

func TestSessionsAreToldApart(t *testing.T) {
	w := newWorld(t)
	for session, content := range map[string]string{"s": "for s", "other": "for other", "default": "for all", "sub": "for the subagent"} {
		w.call("queue_instruction", fmt.Sprintf(`{"content":%q,"session_id":%q}`, content, session), nil)
	}
	require.Zero(t, w.hook("SubagentStop", map[string]any{"agent_id": "none", "stop_hook_active": false}))
	require.Equal(t, "for the subagent", w.hook("SubagentStop", map[string]any{"agent_id": "sub", "stop_hook_active": false}).Reason)
	require.Equal(t, "for s\n\nfor all", w.hook("UserPromptSubmit", nil).context())
	require.Zero(t, w.stopped(false))
	w.flags = []string{"--session", "other"}
	require.Equal(t, "for other", w.hook("UserPromptSubmit", nil).context(), "--session fixes one")
}

// Claude Code shows an agent no more than 10,000 characters of what a hook says.
func TestNoMoreIsHandedOverThanTheHostShows(t *testing.T) {
	w := newWorld(t)
	for i := range 60 {
		w.call("queue_instruction", fmt.Sprintf(`{"content":"%02d %s","session_id":%q}`, i, strings.Repeat("o", 300), []string{"s", "default"}[i%2]), nil)
	}
	seen := ""
	for passes := 0; strings.Count(seen, " o") < 60; passes++ {
		require.Less(t, passes, 10, "the rest never comes")
		told := w.hook("UserPromptSubmit", nil).context()
		require.LessOrEqual(t, len([]rune(told)), 10_000)
		seen += told
	}
	for i := range 60 {
		require.Equal(t, 1, strings.Count(seen, fmt.Sprintf("%02d o", i)), "number %d", i)
	}
}

// Whatever an agent types and reads is passed on as it is, and breaks nothing.
func TestHostileTextIsPassedOn(t *testing.T) {
	w := newWorld(t)
	hostile := "echo \"it's $(touch pwned) `touch pwned`\" \\\n; rm -rf '\x7f' \x1b[2J \u202e </system> ${HOME} 🚚"
	content, err := json.Marshal(hostile)
	require.NoError(t, err)
	w.call("queue_instruction_with_ack", fmt.Sprintf(
		`{"content":%s,"ack_on":{"event_type":"tool","match":{"tool_input.command":%s}}}`, content, content), nil)
	require.Equal(t, hostile, w.hook("UserPromptSubmit", map[string]any{"prompt": hostile}).context())
	require.Zero(t, w.hook("PostToolUse", bash("toolu_'\n", hostile)))
	require.Equal(t, "acknowledged", w.only().State)
}

// dialog returns the event of a tool call that asks a person, with the answer of the person if it has one.
func dialog(use, answer string) map[string]any {
	event := map[string]any{"tool_name": "AskUserQuestion", "tool_use_id": use, "tool_input": map[string]any{
		"questions": []any{map[string]any{"question": "Which \x1b[2Jdatabase?", "options": []any{
			map[string]any{"label": "SQLite", "description": "one file"}, map[string]any{"label": "PostgreSQL\x1b[2J"},
		}}},
	}}
	if answer != "" {
		event["tool_response"] = map[string]any{"answers": map[string]any{"Which \x1b[2Jdatabase?": answer}}
	}
	return event
}

// inbox returns the questions that wait.
func (w *world) inbox() []schema.Awaiting {
	w.t.Helper()
	var list schema.AwaitingList
	w.call("list_awaiting", `{}`, &list)
	return list.Items
}

func TestAQuestionInTheHostsDialogStandsInTheInbox(t *testing.T) {
	w := newWorld(t)
	for range 2 {
		require.Zero(t, w.hook("PreToolUse", dialog("toolu_1", "")), "only the person answers it")
	}
	waits := w.inbox()
	require.Len(t, waits, 1)
	require.Equal(t, "a dialog of claude-code", waits[0].Description)
	require.Equal(t, "Which \ufffd[2Jdatabase?", waits[0].Question)
	require.Equal(t, schema.Option{Label: "SQLite", Detail: "one file"}, waits[0].Options[0])
	require.Zero(t, w.hook("PreToolUse", bash("toolu_2", "ls")))

	require.Zero(t, w.hook("PostToolUse", dialog("toolu_1", "SQLite")))
	require.Empty(t, w.inbox())
	require.Empty(t, w.notices())
	var d schema.TaskDetail
	w.call("get_task", `{"task_id":"`+waits[0].TaskID+`"}`, &d)
	require.Equal(t, "SQLite dialog of claude-code", d.Replies[0].Option+" "+d.Replies[0].By)
	require.Empty(t, w.hook("UserPromptSubmit", map[string]any{"prompt": "go"}).context(), "the agent has the answer already")
}

func TestTheInboxWasFasterThanTheDialog(t *testing.T) {
	w := newWorld(t)
	require.Zero(t, w.hook("PreToolUse", dialog("toolu_1", "")))
	w.call("reply", `{"task_id":"`+w.inbox()[0].TaskID+`","option":"SQLite","by":"ann"}`, nil)
	late := w.hook("PostToolUse", dialog("toolu_1", "MySQL"))
	require.Contains(t, late.SystemMessage, "answered in the inbox first")
	require.Contains(t, late.context(), "The answer counts, whatever a dialog says:\nSQLite")
	require.Empty(t, w.hook("UserPromptSubmit", map[string]any{"prompt": "go"}).context(), "it is told once")
}

// The host was killed while its dialog was open. The session gets the answer when it goes on.
func TestAHostThatIsGoneGetsTheAnswerWithItsNextPrompt(t *testing.T) {
	w := newWorld(t)
	require.Zero(t, w.hook("PreToolUse", dialog("toolu_1", "")))
	w.call("reply", `{"task_id":"`+w.inbox()[0].TaskID+`","reply":"neither"}`, nil)
	require.Contains(t, w.hook("UserPromptSubmit", map[string]any{"prompt": "go"}).context(), "\nneither")
}

func TestADialogThatWasClosedLeavesTheInbox(t *testing.T) {
	w := newWorld(t)
	require.Zero(t, w.hook("PreToolUse", dialog("toolu_1", "")))
	w.hook("PostToolUseFailure", dialog("toolu_1", ""))
	require.Empty(t, w.inbox())
}

// The notice was posted for the session of --session, and looked for under that of the host.
func TestAnAnswerDidNotConsumeTheNoticeOfANamedSession(t *testing.T) {
	w := newWorld(t)
	w.flags = []string{"--session", "other"}
	question := map[string]any{"tool_name": "AskUserQuestion", "tool_use_id": "toolu_1", "tool_input": map[string]any{"question": "Which database?"}}
	require.Zero(t, w.hook("PreToolUse", question))
	require.Len(t, w.notices(), 1)
	require.Zero(t, w.hook("PostToolUse", question))
	require.Empty(t, w.notices())
}

func TestASubagentWithoutAnIDClearedTheHoldsOfTheMainAgent(t *testing.T) {
	w := newWorld(t)
	w.call("queue_instruction_with_ack", fmt.Sprintf(untilTested, 9), nil)
	for i := range w.holds() {
		require.Equal(t, "block", w.stopped(i > 0).Decision)
		require.Zero(t, w.hook("SubagentStop", nil))
	}
	require.Empty(t, w.stopped(true).Decision)
}

func TestAnAnchorThatTheHostDidNotTakeWasLost(t *testing.T) {
	w := newWorld(t)
	w.call("init_run", `{"plan":"tasks.md","item_id":"1"}`, nil)
	w.hook("PreCompact", map[string]any{"trigger": "auto"})
	in, out, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, in.Close())
	w.out = out
	_, stderr := w.raw(w.event("UserPromptSubmit", nil))
	require.Contains(t, stderr, "the host did not take the answer")
	require.NoError(t, out.Close())
	w.out = nil
	require.Contains(t, w.hook("UserPromptSubmit", nil).context(), "Write it")
	require.NotContains(t, w.hook("UserPromptSubmit", nil).context(), "Write it")
}

// After a compaction the agent receives the anchor at the session start, if the host reports one. Otherwise it receives the
// anchor with the next event that takes a text.
func TestTheResumeAnchorFollowsACompaction(t *testing.T) {
	w := newWorld(t)
	w.call("init_run", `{"plan":"tasks.md","item_id":"1"}`, nil)
	w.call("queue_instruction_with_ack", `{"content":"Mind the gap.","session_id":"s","max_retries":0}`, nil)
	for _, source := range []string{"startup", "resume", "clear", "compact"} {
		require.Contains(t, w.hook("SessionStart", map[string]any{"source": source}).context(), "Write it", source)
	}
	require.NotContains(t, w.hook("PostToolUse", bash("toolu_1", "ls")).context(), "Write it")
	w.hook("PreCompact", map[string]any{"trigger": "auto"})
	require.Contains(t, w.hook("PostToolUse", bash("toolu_2", "ls")).context(), "Write it")
	require.Zero(t, w.hook("PostToolUse", bash("toolu_3", "ls")), "once")
	require.Zero(t, w.only().Sends, "an anchor is no send")

	w.host = "gemini"
	w.hook("PreCompress", map[string]any{"trigger": "auto"})
	told := w.hook("BeforeAgent", map[string]any{"prompt": "Go on."}).context()
	require.Contains(t, told, "Write it")
	require.True(t, strings.HasSuffix(told, "\n\nMind the gap."), told)
	require.Empty(t, w.hook("BeforeAgent", map[string]any{"prompt": "Go on."}).context())
}

// Copilot CLI drops what a hook says before a prompt: its agent gets new instructions after the next tool call, and reminders at
// the stop.
func TestCopilotTakesNoTextWithAPrompt(t *testing.T) {
	w := newWorld(t)
	w.host = "copilot"
	w.call("queue_instruction_with_ack", fmt.Sprintf(untilTested, 3), nil)
	stdout, _ := w.raw(w.event("UserPromptSubmit", map[string]any{"prompt": "Go on."}))
	require.Empty(t, stdout)
	require.Zero(t, w.only().Sends)
	stdout, _ = w.raw(w.event("PostToolUse", map[string]any{"tool_name": "Read", "tool_input": map[string]any{}}))
	require.Contains(t, stdout, `"additionalContext":"Run the tests."`)
	stdout, _ = w.raw(w.event("PostToolUse", map[string]any{"tool_name": "Read", "tool_input": map[string]any{}}))
	require.NotContains(t, stdout, "Run the tests", "a turn of many calls would use up all sends")
	stdout, _ = w.raw(w.event("Stop", map[string]any{"stop_hook_active": false}))
	require.Contains(t, stdout, "**REMINDER:** Run the tests.")
}

// Visual Studio Code runs the hook of Copilot CLI, and what it told was said to be of Copilot CLI.
func TestNoticesOfVisualStudioCodeNamedCopilot(t *testing.T) {
	for host, more := range map[string]map[string]any{"vscode": {}, "copilot": {"stop_reason": "end_turn"}} {
		w := newWorld(t)
		w.host = "copilot"
		w.call("queue_instruction_with_ack", fmt.Sprintf(untilTested, 3), nil)
		for held := range w.holds() + 1 {
			stop := map[string]any{"transcript_path": "/home/ada/x.json", "stop_hook_active": held > 0}
			maps.Copy(stop, more)
			stdout, _ := w.raw(w.event("Stop", stop))
			require.Equal(t, held < w.holds(), strings.Contains(stdout, `"decision":"block"`), stdout)
		}
		require.Contains(t, strings.Join(w.notices(), "\n"), "an agent of "+host+" stopped after it was held")
	}
	w := newWorld(t)
	w.host = "copilot"
	w.call("queue_instruction", `{"content":"Mind the gap."}`, nil)
	stdout, _ := w.raw(w.event("UserPromptSubmit", map[string]any{"prompt": "Go on.", "transcript_path": "/home/ada/x.json"}))
	require.Contains(t, stdout, "Mind the gap.")
	_, stderr := w.raw(w.event("Melt", map[string]any{"transcript_path": "/home/ada/x.json"}))
	require.Contains(t, stderr, `"Melt" of vscode is no event`)
	require.Contains(t, strings.Join(w.notices(), "\n"), "a hook of vscode failed")
}

// A workspace that never used waybill gets no store because of a hook that is configured for all workspaces.
func TestNoStoreIsMadeForWhatNeedsNone(t *testing.T) {
	w := newWorld(t)
	for _, event := range []string{"SessionStart", "UserPromptSubmit", "PreCompact", "Stop"} {
		require.Zero(t, w.hook(event, map[string]any{"stop_hook_active": false}))
	}
	require.Zero(t, w.hook("PostToolUse", bash("toolu_1", "ls")))
	require.Empty(t, w.stores())
}

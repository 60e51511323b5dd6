package dialect

// claudeCode is the dialect that most hosts took over.
// Source: Claude Code documentation, "Hooks reference".
func claudeCode() Host {
	return Host{
		Name: "claude-code", Version: "2.1.197", MaxContext: maxContext, Holds: holds,
		Questions: []string{"AskUserQuestion"},
		Events: []Event{
			{Name: "SessionStart", Kind: SessionStart, Timeout: short, Context: true},
			{Name: "UserPromptSubmit", Kind: Prompt, Timeout: short, Context: true},
			{Name: "PreToolUse", Kind: Question, Matcher: "AskUserQuestion", Timeout: short},
			{Name: "PostToolUse", Kind: Tool, Matcher: "*", Timeout: short, Context: true},
			{Name: "PostToolUseFailure", Kind: ToolFailed, Matcher: "*", Timeout: short, Context: true},
			{Name: "Stop", Kind: Stop, Timeout: long},
			{Name: "SubagentStop", Kind: SubagentStop, Timeout: long},
			{Name: "PreCompact", Kind: Compact, Timeout: short},
		},
		fields: usual, write: usualAnswer,
	}
}

// codex refuses an answer with a field that it does not know. It has no event for a failed call, and the output of a command,
// a text, does not say how the command ended.
// Source: openai/codex, codex-rs/hooks/src/schema.rs and codex-rs/hooks/schema/generated.
func codex() Host {
	h := claudeCode()
	h.Name, h.Version = "codex", "0.169.0"
	h.Questions = []string{"request_user_input"}
	h.Events = []Event{
		{Name: "SessionStart", Kind: SessionStart, Timeout: short, Context: true},
		{Name: "UserPromptSubmit", Kind: Prompt, Timeout: short, Context: true},
		{Name: "PreToolUse", Kind: Question, Matcher: "request_user_input", Timeout: short},
		{Name: "PostToolUse", Kind: Tool, Timeout: short, Context: true},
		{Name: "Stop", Kind: Stop, Timeout: long},
		{Name: "SubagentStop", Kind: SubagentStop, Timeout: long},
		{Name: "PreCompact", Kind: Compact, Timeout: short},
	}
	h.failed = memberError
	return h
}

// gemini has names of its own. It says in the output of a call that the call failed.
// Source: google-gemini/gemini-cli, docs/hooks/reference.md.
func gemini() Host {
	h := claudeCode()
	h.Name, h.Version = "gemini", "0.61.0"
	h.Questions = []string{"ask_user"}
	h.Events = []Event{
		{Name: "SessionStart", Kind: SessionStart, Timeout: short, Context: true},
		{Name: "BeforeAgent", Kind: Prompt, Timeout: short, Context: true},
		{Name: "BeforeTool", Kind: Question, Matcher: "ask_user", Timeout: short},
		{Name: "AfterTool", Kind: Tool, Timeout: short, Context: true},
		{Name: "AfterAgent", Kind: Stop, Timeout: long},
		{Name: "PreCompress", Kind: Compact, Timeout: short},
	}
	h.failed, h.write = geminiFailed, geminiAnswer
	return h
}

// qwen took Claude Code's events over.
// Source: QwenLM/qwen-code, packages/core/src/hooks/types.ts and stopHookCap.ts.
func qwen() Host {
	h := claudeCode()
	h.Name, h.Version = "qwen", "0.15.10"
	h.Questions = []string{"ask_user_question", "AskUserQuestion"}
	h.Events[2].Matcher = "ask_user_question|AskUserQuestion"
	return h
}

// copilot is Copilot CLI and Visual Studio Code, which read the same file of hooks, so that one answer must serve both. Copilot CLI
// drops the output of a hook before a prompt, so instructions reach its model after the next tool call. Visual Studio Code shows
// a text of a tool's hook only a request later, so its instructions come with the prompt. Only the events of Copilot CLI in
// PascalCase name themselves, with the fields of Visual Studio Code, which ignores matchers and has no event for a failed call.
// Sources: github/docs, content/copilot/reference/hooks-reference.md; microsoft/vscode-docs, docs/copilot/customization/hooks.md.
func copilot() Host {
	h := claudeCode()
	h.Name, h.Version = "copilot", "1.0.102"
	h.Questions = []string{"AskUserQuestion", "ask_user", "vscode_askQuestions", "askQuestions"}
	h.Events[1].Context = false
	h.Events[2].Matcher = "AskUserQuestion"
	h.Events[4].Context = false
	h.fields.event = []string{"hook_event_name", "hookEventName"}
	h.fields.session = []string{"session_id", "sessionId"}
	h.fields.output = []string{"tool_result", "tool_response"}
	h.failed, h.write, h.editor = memberError, copilotAnswer, ofVSCode
	return h
}

// ofVSCode reports whether an event of the shared file is of Visual Studio Code. That sends the path of the transcript with every
// event. Copilot CLI sends it with a stop and a compaction only, and there a field of its own.
func ofVSCode(event map[string]any) bool {
	return str(event["transcript_path"]) != "" && pick(event, []string{"stop_reason", "custom_instructions"}) == nil
}

// cursor names the conversation instead of a session, runs hooks of the person outside of the workspace, and continues a
// stopped agent with a message. It takes no text before a prompt.
// Source: cursor.com/docs/hooks.
func cursor() Host {
	return Host{
		Name: "cursor", Version: "3.7.21", MaxContext: maxContext, Holds: holds,
		Questions: []string{"AskQuestion"},
		Events: []Event{
			{Name: "sessionStart", Kind: SessionStart, Timeout: short, Context: true},
			{Name: "beforeSubmitPrompt", Kind: Prompt, Timeout: short},
			{Name: "preToolUse", Kind: Question, Matcher: "AskQuestion", Timeout: short},
			{Name: "postToolUse", Kind: Tool, Timeout: short, Context: true},
			{Name: "postToolUseFailure", Kind: ToolFailed, Timeout: short},
			{Name: "stop", Kind: Stop, Timeout: long},
			{Name: "subagentStop", Kind: SubagentStop, Timeout: long},
			{Name: "preCompact", Kind: Compact, Timeout: short},
		},
		fields: fields{
			event: []string{"hook_event_name"}, session: []string{"conversation_id", "session_id"}, agent: []string{"subagent_id"},
			tool: []string{"tool_name"}, input: []string{"tool_input"}, output: []string{"tool_output"}, use: []string{"tool_use_id"},
			failure: []string{"error_message"}, loops: []string{"loop_count"}, folders: []string{"workspace_roots"},
			status: []string{"status"},
		},
		write: cursorAnswer,
	}
}

// openCode has plugins instead of hooks. The plugin of examples/opencode asks at a stop, and hands instructions over by itself.
func openCode() Host {
	h := claudeCode()
	h.Name, h.Version, h.Questions = "opencode", "1.18.33", nil
	h.Events = []Event{{Name: "Stop", Kind: Stop, Timeout: long}}
	return h
}

// ACP is an agent behind `waybill acp`. It has no hooks, so it is none of Hosts, but the same bounds.
func ACP() Host { return Host{Name: "acp", MaxContext: maxContext, Holds: holds} }

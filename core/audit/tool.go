package audit

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"waybill/core/shellcmd"
	"waybill/internal/lazyregexp"
)

// A Tool is a tool call of an agent, as a host reported it. Its JSON is a part of the event log.
type Tool struct {
	Name    string `json:"tool,omitzero"`
	Command string `json:"command,omitzero"` // of a shell, or ""
	Failed  bool   `json:"failed,omitzero"`
}

// Members of reported events, in the spellings of hosts.
var (
	toolEvent   = lazyregexp.New(`(?i)tool|command|exec|shell|bash|terminal`)
	failEvent   = lazyregexp.New(`(?i)fail|error`)
	nameKeys    = []string{"tool_name", "toolName", "tool"}
	commandKeys = []string{"command", "cmd", "script", "commandLine", "command_line"}
	exitKeys    = []string{"exit_code", "exitCode", "exit_status"}
	failKeys    = []string{"error", "is_error", "isError", "failed"}
)

const (
	longestTool = 1 << 10 // bytes of a command that are kept
	deepest     = 5       // levels of objects that are searched
)

// ToolIn returns the tool call that an event reports, or false for an event of another kind. An event that the agent
// reported itself is evidence of nothing.
func ToolIn(eventType, data string) (t Tool, ok bool) {
	var members map[string]any
	_ = json.Unmarshal([]byte(data), &members) // without members, the type decides
	if said, _ := members["self_reported"].(bool); said {
		return Tool{}, false
	}
	t.Name, t.Command = cut(textIn(members, nameKeys, 0)), cut(textIn(members, commandKeys, 0))
	if t.Name == "" && !toolEvent.Compiled().MatchString(eventType) {
		return Tool{}, false
	}
	t.Failed = failEvent.Compiled().MatchString(eventType) || failedIn(members, 0)
	return t, true
}

func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), longestTool)], "") }

// textIn returns the first text under one of the keys, the outermost one first. Words of a command become one line.
func textIn(members map[string]any, keys []string, depth int) string {
	for _, key := range keys {
		switch value := members[key].(type) {
		case string:
			return value
		case []any:
			var words []string
			for _, word := range value {
				if text, ok := word.(string); ok {
					words = append(words, shellWord(text))
				}
			}
			return strings.Join(words, " ")
		}
	}
	return within(members, depth, func(inner map[string]any) (string, bool) {
		text := textIn(inner, keys, depth+1)
		return text, text != ""
	})
}

func shellWord(word string) string {
	if strings.ContainsAny(word, " \t\n'\"$&|;<>()") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// within calls find for the objects in an object, in the order of their keys, until one has a result.
func within[R any](members map[string]any, depth int, find func(inner map[string]any) (R, bool)) (none R) {
	if depth == deepest {
		return none
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if inner, ok := members[key].(map[string]any); ok {
			if found, ok := find(inner); ok {
				return found
			}
		}
	}
	return none
}

func failedIn(members map[string]any, depth int) bool {
	for _, key := range exitKeys {
		if code, ok := members[key].(float64); ok && code != 0 {
			return true
		}
	}
	for _, key := range failKeys {
		switch value := members[key].(type) {
		case bool:
			return value
		case string:
			return value != ""
		case map[string]any:
			return true
		}
	}
	return within(members, depth, func(inner map[string]any) (bool, bool) {
		failed := failedIn(inner, depth+1)
		return failed, failed
	})
}

// runs reports whether a tool call ran a command that a result names.
func (t Tool) runs(named string) bool {
	if command, err := shellcmd.Parse(named); err == nil {
		_, found := command.FindIn(t.Command)
		return found
	}
	return strings.Contains(squeezed(t.Command), squeezed(named))
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// tests reports whether a tool call looks like one that runs tests.
func (t Tool) tests() bool {
	return testCommand.Compiled().MatchString(t.Command) || testCommand.Compiled().MatchString(t.Name)
}

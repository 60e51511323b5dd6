// Package packages holds the plugins and extensions with which a host installs waybill without waybill setup.
//
// Description, version, skill, server command and hooks are the same in all of them, and are declared here once. The folders beside it are generated: run `go test ./packages -update`. A package cannot know where
// the program is, so the program must be on the PATH of the host.
package packages

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"time"

	"waybill/cli/hook/dialect"
	"waybill/hostconfig"
	"waybill/hostconfig/notation"
)

// Every package says this.
const (
	Name        = "waybill"
	Version     = "0.1.0"
	Description = "Hands work to coding agents: acknowledged instructions, tasks, questions, and checked results."
	license     = "MIT"
)

// Skill is the skill that tells an agent how to work with waybill.
//
//go:embed skill.md
var Skill string

// OpenCodePlugin is the plugin for OpenCode, with the client.
//
//go:embed opencode/waybill.js
var OpenCodePlugin string

// Events returns the events of a host for which waybill has a hook.
func Events(host string) (events []notation.Event) {
	h, _ := dialect.Of(host)
	for _, e := range h.Events {
		events = append(events, notation.Event{Name: e.Name, Matcher: e.Matcher, Seconds: int(e.Timeout / time.Second)})
	}
	return events
}

// An object is JSON with its members in a fixed order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		name, _ := json.Marshal(m.name) // strings have no encoding error
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Files returns the generated files, by their paths below this folder.
func Files() (map[string]string, error) {
	about := object{{"name", Name}, {"version", Version}, {"description", Description}}
	author := object{{"name", Name}}
	server := func(flags ...string) object {
		return object{{"command", Name}, {"args", append([]string{"mcp"}, flags...)}}
	}
	servers := object{{Name, server("--hooks")}} // where the package has hooks
	documents := map[string]object{
		// Agent Plugins 1.0: Visual Studio Code, Cursor, Copilot CLI, Codex and others.
		"waybill/plugin.json": append(append(object{{"$schema", "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"}}, about...),
			member{"license", license}, member{"keywords", []string{"mcp", "agents", "tasks"}}),
		"waybill/mcp.json": {
			{"$schema", "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"},
			{"mcpServers", object{{Name, append(object{{"type", "stdio"}}, server()...)}}},
		},
		// Claude Code, which reads the skill and hooks/hooks.json by itself.
		".claude-plugin/marketplace.json": {
			{"name", Name},
			{"owner", author},
			{"description", Description},
			{"plugins", []object{{{"name", Name}, {"source", "./waybill"}, {"description", Description}}}},
		},
		"waybill/.claude-plugin/plugin.json": append(append(object{}, about...),
			member{"author", author}, member{"license", license}, member{"mcpServers", servers}),
		// Gemini CLI, which reads hooks/hooks.json too, with other events.
		"gemini/gemini-extension.json": append(append(object{}, about...), member{"mcpServers", servers}),
	}
	files := map[string]string{
		"waybill/skills/waybill/SKILL.md": Skill,
		"gemini/skills/waybill/SKILL.md":  Skill,
	}
	for path, document := range documents {
		text, err := json.MarshalIndent(document, "", "  ")
		if err != nil {
			return nil, err
		}
		files[path] = string(text) + "\n"
	}
	for path, host := range map[string]string{"waybill/hooks/hooks.json": "claude-code", "gemini/hooks/hooks.json": "gemini"} {
		h, _ := hostconfig.Named(host)
		files[path] = h.HooksFile(hostconfig.Hook{Command: Name, Args: []string{"hook", host}}, Events(host))
	}
	return files, nil
}

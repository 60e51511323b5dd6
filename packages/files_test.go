package packages_test

import (
	"bytes"
	"encoding/json"

	"waybill/hostconfig"
	"waybill/packages"
)

// Every package says this.
const (
	Name        = "waybill"
	Version     = "0.1.0"
	Description = "Hands work to coding agents: acknowledged instructions, tasks, questions, and checked results."
	license     = "MIT"
)

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

// files returns the generated files, by their paths below this folder.
func files() (map[string]string, error) {
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
		"waybill/skills/waybill/SKILL.md": packages.Skill,
		"gemini/skills/waybill/SKILL.md":  packages.Skill,
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
		files[path] = h.HooksFile(hostconfig.Hook{Command: Name, Args: []string{"hook", host}}, packages.Events(host))
	}
	return files, nil
}

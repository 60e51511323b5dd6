package hosts_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/test/fakemodel"
)

// A host is a coding agent from npm, and how it is used without a terminal.
type host struct {
	name      string                                 // as in `waybill setup`
	title     string                                 // as in the documentation
	pkg       string                                 // in npm
	files     string                                 // a pattern for what npm brings: a program, or a script for Node
	node      bool                                   // whether the file is a script
	env       func(*fakemodel.Model) []string        // how it finds the model
	configure func(*place)                           // writes what a person has set before waybill comes
	prompt    func(string) []string                  // the arguments for one prompt, with leave to run tools
	worker    []string                               // the arguments of docs/work.md, which take the prompt from standard input
	shell     func(string) fakemodel.Call            // a call of its tool for shell commands
	write     func(file, text string) fakemodel.Call // a call that writes a file, which the worker may do
	install   [][]string                             // the arguments by which it installs waybill from the folder packages, if it can
	hidden    bool                                   // whether tools of servers must be searched for first
}

// packages stands for the folder with the packages, of which hosts want the absolute path.
const packages = "PACKAGES"

// hosts are the rows of the table.
var hosts = []host{
	{
		name: "claude-code", title: "Claude Code", pkg: "@anthropic-ai/claude-code",
		files: "@anthropic-ai/claude-code-linux-*/claude",
		env: func(m *fakemodel.Model) []string {
			return []string{
				"ANTHROPIC_BASE_URL=" + m.URL, "ANTHROPIC_API_KEY=none",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
			}
		},
		configure: func(*place) {},
		prompt: func(text string) []string {
			return []string{"-p", text, "--allowedTools", "mcp__waybill__*", "mcp__plugin_waybill_waybill__*", "Bash"}
		},
		worker: []string{"-p", "--permission-mode", "acceptEdits"},
		install: [][]string{
			{"plugin", "validate", packages + "/waybill"}, {"plugin", "marketplace", "add", packages}, {"plugin", "install", "waybill@waybill"},
		},
		shell: func(command string) fakemodel.Call {
			return fakemodel.Call{Tool: "Bash", Args: map[string]any{"command": command, "description": "A step"}}
		},
		write: func(file, text string) fakemodel.Call {
			return fakemodel.Call{Tool: "Write", Args: map[string]any{"file_path": file, "content": text}}
		},
	},
	{
		name: "codex", title: "Codex", pkg: "@openai/codex",
		files: "@openai/codex-linux-*/vendor/*/bin/codex",
		env:   func(*fakemodel.Model) []string { return []string{"SCRIPTED_KEY=none"} },
		configure: func(p *place) {
			p.write("home/.codex/config.toml", `model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "`+p.model.URL+`/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"

[analytics]
enabled = false

[projects."`+p.workspace+`"]
trust_level = "trusted"
`)
		},
		prompt: func(text string) []string {
			return []string{"exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", text}
		},
		worker: []string{"exec", "--sandbox", "workspace-write", "-"},
		shell: func(command string) fakemodel.Call {
			return fakemodel.Call{Tool: "exec_command", Args: map[string]any{"cmd": command}}
		},
		write: func(file, text string) fakemodel.Call {
			return fakemodel.Call{Tool: "exec_command", Args: map[string]any{"cmd": "printf " + text + " > " + file}}
		},
	},
	{
		name: "opencode", title: "OpenCode", pkg: "opencode-linux-x64",
		files: "opencode-linux-*/bin/opencode",
		env: func(*fakemodel.Model) []string {
			return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1"}
		},
		configure: func(p *place) {
			// At each start, OpenCode installs the types of plugins from npm unless a lock file says that they are there.
			p.write("home/.config/opencode/node_modules/.waybill-test", "")
			p.writeJSON("home/.config/opencode/package-lock.json", map[string]any{
				"packages": map[string]any{"": map[string]any{"dependencies": map[string]any{"@opencode-ai/plugin": "*"}}},
			})
			p.writeJSON("home/.config/opencode/opencode.json", map[string]any{
				"autoupdate": false, "model": "scripted/scripted", "permission": "allow",
				"provider": map[string]any{"scripted": map[string]any{
					"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": p.model.URL + "/v1", "apiKey": "none"},
					"models": map[string]any{"scripted": map[string]any{"name": "scripted"}},
				}},
			})
		},
		prompt: func(text string) []string { return []string{"run", text} },
		worker: []string{"run", "--auto"},
		shell: func(command string) fakemodel.Call {
			return fakemodel.Call{Tool: "bash", Args: map[string]any{"command": command, "description": "A step"}}
		},
		write: func(file, text string) fakemodel.Call {
			return fakemodel.Call{Tool: "write", Args: map[string]any{"filePath": file, "content": text}}
		},
	},
	{
		name: "gemini", title: "Gemini CLI", pkg: "@google/gemini-cli",
		files: "@google/gemini-cli/bundle/gemini.js", node: true,
		env: func(m *fakemodel.Model) []string {
			return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + m.URL, "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true"}
		},
		configure: func(p *place) {
			p.writeJSON("home/.gemini/settings.json", map[string]any{
				"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
				"general":  map[string]any{"disableAutoUpdate": true},
				"privacy":  map[string]any{"usageStatisticsEnabled": false},
				"model":    map[string]any{"name": "gemini-2.5-pro"}, // the default asks another model which model to take
			})
		},
		prompt:  func(text string) []string { return []string{"--yolo", "-p", text} },
		worker:  []string{"--approval-mode", "auto_edit"},
		install: [][]string{{"extensions", "install", packages + "/gemini", "--consent"}},
		shell: func(command string) fakemodel.Call {
			return fakemodel.Call{Tool: "run_shell_command", Args: map[string]any{"command": command}}
		},
		write: func(file, text string) fakemodel.Call {
			return fakemodel.Call{Tool: "write_file", Args: map[string]any{"file_path": file, "content": text}}
		},
	},
	{
		name: "qwen", title: "Qwen Code", pkg: "@qwen-code/qwen-code",
		files: "@qwen-code/qwen-code/cli.js", node: true, hidden: true,
		env: func(m *fakemodel.Model) []string {
			return []string{"OPENAI_API_KEY=none", "OPENAI_BASE_URL=" + m.URL + "/v1", "OPENAI_MODEL=scripted", "QWEN_CODE_NO_RELAUNCH=true"}
		},
		configure: func(p *place) {
			p.writeJSON("home/.qwen/settings.json", map[string]any{
				"security": map[string]any{"auth": map[string]any{"selectedType": "openai"}},
				"general":  map[string]any{"disableAutoUpdate": true},
				"privacy":  map[string]any{"usageStatisticsEnabled": false},
			})
		},
		prompt: func(text string) []string { return []string{"--yolo", "-p", text} },
		worker: []string{"--approval-mode", "auto-edit"},
		shell: func(command string) fakemodel.Call {
			return fakemodel.Call{Tool: "run_shell_command", Args: map[string]any{"command": command, "is_background": false}}
		},
		write: func(file, text string) fakemodel.Call {
			return fakemodel.Call{Tool: "write_file", Args: map[string]any{"file_path": file, "content": text}}
		},
	},
	{
		name: "copilot", title: "GitHub Copilot CLI", pkg: "@github/copilot",
		files: "@github/copilot-linux-*/copilot",
		env: func(m *fakemodel.Model) []string {
			return []string{
				"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + m.URL + "/v1", "COPILOT_PROVIDER_API_KEY=none",
				"COPILOT_MODEL=gpt-4.1", "COPILOT_AUTO_UPDATE=false",
			}
		},
		configure: func(*place) {},
		prompt:    func(text string) []string { return []string{"-p", text, "--allow-all-tools"} },
		worker:    []string{"--allow-all-tools"},
		shell: func(command string) fakemodel.Call {
			return fakemodel.Call{Tool: "bash", Args: map[string]any{"command": command, "description": "A step"}}
		},
		write: func(file, text string) fakemodel.Call {
			return fakemodel.Call{Tool: "create", Args: map[string]any{"path": file, "file_text": text}}
		},
	},
}

// installed returns the command of the host. A host that npm has not installed here skips the test, or fails it if the
// hosts are required.
func (h host) installed(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(npm, "node_modules", filepath.FromSlash(h.files)))
	require.NoError(t, err)
	if len(found) == 0 {
		require.NotEqual(t, "required", os.Getenv("WAYBILL_NODE_TESTS"), "npm has installed no %s; run `npm ci --ignore-scripts` in test/e2e/hosts/%s", h.pkg, npm)
		t.Skipf("npm has installed no %s: run `make node`", h.pkg)
	}
	path, err := filepath.Abs(found[0])
	require.NoError(t, err)
	if h.node {
		return []string{"node", path}
	}
	return []string{path}
}

// version returns the version of the host that package.json pins.
func (h host) version(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(npm, "package.json"))
	require.NoError(t, err)
	var manifest struct{ DevDependencies, OptionalDependencies map[string]string }
	require.NoError(t, json.Unmarshal(text, &manifest))
	maps.Copy(manifest.DevDependencies, manifest.OptionalDependencies)
	require.Contains(t, manifest.DevDependencies, h.pkg)
	return manifest.DevDependencies[h.pkg]
}

package hostconfig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"waybill/hostconfig/notation"
)

// A Host is a program that uses MCP servers.
type Host struct {
	Name  string // name on a command line
	Title string // name in texts

	notation notation.Notation
	keys     []string
	user     func(Places) ([]string, error) // its files; the first that exists counts, or else the last
	project  []string                       // the same below the folder of a project
	fields   func(Entry) []notation.Field

	hooks *hookForm // nil if the host documents none
	skill textForm
	plug  textForm // a plugin, in place of hooks
	signs signs
	env   environment
	notes []string // for the person
}

// Places has the system, the folders and the environment, from which the paths of files follow.
type Places struct {
	GOOS    string
	Home    string // the home folder, or empty if unknown
	Env     func(string) string
	Project string // the folder of a project, or empty for the configuration of the user
}

// Hosts returns all known hosts, by name.
func Hosts() []Host {
	return []Host{claudeCode(), codex(), copilot(), cursor(), gemini(), openCode(), qwen(), vsCode(), zed()}
}

// Named returns the host of that name.
func Named(name string) (Host, bool) {
	all := Hosts()
	i := slices.IndexFunc(all, func(h Host) bool { return h.Name == name })
	if i < 0 {
		return Host{}, false
	}
	return all[i], true
}

// File returns the path of the file for an entry. The file may be missing.
func (h Host) File(p Places) (string, error) {
	files, err := h.located(p)
	if err != nil {
		return "", err
	}
	return existing(files), nil
}

// located returns the possible paths of the file.
func (h Host) located(p Places) (files []string, err error) {
	if p.Project == "" {
		if files, err = h.user(p); err != nil {
			return nil, fmt.Errorf("the configuration of %s: %w", h.Title, err)
		}
		return files, nil
	}
	for _, name := range h.project {
		files = append(files, filepath.Join(p.Project, filepath.FromSlash(name)))
	}
	return files, nil
}

// existing returns the first file that exists, or else the last.
func existing(files []string) string {
	for _, file := range files {
		if _, err := os.Lstat(file); err == nil {
			return file
		}
	}
	return files[len(files)-1]
}

// Snippet returns a whole file with only the entry, for a person to copy from.
func (h Host) Snippet(e Entry) (string, error) {
	if err := e.check(); err != nil {
		return "", err
	}
	return h.notation.Fresh(notation.Spot{Keys: h.keys, Name: e.Name}, h.fields(e)), nil
}

// claudeCode keeps the servers of a user in the file of its own state, and those of a project in a shared file.
// Source: Claude Code documentation, "Connect Claude Code to tools via MCP", on scopes; anthropics/claude-code, issue
// 48448, on CLAUDE_CONFIG_DIR for the first file.
func claudeCode() Host {
	return Host{
		Name: "claude-code", Title: "Claude Code", notation: notation.JSON{}, keys: []string{"mcpServers"},
		user: func(p Places) ([]string, error) {
			return p.below("CLAUDE_CONFIG_DIR", p.Home, ".claude.json")
		},
		project: []string{".mcp.json"}, fields: typed,
		hooks: claudeHooks(), skill: skillIn("CLAUDE_CONFIG_DIR", ".claude", ".claude"),
		signs: signs{[]string{"claude"}, []string{".claude.json", ".claude"}},
		notes: []string{"Claude Code asks once before it starts the server of a project. Restart it in folders where it runs."},
	}
}

// codex reads the file of a project only if the user trusts the project. Source: Codex documentation, "Model Context
// Protocol" and "Configuration reference".
func codex() Host {
	return Host{
		Name: "codex", Title: "Codex", notation: notation.TOML{}, keys: []string{"mcp_servers"},
		user: func(p Places) ([]string, error) {
			return p.below("CODEX_HOME", p.inHome(".codex"), "config.toml")
		},
		project: []string{".codex/config.toml"},
		fields: func(e Entry) []notation.Field {
			return append(plainFields(e), pairs(allowList, slices.Clone(variables))...)
		},
		hooks: codexHooks(), skill: skillIn("", ".agents", ".agents"),
		signs: signs{[]string{"codex"}, []string{".codex"}},
		env:   environment{only: codexVariables},
		notes: []string{
			"Codex runs no hook before you trust it: start codex, type /hooks, and trust those of waybill. Again after each change of them.",
			"Codex reads the files of a project only in folders that you trust.",
		},
	}
}

// codexVariables are what Codex passes to servers beside the variables that their entry lists. Source: the function
// create_env_for_mcp_server of codex-rs.
var codexVariables = []string{
	"HOME", "LOGNAME", "PATH", "SHELL", "USER", "__CF_USER_TEXT_ENCODING", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ",
	"APPDATA", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
}

// copilot is Copilot CLI. Source: GitHub documentation, "GitHub Copilot CLI command reference", on MCP servers.
func copilot() Host {
	return Host{
		Name: "copilot", Title: "Copilot CLI", notation: notation.JSON{}, keys: []string{"mcpServers"},
		user: func(p Places) ([]string, error) {
			return p.below("COPILOT_HOME", p.inHome(".copilot"), "mcp-config.json")
		},
		project: []string{".github/mcp.json"},
		fields: func(e Entry) []notation.Field {
			return append(append(pairs("type", "local"), plainFields(e)...), pairs("tools", []string{"*"})...)
		},
		hooks: copilotHooks(), skill: skillIn("COPILOT_HOME", ".copilot", ".github"),
		signs: signs{[]string{"copilot"}, []string{".copilot/config.json", ".copilot/mcp-config.json"}},
		notes: []string{"Copilot CLI reads the files of a project only in folders that you trust."},
	}
}

// cursor recognises a local server by its command. Source: Cursor documentation, "Model Context Protocol (MCP)", on
// mcp.json.
func cursor() Host {
	return Host{
		Name: "cursor", Title: "Cursor", notation: notation.JSON{}, keys: []string{"mcpServers"},
		user: func(p Places) ([]string, error) {
			return p.below("", p.inHome(".cursor"), "mcp.json")
		},
		project: []string{".cursor/mcp.json"}, fields: plainFields,
		hooks: cursorHooks(), skill: skillIn("", ".cursor", ".cursor"),
		signs: signs{[]string{"cursor", "cursor-agent"}, []string{".cursor"}},
		env:   environment{desktop: true},
		notes: []string{"Restart Cursor, and switch waybill on under Settings, MCP."},
	}
}

// gemini is Gemini CLI. Source: Gemini CLI documentation, "MCP servers with the Gemini CLI" and "Configuration"; its
// storage module on GEMINI_CLI_HOME, which replaces the home folder.
func gemini() Host {
	return Host{
		Name: "gemini", Title: "Gemini CLI", notation: notation.JSON{}, keys: []string{"mcpServers"},
		user: func(p Places) ([]string, error) {
			return p.below("GEMINI_CLI_HOME", p.Home, ".gemini", "settings.json")
		},
		project: []string{".gemini/settings.json"}, fields: plainFields,
		hooks: geminiHooks(), skill: skillIn("GEMINI_CLI_HOME", ".gemini", ".gemini"),
		signs: signs{[]string{"gemini"}, []string{".gemini"}},
		env:   environment{secretless: true},
		notes: []string{
			"Gemini tells its model to ignore commands in the text of hooks and servers. Instructions reach it as remarks only: for work that must be done, let `waybill work` start Gemini.",
			"In a folder that you do not trust, Gemini switches servers and hooks off without a word: type /permissions there, or start it with --skip-trust.",
		},
	}
}

// openCode has two forms. Both versions read that of version 1, which is written unless the file has servers in that
// of version 2; see shape. Source: OpenCode documentation, "MCP servers", "Config" and "Migrate from V1".
func openCode() Host {
	names := []string{"opencode.jsonc", "opencode.json"}
	return Host{
		Name: "opencode", Title: "OpenCode", notation: notation.JSON{}, keys: []string{"mcp"},
		user: func(p Places) (files []string, err error) {
			for _, name := range names {
				file, err := p.below("", p.config(), "opencode", name)
				if err != nil {
					return nil, err
				}
				files = append(files, file...)
			}
			return files, nil
		},
		project: names,
		fields: func(e Entry) []notation.Field {
			return withEnv(pairs("type", "local", "command", append([]string{e.Command}, e.Args...), "enabled", true), "environment", e)
		},
		skill: openCodeText("skills/waybill/SKILL.md"), plug: openCodeText("plugins/waybill.js"),
		signs: signs{[]string{"opencode"}, []string{".config/opencode"}},
		notes: []string{"OpenCode has a plugin of waybill instead of hooks. Restart OpenCode: its log says that waybill runs."},
	}
}

// openCodeText returns the places of a file that OpenCode reads by itself.
func openCodeText(name string) textForm {
	return textForm{
		user: func(p Places) ([]string, error) {
			return p.below("", p.config(), "opencode", filepath.FromSlash(name))
		},
		project: ".opencode/" + name,
	}
}

// qwen is Qwen Code, which grew out of Gemini CLI. Source: Qwen Code documentation, "Configuration" and "MCP".
func qwen() Host {
	return Host{
		Name: "qwen", Title: "Qwen Code", notation: notation.JSON{}, keys: []string{"mcpServers"},
		user: func(p Places) ([]string, error) {
			return p.below("QWEN_HOME", p.inHome(".qwen"), "settings.json")
		},
		project: []string{".qwen/settings.json"}, fields: plainFields,
		hooks: qwenHooks(), skill: skillIn("QWEN_HOME", ".qwen", ".qwen"),
		signs: signs{[]string{"qwen"}, []string{".qwen"}},
		notes: []string{"Qwen Code runs the hooks of a project only in folders that you trust."},
	}
}

// vsCode is Visual Studio Code with its default profile. Source: Visual Studio Code documentation, "MCP configuration
// reference", and "User and workspace settings" for the folder of the user.
func vsCode() Host {
	return Host{
		Name: "vscode", Title: "Visual Studio Code", notation: notation.JSON{}, keys: []string{"servers"},
		user: func(p Places) ([]string, error) {
			folder := p.config()
			switch p.GOOS {
			case "darwin":
				folder = p.inHome("Library", "Application Support")
			case "windows":
				return p.below("APPDATA", p.inHome("AppData", "Roaming"), "Code", "User", "mcp.json")
			}
			return p.below("", folder, "Code", "User", "mcp.json")
		},
		project: []string{".vscode/mcp.json"}, fields: typed,
		hooks: copilotHooks(), skill: skillIn("COPILOT_HOME", ".copilot", ".github"),
		signs: signs{[]string{"code"}, []string{".config/Code", "Library/Application Support/Code", "AppData/Roaming/Code"}},
		env:   environment{desktop: true},
		notes: []string{
			"Visual Studio Code asks once whether you trust the server.",
			"It also runs hooks from ~/.claude/settings.json: if waybill is there too, set that path to false in chat.hookFilesLocations.",
		},
	}
}

// zed keeps servers in its settings. Source: Zed documentation, "Model Context Protocol", "Configuring Zed";
// crates/paths of zed-industries/zed on the folders.
func zed() Host {
	return Host{
		Name: "zed", Title: "Zed", notation: notation.JSON{}, keys: []string{"context_servers"},
		user: func(p Places) ([]string, error) {
			switch p.GOOS {
			case "darwin":
				return p.below("", p.inHome(".config"), "zed", "settings.json")
			case "windows":
				return p.below("APPDATA", p.inHome("AppData", "Roaming"), "Zed", "settings.json")
			}
			return p.below("FLATPAK_XDG_CONFIG_HOME", p.config(), "zed", "settings.json")
		},
		project: []string{".zed/settings.json"}, fields: plainFields,
		skill: skillIn("", ".agents", ".agents"),
		signs: signs{[]string{"zed", "zeditor"}, []string{".config/zed", "AppData/Roaming/Zed"}},
		env:   environment{desktop: true},
		notes: []string{
			"Zed has no hooks, so the agent must ask for its instructions itself.",
			"Zed may start the server in /: where waybill does not find your workspace, run `waybill setup zed --workspace FOLDER`.",
		},
	}
}

// pairs returns fields from names and their values.
func pairs(pairs ...any) (fields []notation.Field) {
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, notation.Field{Name: pairs[i].(string), Value: pairs[i+1]})
	}
	return fields
}

func plainFields(e Entry) []notation.Field {
	return withEnv(pairs("command", e.Command, "args", slices.Clone(e.Args)), "env", e)
}

// withEnv adds the variables of an entry under a name.
func withEnv(fields []notation.Field, name string, e Entry) []notation.Field {
	if len(e.Env) == 0 {
		return fields
	}
	var all []notation.Field
	for _, pair := range e.Env {
		key, value, _ := strings.Cut(pair, "=")
		all = append(all, pairs(key, value)...)
	}
	return append(fields, pairs(name, all)...)
}

func typed(e Entry) []notation.Field {
	return append(pairs("type", "stdio"), plainFields(e)...)
}

// folderVariables name the folders of hosts.
var folderVariables = []string{
	"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "XDG_CONFIG_HOME", "FLATPAK_XDG_CONFIG_HOME", "APPDATA",
}

// errNoHome is the error for paths that need the home folder.
var errNoHome = errors.New("the home folder is unknown: set HOME, or use --project")

// below returns a file below the folder that a variable names, or else below folder.
func (p Places) below(variable, folder string, names ...string) ([]string, error) {
	if named := p.env(variable); named != "" {
		if !filepath.IsAbs(named) {
			return nil, fmt.Errorf("%s is %q, which is not an absolute path", variable, named)
		}
		folder = named
	} else if folder == "" {
		return nil, errNoHome
	} else if info, err := os.Stat(p.Home); p.Home != "" && (err != nil || !info.IsDir()) {
		return nil, fmt.Errorf("the home folder %s does not exist: set HOME to one that does", p.Home)
	}
	return []string{filepath.Join(append([]string{folder}, names...)...)}, nil
}

func (p Places) env(name string) string {
	if name == "" || p.Env == nil {
		return ""
	}
	return p.Env(name)
}

func (p Places) inHome(names ...string) string {
	if p.Home == "" {
		return ""
	}
	return filepath.Join(append([]string{p.Home}, names...)...)
}

// config returns the configuration folder by the rules of XDG, which ignore a relative path.
func (p Places) config() string {
	if named := p.env("XDG_CONFIG_HOME"); filepath.IsAbs(named) {
		return named
	}
	return p.inHome(".config")
}

package hostconfig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A Host is a program that uses MCP servers.
type Host struct {
	Name  string // name on a command line
	Title string // name in texts

	notation notation
	keys     []string
	user     func(Places) ([]string, error) // its files; the first that exists counts, or else the last
	project  []string                       // the same below the folder of a project
	fields   func(Entry) []field
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
	return []Host{claudeCode(), codex(), cursor(), gemini(), openCode(), vsCode(), zed()}
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
	files, err := h.files(p)
	if err != nil {
		return "", fmt.Errorf("the configuration of %s: %w", h.Title, err)
	}
	for _, file := range files {
		if _, err := os.Lstat(file); err == nil {
			return file, nil
		}
	}
	return files[len(files)-1], nil
}

func (h Host) files(p Places) (files []string, err error) {
	if p.Project == "" {
		return h.user(p)
	}
	for _, name := range h.project {
		files = append(files, filepath.Join(p.Project, filepath.FromSlash(name)))
	}
	return files, nil
}

// Snippet returns a whole file with only the entry, for a person to copy from.
func (h Host) Snippet(e Entry) (string, error) {
	if err := e.check(); err != nil {
		return "", err
	}
	return h.notation.fresh(spot{h.keys, e.Name}, h.fields(e)), nil
}

// claudeCode keeps the servers of a user in the file of its own state, and those of a project in a shared file.
// Source: Claude Code documentation, "Connect Claude Code to tools via MCP", on scopes; anthropics/claude-code, issue
// 48448, on CLAUDE_CONFIG_DIR for the first file.
func claudeCode() Host {
	return Host{
		Name: "claude-code", Title: "Claude Code", notation: jsonc{}, keys: []string{"mcpServers"},
		user: func(p Places) ([]string, error) {
			return p.below("CLAUDE_CONFIG_DIR", p.Home, ".claude.json")
		},
		project: []string{".mcp.json"}, fields: typed,
	}
}

// codex reads the file of a project only if the user trusts the project. Source: Codex documentation, "Model Context
// Protocol" and "Configuration reference".
func codex() Host {
	return Host{
		Name: "codex", Title: "Codex", notation: tomlFile{}, keys: []string{"mcp_servers"},
		user: func(p Places) ([]string, error) {
			return p.below("CODEX_HOME", p.inHome(".codex"), "config.toml")
		},
		project: []string{".codex/config.toml"}, fields: plainFields,
	}
}

// cursor recognises a local server by its command. Source: Cursor documentation, "Model Context Protocol (MCP)", on
// mcp.json.
func cursor() Host {
	return Host{
		Name: "cursor", Title: "Cursor", notation: jsonc{}, keys: []string{"mcpServers"},
		user: func(p Places) ([]string, error) {
			return p.below("", p.inHome(".cursor"), "mcp.json")
		},
		project: []string{".cursor/mcp.json"}, fields: plainFields,
	}
}

// gemini is Gemini CLI. Source: Gemini CLI documentation, "MCP servers with the Gemini CLI" and "Configuration"; its
// storage module on GEMINI_CLI_HOME, which replaces the home folder.
func gemini() Host {
	return Host{
		Name: "gemini", Title: "Gemini CLI", notation: jsonc{}, keys: []string{"mcpServers"},
		user: func(p Places) ([]string, error) {
			return p.below("GEMINI_CLI_HOME", p.Home, ".gemini", "settings.json")
		},
		project: []string{".gemini/settings.json"}, fields: plainFields,
	}
}

// openCode has two forms. Both versions read that of version 1, which is written unless the file has servers in that
// of version 2; see shape. Source: OpenCode documentation, "MCP servers", "Config" and "Migrate from V1".
func openCode() Host {
	names := []string{"opencode.jsonc", "opencode.json"}
	return Host{
		Name: "opencode", Title: "OpenCode", notation: jsonc{}, keys: []string{"mcp"},
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
		fields: func(e Entry) []field {
			return []field{{"type", "local"}, {"command", append([]string{e.Command}, e.Args...)}, {"enabled", true}}
		},
	}
}

// vsCode is Visual Studio Code with its default profile. Source: Visual Studio Code documentation, "MCP configuration
// reference", and "User and workspace settings" for the folder of the user.
func vsCode() Host {
	return Host{
		Name: "vscode", Title: "Visual Studio Code", notation: jsonc{}, keys: []string{"servers"},
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
	}
}

// zed keeps servers in its settings. Source: Zed documentation, "Model Context Protocol", "Configuring Zed";
// crates/paths of zed-industries/zed on the folders.
func zed() Host {
	return Host{
		Name: "zed", Title: "Zed", notation: jsonc{}, keys: []string{"context_servers"},
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
	}
}

func plainFields(e Entry) []field {
	return []field{{"command", e.Command}, {"args", slices.Clone(e.Args)}}
}

func typed(e Entry) []field {
	return append([]field{{"type", "stdio"}}, plainFields(e)...)
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

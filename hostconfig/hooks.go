package hostconfig

import (
	"slices"
	"strings"

	"waybill/hostconfig/notation"
	"waybill/internal/lazyregexp"
)

// A hookForm is how a host reads hooks.
type hookForm struct {
	user    func(Places) ([]string, error)
	project string
	grouped bool                                               // an event has groups, each with a matcher and a list of hooks; else it has hooks
	version bool                                               // a new file has a version
	desktop bool                                               // a program runs them that may be started without a shell
	windows Shell                                              // the shell on Windows; elsewhere it is POSIX
	fields  func(line shellLine, seconds int) []notation.Field // one hook
	ignored func(tree map[string]any) string                   // why the host runs no hook of this file, or empty
}

// shell returns the shell for a command on a system.
func (f *hookForm) shell(goos string) Shell {
	if goos == "windows" {
		return f.windows
	}
	return POSIX
}

// list returns the hooks with their command and their events.
func (f *hookForm) list(hook Hook, goos string, events []notation.Event) notation.Hooks {
	return notation.Hooks{
		Grouped: f.grouped, Version: f.version, Events: events, Own: hook.owner(), Command: commandKeys,
		Fields: func(e notation.Event, old map[string]any) []notation.Field {
			return f.fields(shellLine{hook.inPlaceOf(old).line(f.shell(goos)), goos == "windows"}, e.Seconds)
		},
	}
}

// commandKeys are the fields of a hook that have its command, in all hosts.
var commandKeys = []string{"command", "bash", "powershell"}

// A shellLine is a command for the shell of a host.
type shellLine struct {
	text    string
	windows bool
}

// commandHook returns a hook of Claude Code and its like, with a limit in seconds.
func commandHook(line shellLine, seconds int) []notation.Field {
	return pairs("type", "command", "command", line.text, "timeout", seconds)
}

// disabled returns a check for a switch that turns all hooks of a file off.
func disabled(tree map[string]any) string {
	if tree["disableAllHooks"] == true {
		return "disableAllHooks is true in it, so no hook runs: remove that line"
	}
	return ""
}

// claudeHooks are in the settings. Source: Claude Code documentation, "Hooks reference", on the field shell too.
func claudeHooks() *hookForm {
	return &hookForm{
		user: func(p Places) ([]string, error) {
			return p.below("CLAUDE_CONFIG_DIR", p.inHome(".claude"), "settings.json")
		},
		project: ".claude/settings.json", grouped: true, fields: commandHook, ignored: disabled, windows: GitBash,
	}
}

// codexHooks are on by default since the feature left its trial. The root of the file takes no other member. On Windows, the shell
// of the session runs them, or else cmd. Source: Codex documentation, "Hooks"; the schema and command_runner.rs of codex-rs/hooks.
func codexHooks() *hookForm {
	return &hookForm{
		user: func(p Places) ([]string, error) {
			return p.below("CODEX_HOME", p.inHome(".codex"), "hooks.json")
		},
		project: ".codex/hooks.json", grouped: true, fields: commandHook, windows: AnyShell,
	}
}

// geminiHooks have limits in milliseconds. Source: docs/hooks/reference.md of Gemini CLI 0.61, and its function
// getShellConfiguration.
func geminiHooks() *hookForm {
	return &hookForm{
		user: func(p Places) ([]string, error) {
			return p.below("GEMINI_CLI_HOME", p.Home, ".gemini", "settings.json")
		},
		project: ".gemini/settings.json", grouped: true, windows: PowerShell,
		fields: func(line shellLine, seconds int) []notation.Field {
			return pairs("name", "waybill", "type", "command", "command", line.text, "timeout", seconds*1000)
		},
		ignored: func(tree map[string]any) string {
			if switches, _ := tree["hooksConfig"].(map[string]any); switches["enabled"] == false {
				return "hooksConfig.enabled is false in it, so no hook runs: remove that line"
			}
			return ""
		},
	}
}

// qwenHooks have limits in milliseconds. Later versions read seconds; the limit is then without effect, and waybill ends
// by its own. On Windows the variables of its terminal choose the shell, unless the hook names one. Source: docs/features/hooks.md of
// Qwen Code 0.15 and its function getShellConfigForHook, and its documentation of 1.x.
func qwenHooks() *hookForm {
	return &hookForm{
		user: func(p Places) ([]string, error) {
			return p.below("QWEN_HOME", p.inHome(".qwen"), "settings.json")
		},
		project: ".qwen/settings.json", grouped: true, ignored: disabled, windows: PowerShell,
		fields: func(line shellLine, seconds int) []notation.Field {
			fields := commandHook(line, seconds*1000)
			if line.windows {
				fields = append(fields, pairs("shell", "powershell")...)
			}
			return fields
		},
	}
}

// copilotHooks are in a file of waybill's own, which Visual Studio Code reads as well. Names in this spelling make
// Copilot CLI send what Visual Studio Code sends. Source: GitHub documentation, "GitHub Copilot hooks reference"; Visual
// Studio Code documentation, "Agent hooks".
func copilotHooks() *hookForm {
	return &hookForm{
		user: func(p Places) ([]string, error) {
			return p.below("COPILOT_HOME", p.inHome(".copilot"), "hooks", "waybill.json")
		},
		project: ".github/hooks/waybill.json", version: true, desktop: true, windows: PowerShell,
		fields: func(line shellLine, seconds int) []notation.Field {
			shell := "bash"
			if line.windows {
				shell = "powershell"
			}
			return pairs("type", "command", shell, line.text, "timeoutSec", seconds)
		},
	}
}

// cursorHooks are in a file that other programs use too. Source: Cursor documentation, "Hooks"; reports of other programs with hooks
// on PowerShell on Windows.
func cursorHooks() *hookForm {
	return &hookForm{
		user: func(p Places) ([]string, error) {
			return p.below("", p.inHome(".cursor"), "hooks.json")
		},
		project: ".cursor/hooks.json", version: true, desktop: true, windows: PowerShell,
		fields: func(line shellLine, seconds int) []notation.Field {
			return pairs("command", line.text, "timeout", seconds)
		},
	}
}

// A Hook describes the command that a host runs at its events.
type Hook struct {
	Command string   // the absolute path of the program
	Args    []string // "hook", the name of the host, and flags
	Env     []string // variables that the host does not pass on, as NAME=VALUE
	Keep    bool     // an existing hook keeps its flags
}

// inPlaceOf returns the hook with the flags of an old one. A line with more than words gets those of this hook: its quotes are
// another's.
func (h Hook) inPlaceOf(old map[string]any) Hook {
	for _, key := range commandKeys {
		line, _ := old[key].(string)
		if flags, whole, own := h.flagsOf(line); h.Keep && whole && own {
			h.Args = append(slices.Clone(h.Args[:2]), flags...)
		}
	}
	return h
}

// A Shell runs the command lines of a host.
type Shell string

// The shells of hosts.
const (
	POSIX      Shell = "sh"
	GitBash    Shell = "Git Bash"          // on Windows
	PowerShell Shell = "PowerShell"        // of any version
	AnyShell   Shell = "PowerShell or cmd" // on Windows, where a line must mean the same to both
)

// line returns the command for a shell.
func (h Hook) line(shell Shell) string {
	words := append([]string{h.Command}, h.Args...)
	switch shell {
	case PowerShell:
		line := ""
		for _, pair := range h.Env {
			name, value, _ := strings.Cut(pair, "=")
			line += "$env:" + name + "=" + psQuoted(value) + "; "
		}
		for i := range words {
			if i == 0 || !plain.Compiled().MatchString(words[i]) {
				words[i] = psQuoted(words[i])
			}
		}
		return line + "& " + strings.Join(words, " ")
	case AnyShell: // a program in quotes is a text to PowerShell, and its & is another thing to cmd
		for i := range words {
			if !plain.Compiled().MatchString(words[i]) {
				words[i] = `"` + words[i] + `"`
			}
		}
		return strings.Join(words, " ")
	case GitBash:
		words[0] = strings.ReplaceAll(words[0], `\`, "/")
	case POSIX:
	}
	if len(h.Env) > 0 {
		words = slices.Concat([]string{"env"}, h.Env, words)
	}
	for i, word := range words {
		words[i] = shQuoted(word)
	}
	return strings.Join(words, " ")
}

// fits reports whether a shell can be given the command.
func (h Hook) fits(shell Shell) bool {
	if shell != AnyShell {
		return true
	}
	special := func(arg string) bool { return strings.ContainsAny(arg, "\"$`%^&|<>!") || strings.HasSuffix(arg, `\`) }
	return plain.Compiled().MatchString(h.Command) && !slices.ContainsFunc(h.Args, special) && len(h.Env) == 0
}

// harmless matches words that no shell of POSIX changes, plain those that no shell of Windows changes.
var (
	harmless = lazyregexp.New(`^[A-Za-z0-9_./:@%+,=-]+$`)
	plain    = lazyregexp.New(`^[A-Za-z0-9_.:/\\=-]+$`)
)

func shQuoted(word string) string {
	if harmless.Compiled().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// psQuoted quotes a word for PowerShell, to which typographic apostrophes are quotes, too.
func psQuoted(word string) string {
	return "'" + apostrophes.Compiled().ReplaceAllString(word, "$0$0") + "'"
}

var apostrophes = lazyregexp.New("['\u2018\u2019\u201a\u201b]")

// owner returns a check for a hook of waybill, from any folder and for any host.
func (h Hook) owner() func(hook map[string]any) bool {
	return func(hook map[string]any) bool {
		return slices.ContainsFunc(commandKeys, func(key string) bool {
			line, _ := hook[key].(string)
			_, _, own := h.flagsOf(line)
			return own
		})
	}
}

// flagsOf returns the flags of an existing command line that begins with waybill and its hook. whole reports that nothing else
// follows them. A line that begins with another command is not waybill's: a stranger may have written it.
func (h Hook) flagsOf(line string) (flags []string, whole, own bool) {
	words, whole := wordsOf(line)
	if len(words) > 0 && words[0] == "env" {
		words = words[1:]
		for len(words) > 0 && pair.Compiled().MatchString(words[0]) {
			words = words[1:]
		}
	}
	if len(words) < 3 || words[1] != "hook" || !hostName.Compiled().MatchString(words[2]) {
		return nil, false, false
	}
	program := base(words[0])
	return words[3:], whole, program == base(h.Command) || strings.HasPrefix(program, "waybill")
}

var (
	pair     = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*=`)
	hostName = lazyregexp.New(`^[a-z-]+$`)
)

// wordsOf returns the words at the beginning of a command line, in the quotes of any shell. whole reports that the line has nothing
// but words. The words end before what only a shell understands, such as a pipe or a variable.
func wordsOf(line string) (words []string, whole bool) {
	head := psHead.Compiled().FindString(line)
	line = line[len(head):]
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		word := ""
		for line != "" && line[0] != ' ' {
			part := wordPart.Compiled().FindString(line)
			if head != "" {
				part = psPart.Compiled().FindString(line)
			}
			if part == "" {
				return words, false
			}
			line = line[len(part):]
			word += unquoted(part, head != "")
		}
		words = append(words, word)
	}
	return words, true
}

var (
	// psHead matches what waybill writes before a program for PowerShell.
	psHead = lazyregexp.New(`^(?:\$env:[A-Z_]+='(?:[^']|'')*'; )*& `)
	// wordPart matches a part of a word: a quoted apostrophe, a text in quotes, or characters without a meaning.
	wordPart = lazyregexp.New(`^(?:\\'|'[^']*'|"[^"$` + "`" + `]*"|[^\s'"$` + "`" + `;|&<>()#*?!{}\[\]~]+)`)
	// psPart is the same for PowerShell, where two apostrophes in quotes are one.
	psPart = lazyregexp.New(`^(?:'(?:[^']|'')*'|"[^"$` + "`" + `]*"|[^\s'"$` + "`" + `;|&<>()#*?!{}\[\]~]+)`)
)

func unquoted(part string, ps bool) string {
	switch {
	case part == `\'`:
		return "'"
	case part[0] == '\'' && ps:
		return doubled.Compiled().ReplaceAllString(part[1:len(part)-1], "$1$2$3$4$5")
	case part[0] == '\'' || part[0] == '"':
		return part[1 : len(part)-1]
	}
	return part
}

var doubled = lazyregexp.New("(?:'(')|\u2018(\u2018)|\u2019(\u2019)|\u201a(\u201a)|\u201b(\u201b))")

// HooksFile returns a file with only the hooks, as packages for the host have it.
func (h Host) HooksFile(hook Hook, events []notation.Event) string {
	e, err := h.hooks.list(hook, "linux", events).Edit(nil, false)
	if err != nil {
		panic("hostconfig: a new file of hooks: " + err.Error())
	}
	return e.Text
}

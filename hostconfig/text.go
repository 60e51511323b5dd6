package hostconfig

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"waybill/hostconfig/notation"
)

// A textForm is where a host reads a file that is waybill's alone: a skill or a plugin.
type textForm struct {
	user    func(Places) ([]string, error)
	project string
}

// skillIn returns the usual places: below the folder that a variable names, or else below a folder in the home folder; and
// below a folder of the project.
func skillIn(variable, folder, project string) textForm {
	return textForm{
		user: func(p Places) ([]string, error) {
			if variable == "GEMINI_CLI_HOME" { // it replaces the home folder
				return p.below(variable, p.Home, folder, "skills", "waybill", "SKILL.md")
			}
			return p.below(variable, p.inHome(folder), "skills", "waybill", "SKILL.md")
		},
		project: project + "/skills/waybill/SKILL.md",
	}
}

// TextMark is in every skill and every plugin that waybill wrote.
const TextMark = "written-by: waybill"

// textEdit writes a file that is waybill's alone, or removes it. A file without the mark is another's.
func textEdit(old *string, kind Kind, text string, remove, force bool) (notation.Edit, error) {
	switch {
	case old == nil && remove, old != nil && *old == text && !remove:
		return notation.Edit{Action: notation.Unchanged}, nil
	case old == nil:
		return notation.Edit{Action: notation.Added, Text: text}, nil
	case !strings.Contains(*old, TextMark) && !force:
		return notation.Edit{}, &TakenError{Line: 1, Name: "waybill", Kind: kind, Text: firstLines(*old)}
	case remove:
		return notation.Edit{Action: notation.Removed, Whole: true, Spare: *old == text}, nil
	}
	return notation.Edit{Action: notation.Updated, Text: text}, nil
}

func firstLines(text string) string {
	lines := strings.SplitAfterN(text, "\n", 6)
	return strings.Join(lines[:min(5, len(lines))], "")
}

// pluginText returns the plugin for a program and its flags, which the plugin reads from the environment. As on a command line, a flag
// counts more than a variable of the person.
func (s *Setup) pluginText(h Host) string {
	set := func(name, operator, value string) string {
		quoted, _ := json.Marshal(value) // strings have no encoding error
		return "process.env." + name + " " + operator + " " + string(quoted) + ";\n"
	}
	head := set("WAYBILL_BIN", "??=", s.Entry.Command)
	names := map[string]string{"--workspace": "WAYBILL_WORKSPACE", "--store": "WAYBILL_STORE", "--config": "WAYBILL_CONFIG"}
	for flags := s.flags(h); len(flags) > 0; {
		flag, value, inline := strings.Cut(flags[0], "=")
		if flags = flags[1:]; !inline && len(flags) > 0 {
			value, flags = flags[0], flags[1:]
		}
		if name := names[flag]; name != "" {
			head += set(name, "=", value)
		}
	}
	return head + s.Plugin
}

// signs show that a host is installed.
type signs struct {
	programs []string // on the PATH
	files    []string // in the home folder
}

// Found reports whether the host seems to be installed, by its programs or by the files that it makes.
func (h Host) Found(p Places, look func(string) (string, error)) bool {
	for _, name := range h.signs.programs {
		if _, err := look(name); err == nil {
			return true
		}
	}
	if file, err := h.File(Places{GOOS: p.GOOS, Home: p.Home, Env: p.Env}); err == nil && exists(file) {
		return true
	}
	for _, name := range h.signs.files {
		if p.Home != "" && exists(filepath.Join(p.Home, filepath.FromSlash(name))) {
			return true
		}
	}
	return false
}

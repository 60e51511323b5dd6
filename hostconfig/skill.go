package hostconfig

import (
	"path/filepath"
	"strings"

	"waybill/hostconfig/notation"
)

// A skillForm is where a host reads skills.
type skillForm struct {
	user    func(Places) ([]string, error)
	project string
}

// skillIn returns the usual places: below the folder that a variable names, or else below a folder in the home folder; and
// below a folder of the project.
func skillIn(variable, folder, project string) skillForm {
	return skillForm{
		user: func(p Places) ([]string, error) {
			if variable == "GEMINI_CLI_HOME" { // it replaces the home folder
				return p.below(variable, p.Home, folder, "skills", "waybill", "SKILL.md")
			}
			return p.below(variable, p.inHome(folder), "skills", "waybill", "SKILL.md")
		},
		project: project + "/skills/waybill/SKILL.md",
	}
}

// SkillMark is in every skill that waybill wrote.
const SkillMark = "written-by: waybill"

// skillEdit writes the skill, or removes it. A file without the mark is another's.
func skillEdit(old *string, skill string, remove, force bool) (notation.Edit, error) {
	switch {
	case old == nil && remove, old != nil && *old == skill && !remove:
		return notation.Edit{Action: notation.Unchanged}, nil
	case old == nil:
		return notation.Edit{Action: notation.Added, Text: skill}, nil
	case !strings.Contains(*old, SkillMark) && !force:
		return notation.Edit{}, &TakenError{Line: 1, Name: "waybill", Skill: true, Text: firstLines(*old)}
	case remove:
		return notation.Edit{Action: notation.Removed, Whole: true, Spare: *old == skill}, nil
	}
	return notation.Edit{Action: notation.Updated, Text: skill}, nil
}

func firstLines(text string) string {
	lines := strings.SplitAfterN(text, "\n", 6)
	return strings.Join(lines[:min(5, len(lines))], "")
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

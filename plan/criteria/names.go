package criteria

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file knows the names of sections of criteria and of checks, in the languages that plans are written in.

// listNames are in lower case. A heading of criteria ends with one, as in "7.1 Launch success criteria", or begins
// with one and a remark.
var listNames = [...]string{
	"success criteria", "acceptance criteria", "exit criteria", "completion criteria", "done criteria", "quality criteria", "definition of done",
	"success metrics", "out of scope", "non-goals", "exit gate", "exit gates", "task breakdown preview",
	"erfolgskriterien", "abnahmekriterien", "akzeptanzkriterien", "fertigstellungskriterien",
	"criterios de aceptación", "criterios de éxito", "critérios de aceitação", "critérios de sucesso", "critères d'acceptation", "critères de succès",
	"criteri di accettazione", "критерии приёмки", "критерии успеха",
	"成功基準", "完了条件", "完了基準", "受け入れ基準", "受入基準", "受け入れ条件", "受入条件", "完成の定義",
	"成功标准", "成功標準", "验收标准", "验收条件", "验收检查项", "验收清单", "驗收標準", "完成标准", "完成定义", "验收准则",
	"완료 조건", "완료조건", "완료 기준", "성공 기준", "수용 기준", "인수 기준",
}

// checklistNames are in lower case. They end the heading of a list of checks, or of remarks about what was reached.
var checklistNames = [...]string{
	"quality checklist", "testing checklist", "test checklist", "verification checklist", "validation checklist", "review checklist", "release checklist",
	"qa checklist", "final checklist", "completion checklist", "pre-merge checklist", "pr checklist", "validation", "validations", "validierung", "validierungen",
	"qa results", "test results", "checkliste", "prüfliste", "testcheckliste", "milestones", "milestones reached",
	"检查清单", "检查项", "测试清单", "里程碑", "チェックリスト", "確認項目", "マイルストーン", "체크리스트",
}

// taskVerbs begin the headings of tasks about criteria.
const taskVerbs = " write define add implement create update document review agree test check verify draft fix describe collect design "

// longestSection is the length of the longest heading that names a section of criteria, in bytes.
const longestSection = 120

// Names reports whether a heading names a section of criteria, in any of the known languages.
func Names(heading string) bool {
	if len(heading) > longestSection {
		return false
	}
	name := sectionName(heading)
	if !mayName(name) {
		return false
	}
	for _, known := range listNames {
		if at := strings.Index(name, known); at >= 0 && named(name, at, known) {
			return true
		}
	}
	return false
}

// mayName is a quick check, because plans have many headings.
func mayName(name string) bool {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return true
		}
	}
	for _, part := range [...]string{"criteri", "kriterien", "definition of done", "success metrics", "out of scope", "non-goals"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// IsChecklist reports whether a heading is that of a list of checks, or of remarks about what was reached.
func IsChecklist(heading string) bool {
	if len(heading) > longestSection {
		return false
	}
	name := sectionName(heading)
	for _, known := range checklistNames {
		if strings.HasSuffix(name, known) && !isVerb(name) {
			return true
		}
	}
	return false
}

// sectionName returns the lower-case name of a section, without its number.
func sectionName(heading string) string {
	bare := strings.TrimLeft(strings.TrimFunc(heading, notInName), "0123456789.")
	return strings.ToLower(strings.TrimFunc(bare, notInName))
}

func notInName(r rune) bool {
	return r != ')' && r != '(' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// named reports whether a name at an index is that of the section: at its end, or at its beginning before a remark.
func named(heading string, at int, name string) bool {
	rest := heading[at+len(name):]
	if at == 0 {
		return rest == "" || rest[0] >= utf8.RuneSelf || strings.ContainsAny(rest[:1], "(:*-/,") || strings.HasPrefix(rest, " for ") ||
			strings.HasPrefix(rest, " of ") || len(rest) > 1 && strings.ContainsAny(rest[1:2], "(-–—&/")
	}
	return strings.Trim(rest, " :.)") == "" && !isVerb(heading)
}

// isVerb reports whether a heading begins with a verb, as that of a task about criteria does.
func isVerb(heading string) bool {
	word, _, _ := strings.Cut(heading, " ")
	return strings.Contains(taskVerbs, " "+word+" ")
}

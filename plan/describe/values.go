package describe

import (
	"strings"

	"waybill/plan"
	"waybill/plan/graph"
	"waybill/plan/lex"
)

// set stores the value of a field in the current item. Dependencies are stored in the entry, because they concern
// other items.
func (n fielder) set(key fieldKey, value string) {
	if key == fieldDepends && n.Item == nil && !n.Again {
		n.Depends(graph.Field, lex.Trim(value))
	}
	if n.Item != nil {
		files := len(n.Item.Files)
		n.describeField(n.Item, key, lex.Trim(value))
		n.spare(key, lex.Trim(value), files)
	}
}

func (n fielder) describeField(it *plan.Item, key fieldKey, value string) {
	switch key {
	case fieldNone, fieldDepends:
	case fieldRequirements:
		it.Requirements = splitRequirements(value, it.Requirements)
	case fieldLeverage:
		n.replace("Leverage", &it.Leverage, value)
	case fieldPrompt:
		n.replace("Prompt", &it.Prompt, value)
	case fieldBlocked:
		n.replace("Blocked", &it.BlockedReason, value)
	case fieldFiles:
		if n.Headed {
			it.Files = splitHeadFiles(value, it.Files)
		} else {
			it.Files = splitFiles(value, it.Files)
		}
	case fieldPurpose:
		n.replace("Purpose", &it.Purpose, value)
	}
}

// splitRequirements splits a list of requirements, and drops words that refer to none.
func splitRequirements(list string, into []string) []string {
	for list != "" {
		var part string
		if part, list, _ = lex.CutList(list); part != "" && part != "NFR" {
			into = append(into, part)
		}
	}
	return into
}

// splitFiles splits a list of files without remarks in brackets and backticks.
func splitFiles(list string, into []string) []string {
	for list != "" {
		var part string
		var brackets bool
		part, list, brackets = lex.CutList(list)
		if brackets {
			part = withoutRemark(part)
		}
		if part != "" && part[0] == '`' {
			part = strings.Trim(part, "`")
		}
		if part != "" {
			into = append(into, part)
		}
	}
	return into
}

// withoutRemark removes " (new)" from a file name. Brackets inside a path stay.
func withoutRemark(s string) string {
	i := strings.Index(s, " (")
	if i < 0 {
		return s
	}
	end := strings.IndexByte(s[i:], ')')
	if end < 0 {
		return s
	}
	return lex.Trim(lex.TrimRight(s[:i]) + s[i+end+1:])
}

// fileVerbs name the change to a file.
var fileVerbs = [...]string{"Create", "Modify", "Test", "Delete", "Update", "Add", "Edit", "Remove", "Rename", "Move", "Verify", "Read", "New"}

// splitHeadFiles appends the files of a line such as "Modify: `compost/main.go:12-40` (the call), `b.go`". The words
// after a quoted path are a remark, even with commas.
func splitHeadFiles(list string, into []string) []string {
	for list != "" {
		list = withoutVerbs(list)
		path, after, quoted := cutQuoted(list)
		if !quoted {
			var remark bool
			path, list, _ = lex.CutList(list)
			if path, remark = cutRemark(path); remark {
				list = ""
			}
		}
		if path != "" && !lex.IsNone(path) {
			into = append(into, path)
		}
		if quoted {
			var more bool
			if list, more = cutJoint(after); !more {
				return into
			}
		}
	}
	return into
}

// withoutVerbs removes "Create: " and "Create/Modify: " from a file name.
func withoutVerbs(s string) string {
	const longest = len("**Create/Modify/Rename/Delete:")
	colon := strings.IndexByte(s[:min(len(s), longest)], ':')
	if colon < 0 {
		return s
	}
	words, rest := s[:colon], s[colon+1:]
	for word := range strings.SplitSeq(strings.Trim(words, "*"), "/") {
		known := false
		for _, verb := range fileVerbs {
			known = known || lex.EqualWord(lex.Trim(word), verb)
		}
		if !known {
			return s
		}
	}
	return lex.Trim(strings.TrimLeft(rest, "*"))
}

// cutQuoted splits a name in backticks from the beginning of s.
func cutQuoted(s string) (name, rest string, ok bool) {
	if s == "" || s[0] != '`' {
		return "", s, false
	}
	name, rest, ok = strings.Cut(s[1:], "`")
	return name, rest, ok
}

// cutJoint removes the separator between two names, and reports whether another name follows.
func cutJoint(s string) (rest string, more bool) {
	s = lex.Trim(s)
	if strings.HasPrefix(s, "(") {
		_, after, closed := strings.Cut(s, ")")
		if s = lex.Trim(after); !closed {
			return "", false
		}
	}
	for _, joint := range [...]string{",", "and ", "& ", "+ "} {
		if rest, ok := strings.CutPrefix(s, joint); ok {
			rest = lex.Trim(rest)
			return rest, strings.HasPrefix(withoutVerbs(rest), "`")
		}
	}
	return "", false
}

// cutRemark removes a remark after a name: after a dash, or in brackets.
func cutRemark(s string) (name string, remark bool) {
	s = withoutRemark(s)
	for _, dash := range [...]string{" — ", " – ", " - "} {
		if before, _, ok := strings.Cut(s, dash); ok {
			return lex.Trim(before), true
		}
	}
	return s, false
}

// spare keeps the part of a value that its field does not store: the purpose of a file, or the reason for a
// dependency. files is the previous number of files of the item.
func (n fielder) spare(key fieldKey, value string, files int) {
	name, kept := "", n.waits
	switch key {
	case fieldFiles:
		name, kept = "Files: ", wordsOf(n.Item.Files[files:])
	case fieldDepends:
		if name = "Depends on: "; kept == nil {
			kept = wordsOf(n.Item.DependsOn)
			n.waits = kept
		}
	case fieldNone, fieldRequirements, fieldLeverage, fieldPrompt, fieldBlocked, fieldPurpose:
		return
	}
	if n.list.key == key {
		name = "" // its value is a list below the label
	}
	if !covers(kept, value, key == fieldDepends) {
		detailer(n).noteAlone(name + value)
	}
}

// wordsOf returns the set of words in a list.
func wordsOf(list []string) map[string]bool {
	words := map[string]bool{}
	for _, entry := range list {
		for word := range strings.FieldsFuncSeq(entry, lex.NotInWord) {
			words[word] = true
		}
	}
	return words
}

// covers reports whether each word of a text is in words, or is a usual word next to ids if ids is true.
func covers(words map[string]bool, text string, ids bool) bool {
	const around = " task tasks group groups and or to through none n a "
	for word := range strings.FieldsFuncSeq(text, lex.NotInWord) {
		if !words[word] && !(ids && lex.IsOneOf(word, around)) {
			return false
		}
	}
	return true
}

// replace sets the value of a field. The previous value becomes a detail.
func (n fielder) replace(name string, field *string, value string) {
	if old := *field; old != "" && old != value {
		detailer(n).noteAlone(name + ": " + old)
	}
	*field = value
}

package plan

import "strings"

// This file splits the values of fields.

// set stores the value of a field in the current item. Dependencies are stored in the entry, because they concern
// other items.
func (n *numbered) set(key fieldKey, value string) {
	if key == fieldDepends && n.item == nil && n.again == 0 {
		n.splitDependencies(trim(value))
		n.wait(n.lists.take())
		n.alternatives(n.owner)
	}
	if n.item != nil {
		files := len(n.item.Files)
		n.describeField(n.item, key, trim(value))
		n.spare(key, trim(value), files)
	}
}

func (n *numbered) describeField(it *Item, key fieldKey, value string) {
	switch key {
	case fieldNone, fieldDepends:
	case fieldRequirements:
		n.splitRequirements(value)
		it.Requirements = n.taken(it.Requirements)
	case fieldLeverage:
		n.replace("Leverage", &it.Leverage, value)
	case fieldPrompt:
		n.replace("Prompt", &it.Prompt, value)
	case fieldBlocked:
		n.replace("Blocked", &it.BlockedReason, value)
	case fieldFiles:
		if n.g.headed {
			n.splitHeadFiles(value)
		} else {
			n.splitFiles(value)
		}
		it.Files = n.taken(it.Files)
	case fieldPurpose:
		n.replace("Purpose", &it.Purpose, value)
	}
}

func (n *numbered) entitle(title string) {
	if n.item != nil {
		n.item.Title = title
	}
}

// splitRequirements splits a list of requirements, and drops words that refer to none.
func (n *numbered) splitRequirements(list string) {
	for list != "" {
		var part string
		if part, list, _ = cutList(list); part != "" && part != "NFR" {
			n.lists.push(part)
		}
	}
}

// splitFiles splits a list of files without remarks in brackets and backticks.
func (n *numbered) splitFiles(list string) {
	for list != "" {
		var part string
		var brackets bool
		part, list, brackets = cutList(list)
		if brackets {
			part = withoutRemark(part)
		}
		if part != "" && part[0] == '`' {
			part = strings.Trim(part, "`")
		}
		if part != "" {
			n.lists.push(part)
		}
	}
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
	return trim(trimRight(s[:i]) + s[i+end+1:])
}

// taken returns list with the pushed strings appended.
func (n *numbered) taken(list []string) []string {
	if list == nil {
		return n.lists.take()
	}
	return append(list, n.lists.take()...)
}

// cutList splits s at the first comma outside brackets, and reports whether the part has brackets.
func cutList(s string) (part, rest string, brackets bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c > ',' { // most characters: letters, digits, dots and slashes
			continue
		}
		switch c {
		case '(':
			depth++
			brackets = true
		case ')':
			depth = max(0, depth-1)
		case ',':
			if depth == 0 {
				return trim(s[:i]), s[pastSpace(s, i+1):], brackets
			}
		}
	}
	return trim(s), "", brackets
}

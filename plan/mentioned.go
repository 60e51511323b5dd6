package plan

import "strings"

// This file finds dependencies in sentences: "Show both (depends on T001, T002)". Most sentences with these words mean
// something else, as in "Document what depends on T001". The words therefore count only if they are set apart.

// mentioned returns the ids after "depends on" in a title. The words count in brackets, after a comma, a dash or a
// stop, at the beginning, or if only ids follow. They do not count in a clause that denies or asks it, or without an
// id right after them. "requires" and "blocked by" count in brackets alone.
func mentioned(title string) string {
	last := -1
	for at := range len(title) {
		switch title[at] | 0x20 {
		case 'd':
			if !beginsWith(title[at:], dependsOn) || !nearID(title[at+len(dependsOn):]) || denied(title[:at]) {
				continue
			}
			if last = at; setApart(title[:at]) {
				return idsAt(inBrackets(title[at+len(dependsOn):]))
			}
		case 'r', 'b':
			if ids := bracketedIDs(title, at); ids != "" {
				return ids
			}
		}
	}
	if last < 0 {
		return ""
	}
	value := behindWords(title[last+len(dependsOn):])
	ids := idsAt(value)
	if rest := trim(value[len(ids):]); rest != "" && strings.IndexByte("(.;,", rest[0]) < 0 {
		return ""
	}
	return ids
}

// behindWords removes separators between the words and the ids.
func behindWords(s string) string { return strings.TrimLeft(s, ": *") }

// inBrackets returns the text up to the closing bracket, with semicolons as commas.
func inBrackets(s string) string {
	inside, _, closed := strings.Cut(behindWords(s), ")")
	if closed {
		inside = strings.ReplaceAll(inside, ";", ",")
	}
	return inside
}

// nearID reports whether an id directly follows the words. The check is cheap, because a title may repeat the words
// often.
func nearID(s string) bool {
	value := behindWords(s)
	near, _, _ := strings.Cut(value[:min(len(value), 2*longestID)], ")")
	near, _, _ = cutList(near)
	return idsAt(near) != ""
}

// mostClause limits the search for the beginning of a clause, in bytes.
const mostClause = 64

// setApart reports whether the text before the words ends with a stop or an open bracket.
func setApart(before string) bool {
	before = strings.TrimRight(before, " *_`[")
	if before == "" || strings.IndexByte("(,;.:-", before[len(before)-1]) >= 0 ||
		strings.HasSuffix(before, "–") || strings.HasSuffix(before, "—") {
		return true
	}
	clause := before[max(0, len(before)-mostClause):]
	return strings.LastIndexByte(clause, '(') > strings.LastIndexByte(clause, ')')
}

// denied reports whether the clause before the words denies the dependency, or is a question.
func denied(before string) bool {
	const words = " no longer not never doesn't don't what which who whether how why if that nothing anything everything nobody "
	clause := before[max(0, len(before)-mostClause):]
	clause = clause[strings.LastIndexAny(clause, ".,;:(")+1:]
	for word := range strings.FieldsSeq(clause) {
		if isOneOf(strings.Trim(word, "*_`\""), words) {
			return true
		}
	}
	return false
}

// bracketedIDs parses "(requires T001, T002)" and "(blocked by Task 6)". Bare numbers do not count, because they may
// be quantities.
func bracketedIDs(title string, at int) string {
	if at == 0 || title[at-1] != '(' {
		return ""
	}
	for _, words := range [...]string{"requires", "blocked by"} {
		if !beginsWith(title[at:], words) {
			continue
		}
		// The search stops at the next bracket, so that a title full of opening brackets takes linear time.
		inside := title[at+len(words):]
		end := strings.IndexAny(inside, "()")
		if end < 0 || inside[end] != ')' {
			return ""
		}
		inside = trim(behindWords(strings.ReplaceAll(inside[:end], ";", ",")))
		if onlyIDs(inside) {
			return inside
		}
	}
	return ""
}

// onlyIDs reports whether a text is only a list of ids. Each has a dot, a letter or the word Task, unlike a mere
// number.
func onlyIDs(text string) bool {
	return text != "" && idsAt(text) == text && strings.ContainsAny(text, ".Tt#")
}

package ledger

import "strings"

// This file finds in sentences what an item waits for: "Show both (depends on T001, T002)". Most sentences with these
// words are about something else, "Document what depends on T001", so they count only where they stand apart.

// mentioned returns the ids behind "depends on" in a title. The words count in brackets, behind a comma, a dash or a stop,
// at the beginning, or if nothing but ids stands behind them, and not in a clause that denies or asks it. Without an
// id right behind them they are prose. What "requires" and "blocked by" mean is certain in brackets alone.
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

// behindWords cuts off what may stand between the words and the ids.
func behindWords(s string) string { return strings.TrimLeft(s, ": *") }

// inBrackets gives what stands behind the words up to a bracket that closes, where a semicolon is a comma.
func inBrackets(s string) string {
	inside, _, closed := strings.Cut(behindWords(s), ")")
	if closed {
		inside = strings.ReplaceAll(inside, ";", ",")
	}
	return inside
}

// nearID reports whether an id stands right behind the words. It is cheap, since all of a title may be these words.
func nearID(s string) bool {
	value := behindWords(s)
	near, _, _ := strings.Cut(value[:min(len(value), 2*longestID)], ")")
	near, _, _ = cutList(near)
	return idsAt(near) != ""
}

// mostClause bounds how far is looked back for the beginning of a clause.
const mostClause = 64

// setApart reports whether a title has come to a stop, or to a bracket that is open.
func setApart(before string) bool {
	before = strings.TrimRight(before, " *_`[")
	if before == "" || strings.IndexByte("(,;.:-", before[len(before)-1]) >= 0 ||
		strings.HasSuffix(before, "–") || strings.HasSuffix(before, "—") {
		return true
	}
	clause := before[max(0, len(before)-mostClause):]
	return strings.LastIndexByte(clause, '(') > strings.LastIndexByte(clause, ')')
}

// denied reports whether a clause denies what follows, or asks for it.
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

// bracketedIDs reads "(requires T001, T002)" and "(blocked by Task 6)". Bare numbers may count something.
func bracketedIDs(title string, at int) string {
	if at == 0 || title[at-1] != '(' {
		return ""
	}
	for _, words := range [...]string{"requires", "blocked by"} {
		if !beginsWith(title[at:], words) {
			continue
		}
		// Looked for no further than to the next bracket, a title of openings costs what its length is.
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

// onlyIDs reports whether a text is a list of ids with a dot, a letter or the word Task to tell them from numbers.
func onlyIDs(text string) bool {
	return text != "" && idsAt(text) == text && strings.ContainsAny(text, ".Tt#")
}

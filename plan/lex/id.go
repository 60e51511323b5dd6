package lex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// LongestID is the longest id in bytes that the wire accepts.
const LongestID = 128

// ReadID parses the id at the beginning of s: groups of digits joined by dots, with an optional letter each, as in
// 1.2a. It returns the end of the id with its dot, bracket or colon. tight means that no white space follows.
//
// It rejects 3rd, 100%, 2-factor and 3.x.
func ReadID(s string) (id string, end int, tight bool) {
	// A fast path for the usual forms "1.2 " and "1.2. ".
	for end < len(s) && (IsDigit(s[end]) || s[end] == '.' && end > 0 && end+1 < len(s) && IsDigit(s[end+1])) {
		end++
	}
	if 0 < end && end+1 < len(s) && end <= LongestID {
		if s[end] == ' ' && InWord(s[end+1]) {
			return s[:end], end, false
		}
		if s[end] == '.' && s[end+1] == ' ' {
			return s[:end], end + 1, false
		}
	}
	return readAnyID(s)
}

func readAnyID(s string) (id string, end int, tight bool) {
	end, escaped := groups(s)
	if end == 0 || end > LongestID {
		return "", 0, false
	}
	id = s[:end]
	if escaped {
		id = strings.ReplaceAll(id, `\`, "")
	}
	stop := terminator(s, end)
	switch {
	case Ends(s, stop):
		return id, stop, false
	case Ends(s, end):
		return id, end, false
	case stop > end && !IsDigit(s[stop]) && !IsLower(s[stop]):
		return id, stop, true
	}
	return "", 0, false
}

// Ends reports whether an id may end before s[i]: at white space, at the end, and before a script without spaces
// between words.
func Ends(s string, i int) bool {
	if i == len(s) || s[i] == ' ' {
		return true
	}
	if s[i] < utf8.RuneSelf {
		return BlankAt(s, i) > 0
	}
	const unspaced = '\u2e80' // CJK, kana, hangul and their punctuation begin here
	r, _ := utf8.DecodeRuneInString(s[i:])
	return r >= unspaced || BlankAt(s, i) > 0
}

// groups returns the end of the digit groups at the beginning of s, and whether a dot between them has a backslash,
// which some editors insert.
func groups(s string) (end int, escaped bool) {
	for i := 0; ; {
		n := i
		for n < len(s) && IsDigit(s[n]) {
			n++
		}
		if n == i {
			return end, escaped && end > 0
		}
		if n < len(s) && s[n] >= 'A' {
			n += letterOf(s, n, end > 0)
		}
		end = n
		switch {
		case n+1 < len(s) && s[n] == '.' && IsDigit(s[n+1]):
			i = n + 1
		case n+2 < len(s) && s[n] == '\\' && s[n+1] == '.' && IsDigit(s[n+2]):
			i, escaped = n+2, true
		default:
			return end, escaped
		}
	}
}

// letterOf returns 1 if s[i] is the letter of an id, else 0. A single number accepts only a lower-case letter, so that
// "3D printing" is a title.
func letterOf(s string, i int, dotted bool) int {
	if i >= len(s) || !IsLower(s[i]) && !(dotted && IsUpper(s[i])) {
		return 0
	}
	if i+1 < len(s) && (IsLower(s[i+1]) || IsUpper(s[i+1]) || IsDigit(s[i+1])) {
		return 0
	}
	return 1
}

// terminator returns the end of the text after an id: spaces, a backslash, and a dot, bracket or colon. Without one of
// these three, it returns i.
func terminator(s string, i int) int {
	n := i
	if n < len(s) && s[n] != '.' {
		n = SkipBlanks(s, n)
	}
	if n < len(s) && s[n] == '\\' {
		n++
	}
	if n < len(s) && (s[n] == '.' || s[n] == ')' || s[n] == ':') {
		return n + 1
	}
	return i
}

// Ancestor returns an id without its last group, or "" if it has only one group.
func Ancestor(id string) string {
	return id[:max(0, strings.LastIndexByte(id, '.'))]
}

// Zeroth reports whether an id is one such as 1.0.
func Zeroth(id string) bool {
	return len(id) > 2 && id[len(id)-2:] == ".0"
}

// ReadTaskID parses "T012" or "T012a" and the separator after it.
func ReadTaskID(s string) (id string, end int) {
	if len(s) < 2 || s[0] != 'T' && s[0] != 't' || !IsDigit(s[1]) {
		return "", 0
	}
	end = 2
	for end < len(s) && IsDigit(s[end]) {
		end++
	}
	end += letterOf(s, end, true)
	if end+1 < len(s) && s[end] == '-' && IsUpper(s[end+1]) { // T031-MIN
		for end++; end < len(s) && (IsUpper(s[end]) || IsDigit(s[end])); end++ {
		}
	}
	id = s[:end]
	if end < len(s) && strings.IndexByte(".:)", s[end]) >= 0 {
		end++
	}
	if end > LongestID || !Ends(s, end) {
		return "", 0
	}
	return id, end
}

// IsTaskID reports whether s is exactly an id such as T012.
func IsTaskID(s string) bool {
	id, _ := ReadTaskID(s)
	return id != "" && id == s
}

func IsID(s string) bool {
	end, _ := groups(s)
	return end == len(s) && end > 0 || IsTaskID(s)
}

// ReadLabel reads an id and a title.
func ReadLabel(s string) (id, title string, tight bool) {
	if inside, after, bold := CutBold(s); bold {
		if id, title, tight = boldID(inside, after); id != "" {
			return id, title, tight
		}
	}
	id, end, tight := ReadID(s)
	if id != "" && end == len(id) && counts(s, end) {
		return "", s, false
	}
	if title = Trim(s[PastSpace(s, end):]); id != "" && title != "" && title[0] >= utf8.RuneSelf {
		// Scripts without a space after an id use their own punctuation there.
		title = Trim(strings.TrimLeft(title, "、．。：）"))
	}
	if id != "" && title != "" && (title[0] == '-' || title[0] >= utf8.RuneSelf) {
		title = withoutDash(title)
	}
	return id, title, tight
}

// counts reports whether the number before s[end:] counts something: "60件", "3人团队", "9 comprehensive tests". This depends
// on the label alone, so that its id stays when other lines go.
func counts(s string, end int) bool {
	if end == len(s) || strings.IndexByte(s[:end], '.') >= 0 {
		return false
	}
	if s[end] >= utf8.RuneSelf {
		r, _ := utf8.DecodeRuneInString(s[end:])
		return unicode.IsLetter(r)
	}
	if s[end] != ' ' || s[:end] == "1" || end+1 == len(s) || !IsLower(s[end+1]) {
		return false
	}
	noun, rest, _ := strings.Cut(s[end+1:], " ")
	if plural(noun) {
		return true
	}
	second, _, _ := strings.Cut(rest, " ")
	return plural(second) && !strings.Contains(taskVerbs, " "+noun+" ")
}

// plural reports whether a word in lower case looks like the plural of a noun.
func plural(word string) bool {
	word = strings.TrimRight(word, ",.:;)")
	last := len(word) - 1
	return last >= 3 && word[last] == 's' && strings.IndexByte("sui", word[last-1]) < 0 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == ""
}

// taskVerbs begin the titles of tasks. A plural after them is their object: "2 write tests".
const taskVerbs = " add adjust agree allow analyse analyze apply audit avoid backfill benchmark build bump cache call capture catch change" +
	" check clean clear close collect compare compile complete compute configure confirm connect convert copy cover create cut debug" +
	" define delete deploy deprecate derive describe design detect develop disable display document download draft draw drop emit" +
	" enable enforce ensure establish evaluate expand export expose extend extract fetch fill filter find finish fix format generate" +
	" get give group handle harden hide implement import improve include increase index inline insert install integrate introduce" +
	" investigate invite isolate join keep limit link lint list load lock log make map mark measure merge migrate mock model modify" +
	" monitor move name normalize notify open optimize order organize parse pick plan polish port prepare prevent print process profile" +
	" propagate provide prune publish pull push put raise read rebuild record redesign reduce refactor refine register reject release" +
	" remove rename render reorder replace report require reset resolve restore restrict return reuse review revise rewrite run sanitize" +
	" save schedule seed select send separate serve set ship show simplify sketch skip sort specify split start state stop store" +
	" stream strip style submit support surface switch sync tag test throttle tick track translate trigger trim try tune turn unify" +
	" update upgrade upload use validate verify version wire wrap write "

// CutStar removes the star after a number, as in "12.7* Title", which means that the item is optional.
func CutStar(s string) (rest string, starred bool) {
	end := 0
	for end < len(s) && (IsDigit(s[end]) || s[end] == '.') {
		end++
	}
	if end == 0 || end >= len(s) || s[end] != '*' || end+1 < len(s) && !Ends(s, end+1) || strings.IndexByte(s[:end], '.') < 0 {
		return s, false
	}
	return s[:end] + s[end+1:], true
}

// withoutDash removes the dash between an id and a title.
func withoutDash(title string) string {
	for _, dash := range [...]string{"-", "–", "—"} {
		if rest, ok := strings.CutPrefix(title, dash); ok && rest != "" && BlankAt(rest, 0) > 0 {
			return Trim(rest)
		}
	}
	return title
}

// boldID parses the two parts of "**1.2** title", "**1.2 title**" and "**1.2 title** more".
func boldID(inside, after string) (id, title string, tight bool) {
	id, end, tight := ReadID(inside)
	head := Trim(inside[end:])
	if head != "" && Trim(after) != "" {
		return id, head + after, tight
	}
	return id, head + Trim(after), tight
}

// taskWords are the words before the number of a task.
var taskWords = [...]string{"Task ", "Subtask ", "Sub-task ", "Aufgabe ", "Tarea ", "Tarefa ", "Tâche ", "Задача ", "任务", "任務", "タスク", "작업 "}

// taskBegins are the first bytes of taskWords.
var taskBegins = func() (all [256]bool) {
	for _, word := range taskWords {
		all[word[0]] = true
		if IsUpper(word[0]) {
			all[word[0]|0x20] = true
		}
	}
	return all
}()

// TaskNumber reads "Task 2: Title" and "Subtask 2.1 - Title", also in bold type.
func TaskNumber(s string) (id, title string) {
	id, rest := taskNumber(s)
	if id == "" {
		return "", s
	}
	return id, AfterID(rest)
}

// taskNumber returns the text after the number with its separators.
func taskNumber(s string) (id, rest string) {
	text := Unbold(s)
	if text == "" || !taskBegins[text[0]] {
		return "", s
	}
	for _, word := range taskWords {
		if len(text) < len(word) || (text[0]^word[0]|text[1]^word[1])&^0x20 != 0 || !strings.EqualFold(text[:len(word)], word) {
			continue
		}
		text = Trim(text[len(word):])
		prefix := ""
		if len(text) > 1 && text[0] == 'T' {
			prefix, text = "T", text[1:]
		}
		if id, end, _ := ReadID(text); id != "" {
			return prefix + id, text[end:]
		}
		break
	}
	return "", s
}

// AfterID returns the title after an id and a dash.
func AfterID(s string) string {
	return Trim(strings.TrimLeft(Trim(s), "-–—"))
}

// IsDate reports whether a word is a date: three numbers, one of which is a year.
func IsDate(word string) bool {
	for _, joint := range [...]string{"-", "/", "."} {
		parts := strings.Split(word, joint)
		if len(parts) != 3 || strings.Trim(strings.Join(parts, ""), "0123456789") != "" {
			continue
		}
		return parts[1] != "" && (len(parts[0]) == 4 && parts[2] != "" || len(parts[2]) == 4 && parts[0] != "")
	}
	return false
}

// isEnclosed reports whether a text in brackets is an id such as task_001 or 1. "(P1)" is a priority and "(US1)" a story.
func isEnclosed(id string) bool {
	digits := strings.Trim(id, "0123456789") == ""
	return id != "" && len(id) <= LongestID && strings.ContainsAny(id, "0123456789") && (digits || strings.ContainsAny(id, "_-")) &&
		strings.Trim(strings.ToLower(id), "abcdefghijklmnopqrstuvwxyz0123456789_-.") == ""
}

// ReadCode reads an id of letters and numbers and the title after it: "TASK-INF-001: Title", "H1.1.1: Title",
// "**T-1** Title", "Task 3 — Title", "(task_1) Title". A code without a hyphen needs a colon or bold type, because it may be a word of the
// title, such as UTF8. The id is "" for any other text.
func ReadCode(s string) (id, title string) {
	if s == "" {
		return "", s
	}
	if s[0] == '(' {
		if inside, rest, ok := strings.Cut(s, ") "); ok && isEnclosed(inside[1:]) {
			return inside[1:], Trim(rest)
		}
	}
	if id, rest := taskNumber(s); id != "" {
		before := strings.TrimSuffix(Unbold(s), rest)
		if bare := Trim(rest); strings.HasSuffix(before, id) && strings.IndexByte(id, '.') < 0 && strings.TrimLeft(bare, "-–—:：") == bare {
			return "", s // "Task 3 reviewers"
		}
		return id, Trim(strings.TrimLeft(Trim(rest), "-–—:： "))
	}
	text, isBold := s, strings.HasPrefix(s, Bold)
	if isBold {
		text = s[len(Bold):]
	}
	letters, hyphens, digits, end := 0, 0, 0, 0
	for ; end < len(text) && end <= LongestID; end++ {
		c := text[end]
		switch {
		case IsDigit(c):
			digits++
		case IsUpper(c):
			letters++
		case (c == '-' || c == '.') && end+1 < len(text) && (IsDigit(text[end+1]) || c == '-' && IsUpper(text[end+1])):
			if c == '-' {
				hyphens++
			}
			continue
		default:
			goto read
		}
	}
read:
	rest := text[end:]
	if letters == 0 || digits == 0 || !IsUpper(s[len(s)-len(text)]) || end > LongestID {
		return "", s
	}
	stop := rest == "" || strings.IndexByte(":.)", rest[0]) >= 0
	if bare := Trim(rest); strings.HasPrefix(bare, "—") || strings.HasPrefix(bare, "–") || strings.HasPrefix(bare, "- ") {
		hyphens++ // a dash after the code separates it from the title
	}
	closed := isBold && (strings.HasPrefix(rest, Bold) || stop && rest != "")
	if !closed && !(stop && rest != "" && rest[0] == ':') && !(hyphens > 0 && Ends(text, end)) {
		return "", s
	}
	if isBold {
		rest = strings.Replace(rest, Bold, "", 1)
	}
	return text[:end], Trim(strings.TrimLeft(Trim(strings.TrimLeft(rest, ":.)")), ":-–— "))
}

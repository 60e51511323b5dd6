package lex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/internal/lazy"
	"waybill/plan"
)

// Use is a set of contexts in which a word is a status.
type Use uint8

// The contexts of a status word.
const (
	InCell   Use = 1 << iota // of a table
	InRecord                 // a field of a file, or terminal input
	InLegend
	InTitle // in brackets in a heading, where most words are part of the title

	notInTitle = InCell | InRecord | InLegend
	everywhere = notInTitle | InTitle
)

// statusWords are in lower case, with spaces for hyphens and underscores. Tools that start work do not write the words
// for reviews, so a legend has a mark of its own for them.
var statusWords = [...]struct {
	status plan.Status
	use    Use
	words  []string
}{
	{plan.Pending, everywhere, []string{"todo", "to do", "open", "pending", "queued", "not started", "offen", "待办", "待处理", "未开始", "未着手", "未完了", "未完成", "pendiente", "pendente", "a fazer", "da fare", "à faire", "открыто", "не начато", "대기", "예정"}},
	{plan.Pending, notInTitle, []string{"planned", "backlog", "draft", "new", "ready", "scheduled"}},
	{plan.Pending, InCell, []string{"not done", "no"}},
	{plan.InProgress, everywhere, []string{"in progress", "wip", "doing", "started", "in arbeit", "进行中", "進行中", "作業中", "en curso", "en progreso", "en cours", "em andamento", "em progresso", "in corso", "в работе", "в процессе", "진행중", "진행 중"}},
	{plan.InProgress, notInTitle, []string{"active", "ongoing"}},
	{plan.InProgress, InCell | InRecord, []string{"review", "in review", "for review", "under review", "testing"}},
	{plan.Completed, everywhere, []string{"done", "completed", "complete", "finished", "erledigt", "fertig", "abgeschlossen", "已完成", "完成", "完了", "completado", "completada", "hecho", "terminé", "terminée", "concluído", "concluída", "feito", "completato", "fatto", "готово", "сделано", "выполнено", "завершено", "완료"}},
	{plan.Completed, notInTitle, []string{"closed", "merged", "shipped", "resolved"}},
	{plan.Completed, InCell, []string{"yes", "x"}},
	{plan.Blocked, everywhere, []string{"blocked", "waiting", "on hold", "paused", "blockiert", "已阻塞", "阻塞", "bloqueado", "bloqueada", "bloqué", "bloccato", "заблокировано"}},
	{plan.Skipped, everywhere, []string{
		"skipped", "deferred", "superseded", "withdrawn", "cancelled", "canceled", "dropped", "obsolete", "abandoned", "won't do", "won't fix",
		"wontfix", "übersprungen", "verworfen", "已取消", "已跳过", "跳过", "中止", "cancelado", "cancelada", "annullato", "отменено",
	}},
	{plan.Skipped, InLegend, []string{"skip", "defer", "cancel"}}, // a legend says what happens to an item
}

// statusWord is one word of statusWords.
type statusWord struct {
	word   string
	status plan.Status
	use    Use
}

// wordsByByte are the status words by their first byte, in the order of the table.
var wordsByByte = lazy.Value[*[256][]statusWord]{Of: func() *[256][]statusWord {
	var all [256][]statusWord
	for _, group := range statusWords {
		for _, word := range group.words {
			all[word[0]] = append(all[word[0]], statusWord{word, group.status, group.use})
		}
	}
	return &all
}}

// wordsWith returns the words that may begin a text.
func wordsWith(s string) []statusWord {
	if s == "" {
		return nil
	}
	c := s[0]
	if IsUpper(c) {
		c |= 0x20
	}
	return wordsByByte.Get()[c]
}

// BeginsStatus is a quick check whether a text may begin with a status word.
func BeginsStatus(s string) bool {
	for _, w := range wordsWith(s) {
		if len(s) >= len(w.word) && sameWords(s[:len(w.word)], w.word) {
			return true
		}
	}
	return false
}

// WordFor returns the status for a text that is exactly a status word, or 0.
func WordFor(s string, use Use) plan.Status {
	for _, w := range wordsWith(s) {
		if w.use&use != 0 && len(s) == len(w.word) && sameWords(s, w.word) {
			return w.status
		}
	}
	return 0
}

// WordAt returns the status at the beginning of a text, and the width of its word. Other words must not follow: "done"
// and "Done (in May)" are completed, "done if it rains" is not.
func WordAt(s string, use Use) (status plan.Status, width int, known bool) {
	for _, w := range wordsWith(s) {
		if w.use&use == 0 || len(s) < len(w.word) || !sameWords(s[:len(w.word)], w.word) {
			continue
		}
		// Bold type may end after the word.
		if rest := strings.TrimLeft(s[len(w.word):], "*`_"); rest == "" || stops(Trim(rest)) || strings.HasPrefix(rest, " - ") || dated(rest) {
			return w.status, len(w.word), true
		}
	}
	return plan.Pending, 0, false
}

// stops reports whether s begins with a bracket, a comma or a sign, which ends the status.
func stops(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if r < utf8.RuneSelf {
		return strings.ContainsRune("(,;:.[!", r)
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// sameWords reports whether s equals words, ignoring case, with spaces, hyphens or underscores as separators. Both
// have the same length.
func sameWords(s, words string) bool {
	for i := range len(words) {
		switch c := s[i]; {
		case c == '-' || c == '_' || c == ' ':
			if words[i] != ' ' {
				return false
			}
		case IsUpper(c):
			if c|0x20 != words[i] {
				return false
			}
		case c != words[i]:
			return c >= utf8.RuneSelf && strings.EqualFold(s, words)
		}
	}
	return true
}

// WordStatus returns the status for a word in the spelling of people and tools: "done", "In Progress", "in_progress".
// It accepts the words of plan.Status and more. ok is false for any other text.
func WordStatus(word string) (status plan.Status, ok bool) {
	status = WordFor(Trim(word), InRecord)
	return status, status != 0
}

// Sign is a symbol for a status.
type Sign struct {
	Text   string
	Status plan.Status
	// Task means that a list item which begins with the sign is a task wherever it is. Another sign may be decoration.
	Task bool
	// Head means that the sign is a status in the heading of a task.
	Head bool
}

// Signs are all known signs.
var Signs = [...]Sign{
	{"✅", plan.Completed, true, true},
	{"☑", plan.Completed, true, true},
	{"✔", plan.Completed, false, true},
	{"✓", plan.Completed, false, false},
	{"⏳", plan.InProgress, true, true},
	{"⌛", plan.InProgress, false, false},
	{"🔄", plan.InProgress, false, true},
	{"🚧", plan.InProgress, false, true},
	{"⬜", plan.Pending, true, false},
	{"☐", plan.Pending, true, false},
	{"🔲", plan.Pending, true, false},
	{"◻", plan.Pending, false, false},
	{"◽", plan.Pending, false, false},
	{"○", plan.Pending, false, false},
	{"❌", plan.Pending, false, false},
	{"⏸", plan.Blocked, false, false},
	{"⛔", plan.Blocked, false, false},
	{"🚫", plan.Blocked, false, false},
	{"🛑", plan.Blocked, false, false},
	{"⏭", plan.Skipped, false, false},
}

// Selector is the emoji variation selector, which has no width of its own.
const Selector = "\ufe0f"

// CutSign removes a known sign from the beginning of a text. It returns nil for any other text.
func CutSign(s string) (sign *Sign, rest string) {
	if s == "" || s[0] < utf8.RuneSelf {
		return nil, s
	}
	for i := range Signs {
		if rest, ok := strings.CutPrefix(s, Signs[i].Text); ok {
			return &Signs[i], strings.TrimPrefix(rest, Selector)
		}
	}
	return nil, s
}

// CutHeadSign removes a sign of headings from the beginning of a text. The status is 0 for any other text.
func CutHeadSign(s string) (status plan.Status, rest string) {
	if sign, rest := CutSign(s); sign != nil && sign.Head {
		return sign.Status, rest
	}
	return 0, s
}

// HasHeadSign reports whether a text contains a sign of headings. It is then more than a status.
func HasHeadSign(s string) bool {
	for i := range Signs {
		if Signs[i].Head && strings.Contains(s, Signs[i].Text) {
			return true
		}
	}
	return false
}

// State is the parsed content of a status cell or a status field.
type State struct {
	Status plan.Status // plan.Pending if the status is unknown
	// From and To are the range of the text that contains the status.
	From, To int
	Word     string // the status text, without the brackets of a checkbox
	Rest     string // the remaining text
	Known    bool
}

// StateOf parses the complete text of a cell: a word, a checkbox or a sign. Closing work too early would lose it. A
// closing word therefore counts only alone, with a date, or with a remark in brackets: "done, but tests fail" does not
// count. A checkbox or a sign is always a status. Open work may have any text after it.
func StateOf(s string) State {
	status, width, known := readState(s)
	if known {
		mark, remark := s[:width], s[width:]
		if !status.Open() && endsWithWord(mark) && !isAside(remark, status) || contradicts(remark, status) {
			width, known = 0, false
		}
	}
	if known {
		return State{Status: status, To: width, Word: s[:width], Rest: Trim(strings.TrimLeft(s[width:], "*`_: ")), Known: true}
	}
	st := State{Status: plan.Pending, To: len(s), Word: s}
	if mark, ok := strings.CutPrefix(s[:width], "["); ok {
		st.Word = strings.TrimSuffix(mark, "]")
	}
	return st
}

// readState parses the status at the beginning of a text, and returns its width. The word after a sign takes precedence.
func readState(s string) (status plan.Status, width int, known bool) {
	if s == "" || IsNone(s) {
		return plan.Pending, len(s), true
	}
	if s[0] == '[' {
		return readBox(s)
	}
	if sign, rest := CutSign(s); sign != nil {
		width := SkipBlanks(s, len(s)-len(rest))
		if status, more, ok := WordAt(s[width:], InCell); ok {
			return status, width + more, true
		}
		return sign.Status, len(TrimRight(s[:width])), true
	}
	return WordAt(s, InCell)
}

// readBox parses "[x]". For an unknown mark, it returns only the width.
func readBox(s string) (status plan.Status, width int, known bool) {
	width = BoxWidth(s)
	if width == 0 {
		return plan.Pending, 0, false
	}
	switch mark := s[1 : width-1]; {
	case mark == "" || BlankAt(mark, 0) > 0:
		return plan.Pending, width, true
	case mark == "x" || mark == "X":
		return plan.Completed, width, true
	}
	return plan.Pending, width, false
}

// BoxWidth returns the width of the checkbox at the beginning of a text, or 0. A checkbox contains at most one
// character and is not the beginning of a link.
func BoxWidth(s string) int {
	if len(s) < 2 || s[0] != '[' {
		return 0
	}
	end := 1
	switch {
	case s[1] == ']':
	case len(s) > 2 && s[2] == ']':
		end = 2
	default:
		_, width := utf8.DecodeRuneInString(s[1:])
		if end += width; strings.HasPrefix(s[end:], Selector) {
			end += len(Selector)
		}
	}
	if end >= len(s) || s[end] != ']' || end+1 < len(s) && (s[end+1] == '(' || s[end+1] == '[') {
		return 0
	}
	return end + 1
}

// endsWithWord reports whether a mark ends with a word.
func endsWithWord(mark string) bool {
	last, _ := utf8.DecodeLastRuneInString(mark)
	return wordLetter(last)
}

func wordLetter(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// isAside reports whether a text has only brackets, dates, stops, and signs of the same status.
func isAside(text string, status plan.Status) bool {
	for text = cutOff(text); text != ""; text = cutOff(text) {
		if width := bracketWidth(text); width > 0 {
			text = text[width:]
			continue
		}
		if sign, rest := CutSign(text); sign != nil && sign.Status == status {
			text = rest
			continue
		}
		width := dateWidth(text)
		if width == 0 {
			return false
		}
		text = text[width:]
	}
	return true
}

// dateWidth returns the width of the date at the beginning of a text, or 0.
func dateWidth(text string) int {
	word := text[:len(text)-len(strings.TrimLeft(text, "0123456789-/."))]
	if word = strings.TrimRight(word, "."); IsDate(word) {
		return len(word)
	}
	return 0
}

// dated reports whether a date follows a word: "done 2026-01-02" and "done on 2026-01-02".
func dated(behind string) bool {
	text := Trim(behind)
	return text != behind && dateWidth(strings.TrimPrefix(text, "on ")) > 0
}

// cutOff removes separators before a date or a bracket.
func cutOff(text string) string {
	text = strings.TrimLeft(text, "*`_ ")
	for _, joint := range [...]string{"- ", "– ", "— ", "on ", ", ", ": "} {
		if rest, ok := strings.CutPrefix(text, joint); ok && rest != "" && (rest[0] == '(' || IsDigit(rest[0])) {
			return rest
		}
	}
	return strings.TrimLeft(text, ".! ")
}

// bracketWidth returns the width of a bracketed text at the beginning, or 0 if there is none or it is not closed.
func bracketWidth(text string) int {
	if text[0] != '(' && text[0] != '[' {
		return 0
	}
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// doubtWords revoke a closing status. commonWords are status words that often have another meaning in a sentence.
const (
	doubtWords  = " not reopened fail fails failed failing broken "
	commonWords = " no yes x new open ready active started review testing waiting merged shipped resolved "
)

// contradicts reports whether a remark has a word or sign for another status, or a word that revokes it. Common words
// count only if they are the whole remark.
func contradicts(remark string, status plan.Status) bool {
	alone := strings.Trim(remark, "()[].,:;!-–—→> *`_")
	if other, width, ok := WordAt(alone, InCell); ok && width == len(alone) && other != status {
		return alone != ""
	}
	for at := 0; at < len(remark); {
		letters := strings.IndexFunc(remark[at:], func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
		if letters < 0 {
			letters = len(remark) - at
		}
		if letters > 0 && opposes(remark[at:], letters, status) {
			return true
		}
		if at += letters; at < len(remark) {
			if sign, _ := CutSign(remark[at:]); sign != nil && sign.Status != status {
				return true
			}
			at++
		}
	}
	return false
}

// opposes reports whether the word at the beginning of a text contradicts a status. letters is the length of that
// word.
func opposes(text string, letters int, status plan.Status) bool {
	if !status.Open() && IsOneOf(text[:letters], doubtWords) {
		return true
	}
	for _, w := range wordsWith(text) {
		if w.use&InCell == 0 || IsOneOf(w.word, commonWords) || w.status == status || len(text) < len(w.word) || !sameWords(text[:len(w.word)], w.word) {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(text[len(w.word):]); len(w.word) >= letters && !wordLetter(next) {
			return true
		}
	}
	return false
}

// ChoiceOf parses the value of a status line, and returns plan.Pending if it is unknown. In a line of choices such as
// "PENDING | [x] Complete", the ticked choice counts.
func ChoiceOf(value string) (status plan.Status, known bool) {
	if !strings.Contains(value, "|") {
		if width := BoxWidth(value); width > 0 && Trim(value[width:]) != "" {
			// "[x] Complete": the box ticks its word.
			box, _, _ := readBox(value)
			if says := StateOf(Trim(value[width:])); says.Known && box == plan.Completed {
				return says.Status, true
			}
		}
		says := StateOf(value)
		return says.Status, says.Known
	}
	boxes, said := 0, plan.Status(0)
	for choice := range strings.SplitSeq(value, "|") {
		choice = Trim(choice)
		box, width, _ := readBox(choice)
		if width > 0 {
			boxes++
		}
		says := StateOf(Trim(choice[width:]))
		switch {
		case width == 0:
			if said == 0 && says.Known {
				said = says.Status
			}
			continue
		case box != plan.Completed:
			continue
		case status != 0 || !says.Known:
			return plan.Pending, false
		case choice[width:] == "":
			says.Status = plan.Completed
		}
		status = says.Status
	}
	switch {
	case status != 0:
		return status, true
	case boxes > 0 && said != 0 && !said.Open():
		return plan.Pending, false
	case boxes > 0 && said != 0:
		return said, true
	}
	return plan.Pending, false
}

// IsSymbol reports whether a text begins with a symbol, such as a sign.
func IsSymbol(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	// Squares and arrows can be in both categories.
	return unicode.In(r, unicode.So, unicode.Sm) || r == '‼' || r == '⁉'
}

// CutSymbol removes the symbol at the beginning of a text.
func CutSymbol(s string) (symbol, rest string) {
	_, width := utf8.DecodeRuneInString(s)
	return s[:width], strings.TrimPrefix(s[width:], Selector)
}

// WordBoxWidth returns the width of a word in brackets at the beginning of a text, such as [wip], or 0. A space follows
// it.
func WordBoxWidth(s string) int {
	const longest = len("[in progress]") + 2
	end := strings.IndexByte(s[:min(len(s), longest)], ']')
	if end < 3 || s[0] != '[' || end+1 >= len(s) || BlankAt(s, end+1) == 0 || strings.Trim(strings.ToLower(s[1:end]), "abcdefghijklmnopqrstuvwxyz-_ ") != "" {
		return 0
	}
	return end + 1
}

// WordBox returns the status of the word in brackets at the beginning of a text, and the width of the brackets. The
// status is 0 for any other text.
func WordBox(s string) (status plan.Status, width int) {
	if width = WordBoxWidth(s); width == 0 {
		return 0, 0
	}
	return WordFor(s[1:width-1], InTitle), width
}

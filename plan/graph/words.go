package graph

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/internal/lazy"
	"waybill/plan/lex"
)

// This file holds the words that state a dependency, in the languages of the plans that were seen.

// Strength says how surely a word states a dependency. The zero value means that it does not.
type Strength uint8

const (
	// Weak words have other meanings as well, as in "Prerequisites: a lamp". They count only before a list of ids.
	Weak Strength = iota + 1
	// Strong words always state a dependency.
	Strong
)

// needWords are in lower case. Free words count in a sentence outside brackets.
var needWords = [...]struct {
	strength Strength
	free     bool
	words    []string
}{
	{Strong, true, []string{
		"depends on", "hängt ab von", "abhängig von", "依赖于", "依赖任务", "依赖项", "依赖关系", "依赖", "依賴", "前置任务", "依存関係", "依存先",
		"依存タスク", "依存", "前提タスク", "의존성", "의존", "선행 작업", "dépend de", "depende de", "dipende da", "зависит от",
	}},
	{Strong, false, []string{
		"depend on", "depends", "dependson", "depends-on", "depends_on", "dependencies", "dependency", "abhängigkeiten", "abhängigkeit", "dépendances",
		"dépendance", "dependencias", "dependencia", "dependências", "dependência", "dipendenze", "зависимости", "зависимость",
	}},
	{Weak, false, []string{
		"blocked by", "prerequisites", "prerequisite", "requires", "waits for", "voraussetzungen", "voraussetzung", "blockiert durch", "benötigt",
		"前置条件", "前置", "前提条件", "前提", "prérequis", "bloqué par", "requiere", "requer", "bloqueado por",
	}},
}

// needWord is one word of needWords.
type needWord struct {
	text     string
	strength Strength
	free     bool
}

// needsByByte are the words by their first byte.
var needsByByte = lazy.Value[*[256][]needWord]{Of: func() *[256][]needWord {
	var all [256][]needWord
	for _, group := range needWords {
		for _, text := range group.words {
			all[text[0]] = append(all[text[0]], needWord{text, group.strength, group.free})
			if c := text[0]; lex.IsLower(c) {
				all[c&^0x20] = append(all[c&^0x20], needWord{text, group.strength, group.free})
			}
		}
	}
	return &all
}}

// Word returns the strength of the name of a field or a label, such as "Depends on" or "依赖".
func Word(name string) Strength {
	if name == "" {
		return 0
	}
	for _, w := range needsByByte.Get()[name[0]] {
		if lex.EqualWord(name, w.text) {
			return w.strength
		}
	}
	return 0
}

// Begins reports whether a word that states a dependency may begin with a byte.
func Begins(c byte) bool { return needsByByte.Get()[c] != nil }

// Speaks is a quick check whether a title or a sentence may state a dependency.
func Speaks(text string) bool {
	return strings.IndexByte(text, '(') >= 0 || strings.Contains(text, "epend") || strings.Contains(text, "EPEND") ||
		!lex.IsASCII(text)
}

// isNone reports whether a value says that there is no dependency.
func isNone(s string) bool {
	switch strings.ToLower(strings.TrimRight(s, ".:!。")) {
	case "-", "–", "—", "none", "n/a", "nothing", "keine", "keiner", "keines", "无", "無", "没有", "なし", "無し", "없음", "aucune", "aucun",
		"ninguna", "ninguno", "nenhuma", "nenhum", "nessuna", "нет":
		return true
	}
	return false
}

// joints separate the references of a list, besides commas. Words have spaces around them.
var joints = [...]string{" and ", " & ", orWord, " und ", " oder ", " et ", " ou ", " y ", " e ", " и ", "和", "及", "与", "と", "および", "및"}

// orWord separates references of which one is enough.
const orWord = " or "

// cutPart splits a list at its first separator outside brackets. either reports that the separator means "or".
func cutPart(s string) (part, rest string, either bool) {
	depth := 0
	for i, r := range s {
		switch r {
		case '(', '（':
			depth++
			continue
		case ')', '）':
			depth = max(0, depth-1)
			continue
		case ',', ';', '、', '，', '；':
			if depth == 0 {
				return s[:i], s[i+utf8.RuneLen(r):], false
			}
		}
		if depth > 0 || r > ' ' && r < utf8.RuneSelf {
			continue
		}
		for _, joint := range joints {
			if strings.HasPrefix(s[i:], joint) {
				return s[:i], s[i+len(joint):], joint == orWord || joint == " oder " || joint == " ou "
			}
		}
	}
	return s, "", false
}

// mention finds the statement of a dependency in a title, and returns the list behind it. certain means that the list
// consists of ids only.
//
// Most sentences with these words mean something else, as in "Document what depends on T001". Free words count in
// brackets, after a comma, a dash or a stop, at the beginning, or if only ids follow. They do not count in a clause that
// denies or asks it. The other words count in brackets alone.
func (n *names) mention(title string) string {
	found := ""
	for at := 0; at < len(title); at++ {
		if at > 0 && lex.IsLetter(title[at]) && lex.IsLetter(title[at-1]) {
			continue
		}
		for _, w := range needsByByte.Get()[title[at]] {
			if !lex.BeginsWith(title[at:], w.text) {
				continue
			}
			rest, before := title[at+len(w.text):], title[:at]
			if opened := strings.TrimRight(before, " *_`"); !w.free && (opened == "" || strings.HasSuffix(opened, "(") || strings.HasSuffix(opened, "（")) {
				if ids := n.closed(rest, opened == ""); ids != "" {
					return ids
				}
			}
			if !w.free || denied(before) || n.leading(rest, true) == "" {
				break
			}
			if setApart(before) {
				return n.leading(rest, false)
			}
			found = rest
			break
		}
	}
	ids := n.leading(found, false)
	rest := lex.Trim(trimWords(found)[len(ids):])
	if rest != "" && !strings.ContainsRune("(.;,（。；，", firstRune(rest)) {
		return ""
	}
	return ids
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// trimWords removes separators between the words and the ids.
func trimWords(s string) string { return strings.TrimLeft(s, ":： *_") }

// closed returns the text up to the closing bracket, or the whole text, if it consists of ids that are more than
// numbers, because numbers may be quantities.
func (n *names) closed(s string, whole bool) string {
	end := strings.IndexAny(s, "()（）")
	switch {
	case end < 0 && whole:
		end = len(s)
	case end < 0 || s[end] == '(' || strings.HasPrefix(s[end:], "（"):
		return ""
	}
	inside := strings.TrimRight(lex.Trim(trimWords(s[:end])), ".。")
	if n.leading(inside, false) != inside || !strings.ContainsFunc(inside, func(r rune) bool { return r == '.' || r == '#' || unicode.IsLetter(r) }) {
		return ""
	}
	return inside
}

// leading returns the part of a list before the first entry that is no id. Other words may follow the last id, but not
// a bare number, which may be a quantity. With first set it stops after one entry.
func (n *names) leading(s string, first bool) string {
	const longest = 256 // a title may repeat the words often
	s = trimWords(s)
	if first {
		s = s[:min(len(s), longest)]
	}
	if end := strings.IndexAny(s, ")）"); end >= 0 && !strings.ContainsAny(s[:end], "(（") {
		s = s[:end]
	}
	end := 0
	for rest := s; rest != ""; {
		at := len(s) - len(rest)
		part, more, _ := cutPart(rest)
		word, after := n.name(Bare(part))
		if word == "" {
			break
		}
		end = at + strings.Index(part, word) + len(word)
		if first || after {
			break
		}
		rest = more
	}
	return s[:end]
}

// name returns the id or the range at the beginning of a list entry, and whether other words follow.
func (n *names) name(entry string) (id string, more bool) {
	if n.rows.Find(entry) >= 0 || isRange(entry) {
		return entry, false
	}
	id, rest, _ := strings.Cut(entry, " ")
	id = strings.TrimRight(id, ".;:")
	if id == "" || isNumber(id) && rest != "" || !isID(id) && n.rows.Find(id) < 0 && !isRange(id) {
		return "", false
	}
	return id, rest != ""
}

// mostClause limits the search for the beginning of a clause, in bytes.
const mostClause = 64

// setApart reports whether the text before the words ends with a stop or an open bracket.
func setApart(before string) bool {
	before = strings.TrimRight(before, " *_`[")
	last, _ := utf8.DecodeLastRuneInString(before)
	if before == "" || strings.ContainsRune("(,;.:-–—（，；。：、", last) {
		return true
	}
	clause := before[max(0, len(before)-mostClause):]
	return strings.LastIndexAny(clause, "(（") > strings.LastIndexAny(clause, ")）")
}

// denied reports whether the clause before the words denies the dependency, or is a question.
func denied(before string) bool {
	clause := before[max(0, len(before)-mostClause):]
	clause = clause[strings.LastIndexAny(clause, ".,;:(")+1:]
	for word := range strings.FieldsSeq(clause) {
		switch strings.ToLower(strings.Trim(word, "*_`\"")) {
		case "no", "longer", "not", "never", "doesn't", "don't", "what", "which", "who", "whether", "how", "why", "if", "that",
			"nothing", "anything", "everything", "nobody", "nicht", "kein", "keine", "was", "wer", "ob", "ne", "pas", "не":
			return true
		}
	}
	return strings.HasSuffix(clause, "不") || strings.HasSuffix(clause, "无") || strings.HasSuffix(clause, "非")
}

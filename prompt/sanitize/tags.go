package sanitize

import (
	"strings"
	"unicode/utf8"

	"waybill/internal/lazy"
)

// Hosts and models mark speakers by tags and tokens. In untrusted text these must have no effect, so their bracket is
// replaced. The lists omit common words of HTML, XML and templates: `<div>`, `<user-id>` and `List<T>` stay.

// taggedNames count in angle brackets in any case, with "-" for "_", and with a namespace prefix.
var taggedNames = lazy.Value[map[string]bool]{Of: func() map[string]bool {
	return names(
		"antthinking", "assistant_message", "assistant_response", "bos", "developer_message", "end_of_turn", "eos",
		"function_call", "function_calls", "function_output", "function_response", "function_result",
		"function_results", "human_message", "important_instructions", "invoke", "parallel_tool_calls",
		"scratchpad", "start_of_turn", "system_instruction", "system_instructions", "system_message",
		"system_prompt", "system_reminder", "think", "thinking", "tool_call", "tool_calls", "tool_output",
		"tool_outputs", "tool_response", "tool_responses", "tool_result", "tool_results", "tool_use",
		"tool_use_error", "user_message", "user_prompt", "user_query", "user_reply",
	)
}}

// plainNames are also ordinary words: `<Assistant>` is a component and `List<User>` a type. They therefore count only
// in all lower or all upper case.
var plainNames = lazy.Value[map[string]bool]{Of: func() map[string]bool {
	return names("assistant", "human", "instruction", "instructions", "system", "tool", "user")
}}

// placeholders are plain names that also mark a blank to fill in: `/home/<user>/`. In the middle of a line, such a tag
// counts only if the text closes it or a word follows directly. `<system>` also counts after white space, unlike
// `packages.<system>.default`.
var placeholders = lazy.Value[map[string]bool]{Of: func() map[string]bool {
	return names("system", "tool", "user")
}}

// bracketTokens are the upper-case tokens that templates write in square brackets.
var bracketTokens = [...]string{
	"[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[/TOOL_CALLS]",
	"[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]",
}

// longestTag limits the bytes that are read to find the name of a tag.
const longestTag = 96

// appendTags appends the positions of the brackets that open a tag or token.
func appendTags(at []int, s string) []int {
	r := tagReader{text: s}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '<' && c != '[' && c != 0xef {
			continue
		}
		if seen := opening(s[i:]); seen != "" && r.means(seen, i) {
			at = append(at, i)
		}
	}
	return at
}

// tagReader finds the tags of a text. It scans the whole text only if a tag requires it.
type tagReader struct {
	text     string
	closes   map[string]bool // the names of closing tags in the text
	code     codeSpans       // the code in the text
	codeRead bool
}

// means reports whether the text at index i is a tag or token. seen is the look of that text.
func (r *tagReader) means(seen string, i int) bool {
	switch {
	case seen[0] == '[':
		return isBracketToken(seen)
	case isToken(seen):
		return true
	}
	t := readTag(seen)
	if t.name == "" {
		return false
	}
	mayBeType := t.isType(r.text, i)
	if (mayBeType || t.placeholder()) && r.closes == nil {
		r.closes = closedIn(r.text)
	}
	if mayBeType && !r.closes[t.name] && r.isCode(i) {
		return false
	}
	return t.counts(r.text[:i], r.closes)
}

func (r *tagReader) isCode(i int) bool {
	if !r.codeRead {
		r.code, r.codeRead = codeIn(r.text), true
	}
	return r.code.has(i)
}

// opening returns the look of a text that begins with a bracket, or "". The result ends at the next opening bracket.
// Only <<SYS>> contains two, and this limit keeps a text full of brackets cheap.
func opening(s string) string {
	if s[0] == '[' && (len(s) == 1 || s[1] < utf8.RuneSelf && s[1] != '/' && (s[1] < 'A' || s[1] > 'Z')) {
		return ""
	}
	if s[0] >= utf8.RuneSelf {
		return openingSeen(s)
	}
	for i := 1; i < min(len(s), longestTag); i++ {
		switch {
		case s[i] >= utf8.RuneSelf:
			return openingSeen(s)
		case i > 1 && endsOpening(s[i], s[0]):
			return s[:i+1]
		}
	}
	return s[:min(len(s), longestTag)]
}

// openingSeen is opening for a text with characters outside ASCII.
func openingSeen(s string) string {
	var room [longestTag + 8*utf8.UTFMax]byte
	seen := room[:0]
	for i := 0; i < len(s) && len(seen) < longestTag; {
		r, width := utf8.DecodeRuneInString(s[i:])
		seen = appendLooks(seen, r, s[i:i+width])
		i += width
		if len(seen) == 0 || seen[0] != '<' && seen[0] != '[' {
			return ""
		}
		if last := len(seen) - 1; last > 1 && endsOpening(seen[last], seen[0]) {
			break
		}
	}
	return string(seen)
}

// endsOpening reports whether bracket c ends an opening that begins with the bracket first.
func endsOpening(c, first byte) bool { return c == '<' || c == '[' && first == '[' }

func isBracketToken(s string) bool {
	if len(s) < 2 || s[1] != '/' && (s[1] < 'A' || s[1] > 'Z') {
		return false
	}
	for _, token := range bracketTokens {
		if strings.HasPrefix(s, token) {
			return true
		}
	}
	return false
}

// isToken reports whether s begins with a special token: <|word|>, <<SYS>> or <</SYS>>.
func isToken(s string) bool {
	if strings.HasPrefix(s, "<<SYS>>") || strings.HasPrefix(s, "<</SYS>>") {
		return true
	}
	word, found := strings.CutPrefix(s, "<|")
	if !found {
		return false
	}
	word, _, found = strings.Cut(word, "|>")
	return found && word != "" && !strings.ContainsAny(word, " \t\n<>|")
}

// tag is a tag in angle brackets. The name is "" for a tag that never counts.
type tag struct {
	name    string
	closing bool
	goesOn  bool // a letter or digit follows
}

// readTag reads the tag at the beginning of s.
func readTag(s string) tag {
	rest := strings.TrimLeft(s[1:], " \t\n")
	spaced := len(rest) < len(s)-1
	rest, closing := strings.CutPrefix(rest, "/")
	if closing {
		rest = strings.TrimLeft(rest, " \t\n")
	}
	end := 0
	for end < len(rest) && (isWordByte(rest[end]) || rest[end] == '-' || rest[end] == ':') {
		end++
	}
	if end == 0 {
		return tag{}
	}
	name, rest := knownName(rest[:end]), rest[end:]
	inner := strings.TrimLeft(rest, " \t\n")
	behind, closed := strings.CutPrefix(strings.TrimPrefix(inner, "/"), ">")
	attributes := len(inner) < len(rest) && beginsAttribute(inner, spaced)
	// A name in taggedNames counts whatever follows, even in an incomplete tag.
	begun := taggedNames.Get()[strings.ReplaceAll(name, "-", "_")] && rest != "" && strings.IndexByte(" \t\n/>", rest[0]) >= 0
	if name == "" || !closed && !attributes && !begun && inner != "" {
		return tag{}
	}
	return tag{name, closing, closed && behind != "" && isWordByte(behind[0])}
}

// isType reports whether the tag t at s[i] has the form of a type. In code, a bracketed name after a word is a type, such
// as `std::vector<instruction>`. It is not a tag, unless the text also closes it.
func (t tag) isType(s string, i int) bool {
	end := i + 1
	for end < len(s) && isWordByte(s[end]) {
		end++
	}
	joined := i > 0 && (isWordByte(s[i-1]) || strings.HasSuffix(s[:i], "::"))
	return joined && !t.closing && !t.goesOn && end < len(s) && s[end] == '>' && knownName(s[i+1:end]) == t.name
}

// beginsAttribute reports whether s begins with an attribute. If white space follows the bracket, it may be a
// comparison, so the equals sign must follow the name directly.
func beginsAttribute(s string, spaced bool) bool {
	word := 0
	for word < len(s) && isWordByte(s[word]) {
		word++
	}
	if spaced {
		return word > 0 && word < len(s) && s[word] == '='
	}
	return word > 0 && strings.IndexByte(s, '=') > 0
}

// knownName returns the spelling of the name in the lists above, or "" for an unknown name.
func knownName(name string) string {
	local := name[strings.LastIndexByte(name, ':')+1:]
	low := strings.ToLower(local)
	if taggedNames.Get()[strings.ReplaceAll(low, "-", "_")] || plainNames.Get()[low] && (local == low || local == strings.ToUpper(local)) {
		return low
	}
	return ""
}

func (t tag) placeholder() bool { return placeholders.Get()[t.name] && !t.closing }

// counts reports whether the tag has a meaning after the text before it.
func (t tag) counts(before string, closes map[string]bool) bool {
	if !t.placeholder() || t.goesOn || closes[t.name] {
		return t.name != ""
	}
	if looksBegun(before) {
		return true
	}
	return t.name == "system" && strings.IndexByte(" \t", lookBack(&before)) >= 0
}

// looksBegun reports whether only white space and quotation marks seem to precede on the line.
func looksBegun(before string) bool {
	for before != "" {
		switch lookBack(&before) {
		case '\n':
			return true
		case ' ', '\t', '>':
		default:
			return false
		}
	}
	return true
}

// lookBack removes the last visible character. It returns the look of that character, or 0 if this is not one ASCII
// character.
func lookBack(before *string) byte {
	var room [8 * utf8.UTFMax]byte
	for *before != "" {
		r, width := utf8.DecodeLastRuneInString(*before)
		last := (*before)[len(*before)-width:]
		*before = strings.TrimSuffix(*before, last)
		if seen := appendLooks(room[:0], r, last); len(seen) == 1 {
			return seen[0]
		} else if len(seen) > 1 {
			return 0
		}
	}
	return 0
}

// closedIn returns the names of the closing tags in a text.
func closedIn(s string) map[string]bool {
	found := map[string]bool{}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '<' && c != 0xef {
			continue
		}
		if seen := opening(s[i:]); seen != "" && seen[0] == '<' {
			if t := readTag(seen); t.closing {
				found[t.name] = true
			}
		}
	}
	return found
}

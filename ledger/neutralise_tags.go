package ledger

import (
	"strings"
	"unicode/utf8"
)

// Hosts and models set apart who speaks by tags and tokens. In a text of others they are no more than
// characters, so their bracket is blunted. The names are those that hosts and models have, and not the common
// words of HTML, XML and templates: `<div>`, `<user-id>` and `List<T>` open nothing here.

// taggedNames are what counts in angle brackets, whatever the case, with "-" for "_" or not, and with a name
// space before it or not.
var taggedNames = names(
	"antthinking", "assistant_message", "assistant_response", "bos", "developer_message", "end_of_turn", "eos",
	"function_call", "function_calls", "function_output", "function_response", "function_result",
	"function_results", "human_message", "important_instructions", "invoke", "parallel_tool_calls",
	"scratchpad", "start_of_turn", "system_instruction", "system_instructions", "system_message",
	"system_prompt", "system_reminder", "think", "thinking", "tool_call", "tool_calls", "tool_output",
	"tool_outputs", "tool_response", "tool_responses", "tool_result", "tool_results", "tool_use",
	"tool_use_error", "user_message", "user_prompt", "user_query", "user_reply",
)

// plainNames are words as well: `<Assistant>` is a component and `List<User>` a type, so they count in small
// letters or capitals only.
var plainNames = names("assistant", "human", "instruction", "instructions", "system", "tool", "user")

// placeholders are those plain names that people write for something to be filled in: `/home/<user>/`. In the
// middle of a line such a tag counts only if the text closes it too, or goes straight on with a word; and
// `<system>` unless it is joined to what stands before it, as in `packages.<system>.default`.
var placeholders = names("system", "tool", "user")

// bracketTokens are what templates have in square brackets, in capitals.
var bracketTokens = [...]string{
	"[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[/TOOL_CALLS]",
	"[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]",
}

func names(list ...string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, name := range list {
		set[name] = true
	}
	return set
}

// longestTag is how much of what a text looks like is read to find the name of a tag.
const longestTag = 96

// appendTags appends the places of the brackets that open a tag or token.
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

// tagReader reads the tags of a text. What it has to know of the whole text it finds out when somebody asks.
type tagReader struct {
	text     string
	closes   map[string]bool // the tags that the text closes
	code     codeSpans       // where its code is
	codeRead bool
}

// means reports whether what stands at an index, and looks like seen, is a tag or token.
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

// opening gives what a text that begins with a bracket looks like, or "" if it does not begin with one. It ends
// with the next bracket that opens: nothing that counts has one in it, but for the second of <<SYS>>, and so a
// text full of brackets is read no more than a few times.
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

// openingSeen is opening for a text that is not all ASCII.
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

// endsOpening reports whether c is the bracket behind which an opening that begins with first is not read on.
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

// tag is what stands in angle brackets, as far as it matters. The name is "" if it is no tag that counts anywhere.
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
	attributes := !spaced && len(inner) < len(rest) && inner != "" && isWordByte(inner[0]) && strings.IndexByte(inner, '=') > 0
	// The names that are nothing but those of tags count whatever follows, and also where the tag is not whole.
	begun := taggedNames[strings.ReplaceAll(name, "-", "_")] && rest != "" && strings.IndexByte(" \t\n/>", rest[0]) >= 0
	if name == "" || !closed && !attributes && !begun && inner != "" {
		return tag{}
	}
	return tag{name, closing, closed && behind != "" && isWordByte(behind[0])}
}

// knownName gives the name as the lists above have it, or "".
func knownName(name string) string {
	local := name[strings.LastIndexByte(name, ':')+1:]
	low := strings.ToLower(local)
	if taggedNames[strings.ReplaceAll(low, "-", "_")] || plainNames[low] && (local == low || local == strings.ToUpper(local)) {
		return low
	}
	return ""
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func (t tag) placeholder() bool { return placeholders[t.name] && !t.closing }

// counts reports whether the tag means something behind what stands before it.
func (t tag) counts(before string, closes map[string]bool) bool {
	if !t.placeholder() || t.goesOn || closes[t.name] {
		return t.name != ""
	}
	if looksBegun(before) {
		return true
	}
	return t.name == "system" && strings.IndexByte(" \t", lookBack(&before)) >= 0
}

// looksBegun reports whether what stands in the line before looks like nothing but marks of quotation.
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

// lookBack takes off what the end of a text looks like, and gives it if it is one character of ASCII, or else 0.
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

// closedIn gives the tags that a text closes.
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

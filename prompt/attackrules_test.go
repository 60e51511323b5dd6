package prompt_test

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// This file has the rules of docs/prompts.md as the reader of prompts knows them.

const (
	reservedNames = `task|task prompt|details|context|requirements|acceptance criteria|work|files|leverage|last attempt|required fixes|` +
		`blockers|review issues|replan hint|ledger facts|now|progress|last outcome|stale plan|next action`
	markupBefore = `^[\s#>*+.)\d\\_` + "`" + `|~-]*`
	turnBefore   = `^([\s>#_]|[*]+[>#_])*[*]*` // a star with a blank behind it begins an entry of a list
	tagNames     = `function_(call|calls|output|response|result|results)|tool_(call|calls|output|outputs|response|responses|result|results|use|use_error)|` +
		`invoke|system_(instruction|instructions|message|prompt|reminder)|(assistant|developer|human|user)_message|assistant_response|` +
		`important_instructions|think|thinking|user_(prompt|query|reply)|bos|eos|(start|end)_of_turn`
)

// What must not be found in a line, as it looks, of a text of others.
var forbiddenLines = map[string]*regexp.Regexp{
	"heading":     regexp.MustCompile(`(?i)` + markupBefore + `\[\s*(` + spaced(reservedNames) + `)\s*\][\s#*_` + "`" + `~|\\]*([:(]|$)`),
	"dialogue":    regexp.MustCompile(`(?i)` + markupBefore + `\[\s*(previous\s+output|user\s+reply|continue\s+task)\s*\]`),
	"marker":      regexp.MustCompile(`(?i)` + markupBefore + `(begin|end)_dispatch_result[\s#*_` + "`" + `~|\\]*([:(]|$)`),
	"retry":       regexp.MustCompile(`(?i)` + markupBefore + `retry\s+context:`),
	"turn":        regexp.MustCompile(turnBefore + `(Human|HUMAN|Assistant|ASSISTANT)[*_\s]*:`),
	"turn alone":  regexp.MustCompile(turnBefore + `(System|SYSTEM|User|USER)[*_\s]*:[*_#\s]*$`),
	"template":    regexp.MustCompile(`(?i)^[\s>*_]*#[\s>#]*[*_]*(instruction|response|input|human|assistant|system|user)[*_\s]*:[*_#\s]*$`),
	"tag":         regexp.MustCompile(`(?i)<\s*/?\s*([\w-]+:)?(` + strings.ReplaceAll(tagNames, "_", "[_-]") + `)([\s/>]|$)`),
	"plain tag":   regexp.MustCompile(`<\s*/?\s*(assistant|human|instructions?|ASSISTANT|HUMAN|INSTRUCTIONS?)\s*/?>`),
	"closing tag": regexp.MustCompile(`<\s*/\s*(system|user|tool|SYSTEM|USER|TOOL)\s*>`),
	"placeholder": regexp.MustCompile(`^[\s>]*<\s*(system|user|tool|SYSTEM|USER|TOOL)(\s+\w+=[^>]*)?\s*/?>`),
	"system":      regexp.MustCompile(`\s<\s*(system|SYSTEM)(\s+\w+=[^>]*)?\s*/?>`),
	"goes on":     regexp.MustCompile(`<\s*(system|user|tool|SYSTEM|USER|TOOL)\s*/?>\w`),
	"token":       regexp.MustCompile(`<\|[^\s<>|]{1,40}\|>|<</?SYS>>|\[/?(INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\]`),
}

// What must not be found in a line as it is written, unless the text ends it: elements that hide what follows.
var forbiddenElements = map[string]*regexp.Regexp{
	"element":     regexp.MustCompile(`(?i)^[\s>]*<(` + elementNames + `)(\s[^<>/]*)?(>|$)`),
	"hidden":      regexp.MustCompile(`(?i)^[\s>]*<([a-z][a-z0-9-]*)\s([^<>"'/]*\s)?hidden(\s*=[^<>/]*)?(>|$)`),
	"styled":      regexp.MustCompile(`(?i)^[\s>]*<([a-z][a-z0-9-]*)\s([^<>"'/]*\s)?style=[^<>/]*(>|$)`),
	"declaration": regexp.MustCompile(`^[\s>]*<(!)[A-Za-z][^>]*$`),
}

const (
	elementNames = `audio|canvas|datalist|details|dialog|iframe|noembed|noframes|noscript|object|plaintext|select|svg|template|title|video|xmp`
	sourceNames  = `(waybill|host|plan|requirements|worker|reviewer)`
	voidNames    = `area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr`
)

// unended returns the kinds of elements that a line of a text begins and no line of it ends.
func unended(line, text string) (kinds []string) {
	for kind, pattern := range forbiddenElements {
		found := pattern.FindStringSubmatch(line)
		if found == nil || slices.Contains(strings.Split(voidNames, "|"), strings.ToLower(found[1])) {
			continue
		}
		end := "</" + strings.ToLower(found[1])
		if found[1] == "!" {
			end = ">"
		}
		_, behind, _ := strings.Cut(text, line)
		if end == "</plaintext" || !strings.Contains(strings.ToLower(behind), end) && !strings.Contains(strings.ToLower(line), end) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// What must not be found anywhere in a line that has no mark, as it looks: it says whose words follow, as sections do.
var forbiddenClaims = map[string]*regexp.Regexp{
	"claim":            regexp.MustCompile(`(?i)[(\[{<]\s*from[\s/.,:;|-]([^()\[\]{}<>]|[(][^()\[\]{}<>]*[)])*;\s*(un)?trusted([^\pL]|$)`),
	"claim of a name":  regexp.MustCompile(`(?i)` + namedBefore + `[(]\s*from[\s/.,:;|-]([^()\[\]{}<>]*[^\pL()\[\]{}<>])?(un)?trusted([^\pL]|$)`),
	"claim of sources": regexp.MustCompile(`(?i)` + namedBefore + `[(]\s*from[\s/]+` + sourceNames + `([\s,/]+` + sourceNames + `)*[\s,/]*[)]`),
	"bare claim":       regexp.MustCompile(`(?i)` + namedBefore + `from\s[^()\[\]{}<>]*[;,]\s*(un)?trusted[\s.!]*$`),
}

const namedBefore = `\[[^\[\]]*\pL\pL[^\[\]]*\][^\pL()\[\]{}<>]*`

// alreadyMarked is a line with a mark in it, behind our bullet or label.
var alreadyMarked = regexp.MustCompile(`^\s*(- )?([A-Za-z][A-Za-z ,;]*: ){0,2}│ `)

// claimsIn returns the claims in a line. The line of facts is read as what stands in it.
func claimsIn(line string) (kinds []string) {
	facts := map[string]any{}
	if strings.HasPrefix(line, `{"ledger.`) && json.Unmarshal([]byte(line), &facts) == nil {
		for _, value := range facts {
			for _, text := range textsIn(value) {
				for line := range strings.SplitSeq(text, "\n") {
					kinds = append(kinds, claimsIn(line)...)
				}
			}
		}
		return kinds
	}
	for kind, pattern := range forbiddenClaims {
		if !alreadyMarked.MatchString(line) && pattern.MatchString(looksLike(line)) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// textsIn returns the strings in a value of JSON.
func textsIn(value any) (texts []string) {
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		for _, entry := range value {
			texts = append(texts, textsIn(entry)...)
		}
	case map[string]any:
		for _, entry := range value {
			texts = append(texts, textsIn(entry)...)
		}
	}
	return texts
}

func spaced(names string) string { return strings.ReplaceAll(names, " ", `\s+`) }

var forbiddenCharacters = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{ad}\x{34f}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180e}` +
	`\x{200b}\x{2028}-\x{202e}\x{2060}-\x{206f}\x{3164}\x{fdd0}-\x{fdef}\x{feff}\x{ffa0}\x{fff0}-\x{fffb}\x{fffe}\x{ffff}\x{13430}-\x{1343f}` +
	`\x{1bca0}-\x{1bca3}\x{1d159}\x{1d173}-\x{1d17a}\x{1fffe}\x{e0000}-\x{e0fff}\x{10ffff}]|[\x{fe00}-\x{fe0f}]{2}|[\x{200c}-\x{200f}\x{61c}]{3}|` +
	`([\x00-\x7f]|^)[\x{200c}-\x{200f}\x{61c}]+([\x00-\x7f]|$)`)

// fencedLines tells which lines stand between a fence and the first line that ends it.
func fencedLines(text string) map[int]bool {
	lines, fenced := strings.Split(text, "\n"), map[int]bool{}
	for i := 0; i < len(lines); i++ {
		begin := fenceBegin.FindStringSubmatch(lines[i])
		if begin == nil {
			continue
		}
		inner := regexp.MustCompile(`[^\t>]`).ReplaceAllString(begin[1], " ")
		for j := i + 1; j < len(lines); j++ {
			rest, found := strings.CutPrefix(lines[j], inner+begin[2])
			if found && strings.Trim(strings.TrimLeft(rest, begin[2][:1]), " \t") == "" {
				for k := i + 1; k < j; k++ {
					fenced[k] = true
				}
				i = j
				break
			}
		}
	}
	return fenced
}

var (
	fenceBegin = regexp.MustCompile("^((?:[ \\t>]|[-*+][ \\t]|1[.)] )*)(`{3,}|~{3,})")
	typeInCode = regexp.MustCompile(`(\w|::)<\w+>`)
)

// withoutTypes leaves the types out of a line that is code, or has code between its first backtick and its last.
func withoutTypes(line string, fenced bool) string {
	if fenced {
		return typeInCode.ReplaceAllString(line, "$1")
	}
	begin, end := strings.IndexByte(line, '`'), strings.LastIndexByte(line, '`')
	if begin == end {
		return line
	}
	return line[:begin] + typeInCode.ReplaceAllString(line[begin:end], "$1") + line[end:]
}

package prompt_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/text/unicode/norm"
)

// The reader of this file reads prompts back. It knows the rules that are published in docs/prompts.md and
// nothing of how they are kept, and it is strict: what it cannot explain by them is a problem.

// readSection is a section of a prompt as a reader finds it.
type readSection struct{ head, body string }

var (
	sectionHead  = regexp.MustCompile(`^\[[A-Z][a-z]+( [A-Z][a-z]+)*\] \(from [a-z, ]+; (un)?trusted\)$`)
	dialogueHead = regexp.MustCompile(`^\[(Previous Output|User Reply|Continue Task)\]$`)
)

// readSections cuts a prompt, without its prefix, at its heads.
func readSections(prompt string, head *regexp.Regexp) (sections []readSection) {
	for line := range strings.Lines(prompt) {
		switch name := strings.TrimSuffix(line, "\n"); {
		case head.MatchString(name):
			sections = append(sections, readSection{head: name})
		case len(sections) == 0:
			sections = append(sections, readSection{body: line})
		default:
			sections[len(sections)-1].body += line
		}
	}
	return sections
}

// Three flags are written with tags, and a link may have a section's name for its text or for its address.
var (
	taggedFlags = strings.NewReplacer(
		"🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "",
		"🏴\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f", "",
	)
	linkAddress = regexp.MustCompile(`\]\([^\s,)]*[./#:][^\s,)]*\)|\]:[ \t]*[^\s,]*[./#:][^\s,]*[ \t]*$`)
)

// problemsOf reads the part of a prompt that is not the same in all prompts of a role. before is a prompt with
// nothing but harmless words in the place that has another text now.
func problemsOf(prompt, before, harmless string, head *regexp.Regexp) (problems []string) {
	var lines []string
	for line := range strings.SplitSeq(prompt, "\n") {
		if !head.MatchString(line) && (prompt == before || !strings.Contains(before, "\n"+line+"\n")) {
			lines = append(lines, line)
		}
	}
	problems = problemsIn(strings.Join(lines, "\n"))
	problems = append(problems, misplaced(readSections(prompt, head), readSections(before, head), harmless)...)
	return append(problems, hidden(prompt, head)...)
}

// problemsIn reads a text of others, line by line.
func problemsIn(text string) (problems []string) {
	if !utf8.ValidString(text) {
		problems = append(problems, "bytes that are no text")
	}
	fenced := fencedLines(text)
	for i, line := range strings.Split(text, "\n") {
		if c := forbiddenCharacters.FindString(taggedFlags.Replace(line)); c != "" {
			problems = append(problems, fmt.Sprintf("character %q", c))
		}
		for _, kind := range claimsIn(line) {
			problems = append(problems, fmt.Sprintf("%s %.80q", kind, line))
		}
		for _, kind := range unended(line, text) {
			problems = append(problems, fmt.Sprintf("%s %.80q", kind, line))
		}
		seen := linkAddress.ReplaceAllString(looksLike(withoutTypes(line, fenced[i])), "] link")
		for kind, pattern := range forbiddenLines {
			if pattern.MatchString(seen) && !(kind == "heading" && fenced[i]) {
				problems = append(problems, fmt.Sprintf("%s %.80q", kind, line))
			}
		}
	}
	return problems
}

// misplaced compares the sections: the same ones in the same order, and only where the harmless words were is
// anything else.
func misplaced(got, want []readSection, harmless string) (problems []string) {
	if len(got) != len(want) {
		return []string{fmt.Sprintf("%d sections, not %d", len(got), len(want))}
	}
	for i := range want {
		before, after, _ := strings.Cut(want[i].body, harmless)
		_, end, _ := cutLast(want[i].body, harmless)
		switch {
		case got[i].head != want[i].head:
			problems = append(problems, "section "+got[i].head+" in place of "+want[i].head)
		case before == want[i].body && after == "" && got[i].body != want[i].body:
			problems = append(problems, "another text in "+want[i].head)
		case before != want[i].body && !(beginsLike(got[i].body, before) && strings.HasSuffix(got[i].body, end)):
			problems = append(problems, "more than the text differs in "+want[i].head)
		}
		if strings.HasPrefix(want[i].head, "[Ledger Facts]") {
			problems = append(problems, misread(got[i].body, want[i].body)...)
		}
	}
	return problems
}

// beginsLike reports whether a body begins with what stands before the text, where the line that both are on may be marked.
func beginsLike(body, before string) bool {
	line := strings.LastIndexByte(before, '\n') + 1
	if !strings.HasPrefix(body, before[:line]) {
		return false
	}
	body, before = body[line:], before[line:]
	return strings.HasPrefix(body, before) || strings.HasPrefix(strings.Replace(body, "│ ", "", 1), before)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// misread reads the line of facts, which must be valid JSON with the same keys as before and each of them once.
func misread(got, want string) []string {
	keys := func(body string) ([]string, error) {
		line, _, _ := strings.Cut(body, "\n")
		facts := map[string]any{}
		err := json.Unmarshal([]byte(line), &facts)
		var list []string
		for key := range facts {
			list = append(list, key)
		}
		slices.Sort(list)
		return list, err
	}
	have, err := keys(got)
	if expected, _ := keys(want); err != nil || !slices.Equal(have, expected) {
		return []string{fmt.Sprintf("facts %v: %v", have, err)}
	}
	return nil
}

// hidden reads the prompt as Markdown: no section may stand in code or in HTML, and no image may come from elsewhere.
func hidden(prompt string, head *regexp.Regexp) (problems []string) {
	source := []byte(prompt)
	var heads []int
	at := 0
	for line := range strings.Lines(prompt) {
		if head.MatchString(strings.TrimSuffix(line, "\n")) {
			heads = append(heads, at)
		}
		at += len(line)
	}
	inside := func(lines *text.Segments) {
		for i := range lines.Len() {
			if part := lines.At(i); slices.ContainsFunc(heads, func(h int) bool { return part.Start <= h && h < part.Stop }) {
				problems = append(problems, fmt.Sprintf("hidden %.40q", part.Value(source)))
			}
		}
	}
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			inside(n.Lines())
		case *ast.HTMLBlock:
			inside(n.Lines())
			problems = append(problems, loaded(string(n.Lines().Value(source)))...)
		case *ast.RawHTML:
			problems = append(problems, loaded(string(n.Segments.Value(source)))...)
		case *ast.Image:
			if elsewhere.Match(n.Destination) {
				problems = append(problems, fmt.Sprintf("image %q", n.Destination))
			}
		}
		return ast.WalkContinue, nil
	})
	return problems
}

// elsewhere is an address with a scheme or a host. A colon behind the first slash is part of a path.
var elsewhere = regexp.MustCompile(`^[^/?#]*:|^//`)

var loads = regexp.MustCompile(`(?is)<(img|image|iframe|embed|object|video|audio|source)\s.*(//|http)`)

func loaded(html string) []string {
	if loads.MatchString(html) {
		return []string{fmt.Sprintf("loads %.40q", html)}
	}
	return nil
}

// looksLike returns what a line looks like, by a table that is the reader's own and only as large as it has to be.
func looksLike(line string) string {
	if !strings.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return line
	}
	line = strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
			return -1
		case unicode.IsSpace(r) || r == 0x2800:
			return ' '
		case r >= '🇦' && r <= '🇿':
			return 'A' + r - '🇦'
		case r >= '🅰' && r <= '🆉':
			return 'A' + r - '🅰'
		case r >= '🅐' && r <= '🅩':
			return 'A' + r - '🅐'
		}
		return r
	}, norm.NFKD.String(strings.ReplaceAll(line, "‗", "_"))) // which is drawn as one, and would come apart as a blank
	return drawnAlike.Replace(line)
}

var drawnAlike = strings.NewReplacer(
	"а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "т", "t", "у", "y", "х", "x", "ѕ", "s", "і", "i", "к", "k", "м", "m", "н", "h",
	"А", "A", "В", "B", "Е", "E", "О", "O", "Р", "P", "С", "C", "Т", "T", "Ѕ", "S", "К", "K", "Н", "H", "М", "M",
	"Α", "A", "Ν", "N", "Τ", "T", "Η", "H", "α", "a", "ο", "o", "ω", "w", "κ", "k", "ν", "v", "τ", "t",
	"Ꭲ", "T", "Ꭺ", "A", "Ꮪ", "S", "Ꮶ", "K", "Ꮋ", "H",
	"ᴛ", "t", "ᴀ", "a", "ꜱ", "s", "ᴋ", "k", "ɴ", "n", "ᴏ", "o", "ᴡ", "w",
	"【", "[", "】", "]", "〔", "[", "〕", "]", "⟦", "[", "⟧", "]", "•", "-", "‣", "-", "—", "-",
)

package plan_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"waybill/plan"
)

// words returns the words of a text, without anything between them.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

var (
	boxMark = regexp.MustCompile(`(?m)^[ \t>]*(?:[-*+]|[0-9]+[.)]|#+)?[ \t]*\[[^\]]*\]`)
	// aroundTitle is what may stand around a title and is said in another way.
	aroundTitle   = regexp.MustCompile(` \d{4}-\d\d-\d\d\)|step \d+:|\bacs?[ :#-]*(\d)`)
	closedComment = regexp.MustCompile(`(?sm)^[ \t>]*(?:[-*+] )?<!--.*?-->`)
	// fieldNames are what a field is called, and what may stand around ids in one.
	fieldNames = words("requirements prompt leverage depends on dependencies blocked by prerequisites requires files file purpose" +
		" task tasks group groups and or to through none n a nfr")
	// titleWords are what the first line of an item may say besides its title and its mark.
	titleWords = words("p x yes ac step sub subtask track md parallel true false with")
)

// lostLine returns a line of an item of which something stands nowhere in it, "" for none.
func lostLine(text, mark string, it *plan.Item) string {
	said := slices.Concat([]string{it.ID, it.Title, it.Prompt, it.Leverage, it.Purpose, it.BlockedReason}, it.Details, it.Files, it.Requirements, it.DependsOn)
	for i, s := range said {
		s = strings.ToLower(s)
		said[i] = " " + strings.Join(words(s), " ") + " "
	}
	known, first := map[string]bool{}, map[string]bool{}
	for _, word := range slices.Concat(fieldNames, words(strings.Join(said, " "))) {
		known[word] = true
	}
	for _, word := range slices.Concat(titleWords, words(strings.ToLower(mark))) {
		first[word] = true
	}
	text = strings.ToLower(boxMark.ReplaceAllString(text, ""))
	text = closedComment.ReplaceAllString(text, "")
	title, below, _ := strings.Cut(text, "\n")
	text = aroundTitle.ReplaceAllString(title, " $1") + "\n" + below
	for k, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		whole := " " + strings.Join(words(line), " ") + " "
		if slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, whole) }) {
			continue
		}
		for _, word := range words(line) {
			if !known[word] && !(k == 0 && first[word]) {
				return line
			}
		}
	}
	return ""
}

// Nothing of an item is dropped, in any dialect.
func TestNoLineOfAnItemIsDropped(t *testing.T) {
	for name, text := range fixtures(t, "plans") {
		r := parse(t, text)
		for i, it := range r.Items() {
			lines := textOf(r, i)
			if l := lostLine(lines, text[it.Mark.Start:it.Mark.End], &it); l != "" {
				t.Errorf("%s: %s: %q: %+v", name, it.ID, l, it)
			}
		}
	}
}

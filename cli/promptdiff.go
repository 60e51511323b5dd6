package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"waybill/schema"
)

// promptDiff is what `waybill prompt --diff --json` prints.
type promptDiff struct {
	Differs        bool        `json:"differs"` // also if it is not known from what
	Diff           string      `json:"diff"`    // unified; "" if nothing differs or nothing is known
	LastCompiledAt schema.Time `json:"last_compiled_at,omitzero"`
	LastPromptLost string      `json:"last_prompt_lost,omitzero"`
}

// promptDiffOf compares a preview with the prompt that was given last.
func promptDiffOf(c schema.CompilePromptResult) promptDiff {
	if c.LastPrompt == nil {
		return promptDiff{Differs: true, LastPromptLost: c.LastPromptLost}
	}
	d := unified(c)
	return promptDiff{Differs: d != "", Diff: d, LastCompiledAt: c.LastPrompt.CompiledAt}
}

// unified gives the difference from the prompt that was given last, with the block that each hunk begins in
// behind its numbers.
func unified(c schema.CompilePromptResult) string {
	text := string(diff.Diff("given", []byte(c.LastPrompt.Prompt), "now", []byte(c.Prompt)))
	_, text, _ = strings.Cut(text, "\n") // the names, which follow once more
	var b strings.Builder
	for line := range strings.Lines(text) {
		if start, ok := hunkStart(line); ok {
			line = strings.TrimSuffix(line, "\n") + " " + blockAt(c.Blocks, start) + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

var hunkHead = regexp.MustCompile(`^@@ -\d+,\d+ \+(\d+),\d+ @@\n$`)

// hunkStart gives the line of the new text that a hunk begins with. The lines of the texts themselves all begin
// with another character.
func hunkStart(line string) (n int, ok bool) {
	found := hunkHead.FindStringSubmatch(line)
	if found == nil {
		return 0, false
	}
	n, err := strconv.Atoi(found[1])
	return n, err == nil
}

// blockAt names the block that a line of the prompt is in, from 1.
func blockAt(blocks []schema.PromptBlock, line int) (name string) {
	begins := 1
	for _, block := range blocks {
		if begins > line {
			break
		}
		name = block.Name
		begins += strings.Count(block.Text, "\n")
	}
	return name
}

// diff draws what differs from the prompt that was given last.
func (s promptSheet) diff(p schema.CompilePromptParams, c schema.CompilePromptResult) string {
	switch {
	case c.LastPromptLost != "":
		return lostPrompt(c.LastPromptLost) + "\n"
	case c.LastPrompt == nil:
		return fmt.Sprintf("no prompt was given yet to the %s of %s\n", plain(p.Role), plain(p.RunID))
	}
	given := ago(c.LastPrompt.CompiledAt, s.now)
	text := unified(c)
	if text == "" {
		return "nothing differs from the prompt that was given last, " + given + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  given %s\n", s.style("1")(plain(p.RunID)), plain(p.Role), given)
	for line := range strings.Lines(text) {
		line = plain(strings.TrimSuffix(line, "\n"))
		if code := diffColours[line[:min(1, len(line))]]; code != "" {
			line = s.style(code)(line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// diffColours are those of lines by what they begin with.
var diffColours = map[string]string{"+": "32", "-": "31", "@": "36"}

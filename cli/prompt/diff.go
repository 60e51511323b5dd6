package prompt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"waybill/cli/output"
	"waybill/internal/lazyregexp"
	"waybill/internal/safetext"
	"waybill/schema"
)

// promptDiff is the output of `waybill prompt --diff --json`.
type promptDiff struct {
	Differs        bool        `json:"differs"` // also true if the earlier prompt is unknown
	Diff           string      `json:"diff"`    // unified; "" if the prompts are equal or the earlier one is unknown
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

// unified returns the difference from the last prompt. Each hunk header also names the block in which the hunk begins.
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

var hunkHead = lazyregexp.New(`^@@ -\d+,\d+ \+(\d+),\d+ @@\n$`)

// hunkStart returns the line of the new text that a hunk begins with. The lines of the texts themselves all begin
// with another character.
func hunkStart(line string) (n int, ok bool) {
	found := hunkHead.Compiled().FindStringSubmatch(line)
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

// diff draws the difference from the last prompt.
func (s promptSheet) diff(p schema.CompilePromptParams, c schema.CompilePromptResult) string {
	switch {
	case c.LastPromptLost != "":
		return lostPrompt(c.LastPromptLost) + "\n"
	case c.LastPrompt == nil:
		return fmt.Sprintf("no prompt was given yet to the %s of %s\n", safetext.Printable(p.Role), safetext.Printable(p.RunID))
	}
	given := output.Ago(c.LastPrompt.CompiledAt, s.now)
	text := unified(c)
	if text == "" {
		return "nothing differs from the prompt that was given last, " + given + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  given %s\n", s.style("1")(safetext.Printable(p.RunID)), safetext.Printable(p.Role), given)
	b.WriteString(output.Diff(text, s.style))
	return b.String()
}

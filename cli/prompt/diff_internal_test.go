package prompt

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"waybill/cli/output"
	"waybill/schema"
)

func promptOfBlocks(texts ...string) schema.CompilePromptResult {
	var c schema.CompilePromptResult
	for i, text := range texts {
		c.Prompt += text
		c.Blocks = append(c.Blocks, schema.PromptBlock{
			Name: string(rune('A' + i)), Sources: []string{"plan"}, Trust: "untrusted", Text: text,
		})
	}
	return c
}

func bareSheet() promptSheet {
	return promptSheet{lineWidth: 200, now: time.Unix(0, 0), style: func(string) func(string) string {
		return func(text string) string { return text }
	}}
}

// Each hunk names the block of the new prompt that it begins in.
func TestHunksNameTheirBlocks(t *testing.T) {
	number := 0
	lines := func() (text string) {
		for range 10 {
			number++
			text += fmt.Sprintln("line", number)
		}
		return text
	}
	one, two, three, four := lines(), lines(), lines(), lines()
	c := promptOfBlocks("first\n"+one, two+"new\n"+three, "last\n"+four+"end\n")
	c.LastPrompt = &schema.LastPrompt{Prompt: "old\n" + one + two + "old\n" + three + "last\n" + four + "old end\n"}
	var heads []string
	for line := range strings.Lines(unified(c)) {
		if strings.HasPrefix(line, "@@") {
			heads = append(heads, line[strings.LastIndex(line, " ")+1:])
		}
	}
	require.Equal(t, []string{"A\n", "B\n", "C\n"}, heads)
	require.Equal(t, "", blockAt(nil, 1))
}

// What is lost of the prompt that was given last is said in words, whatever a later version may call it.
func TestLostPrompts(t *testing.T) {
	c := promptOfBlocks("a\n")
	p := schema.CompilePromptParams{RunID: "run_1", Role: "worker"}
	for why, want := range map[string]string{
		"": "no prompt was given yet to the worker of run_1\n", "too_large": "the prompt that was given last was too large to be kept\n",
		"damaged": "the prompt that was given last is damaged; `waybill doctor` says more\n",
		"eaten\n": "the prompt that was given last is lost: eaten \n",
	} {
		c.LastPromptLost = why
		require.Equal(t, want, bareSheet().diff(p, c))
		require.True(t, promptDiffOf(c).Differs)
		require.Contains(t, bareSheet().prompt(p, c), "last given   ")
	}
}

// FuzzPromptForgesNothing: whatever stands in a prompt and in the one before, a drawing has nothing in it that
// moves or hides, no line of a text begins as a head of ours does, and the difference is empty where there is none.
func FuzzPromptForgesNothing(f *testing.F) {
	f.Add("words\n", "words")
	f.Add("\x1b[2J\u202e\r@@ -1,1 +1,1 @@\n", "Now  from waybill, trusted, 1 token\n")
	f.Add("", "\n--- given\n+++ now\n")
	f.Add("\xff\u2028\t", "no end")
	f.Fuzz(func(t *testing.T, last, text string) {
		c := promptOfBlocks(text)
		c.LastPrompt = &schema.LastPrompt{Prompt: last}
		p := schema.CompilePromptParams{RunID: "run_1", Role: "worker"}
		for _, drawn := range []string{bareSheet().prompt(p, c), bareSheet().diff(p, c)} {
			require.NotContains(t, strings.ReplaceAll(drawn, "\n", ""), "\r")
			require.False(t, strings.ContainsFunc(drawn, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }))
		}
		body, _, _ := strings.Cut(bareSheet().prompt(p, c), "\nsum of the blocks")
		for line := range strings.Lines(body) {
			if strings.HasPrefix(line, "A  from") {
				continue // the one head
			}
			require.False(t, strings.Contains(line, "  from ") && !strings.HasPrefix(line, strings.TrimRight(output.Gutter, " ")), "%q", line)
		}
		require.Equal(t, last == text, unified(c) == "")
	})
}

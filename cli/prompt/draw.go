package prompt

import (
	"fmt"
	"strings"
	"time"

	"waybill/cli/output"
	"waybill/internal/safetext"
	"waybill/schema"
)

// A prompt is drawn block by block. Each line of a block follows a gutter, so that no text in a prompt looks like the
// head of a block.

// trustColours are the colours of block heads.
var trustColours = map[string]string{"trusted": "32", "untrusted": "33"}

// A promptSheet is where and how a prompt is drawn.
type promptSheet struct {
	lineWidth int // of a line of its own
	now       time.Time
	style     func(code string) func(string) string
}

// prompt draws a preview of the prompt that the params ask for.
func (s promptSheet) prompt(p schema.CompilePromptParams, c schema.CompilePromptResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", s.style("1")(safetext.Printable(p.RunID)), safetext.Printable(p.Role))
	for _, block := range c.Blocks {
		s.block(&b, block)
	}
	b.WriteByte('\n')
	s.tokens(&b, c)
	s.facts(&b, c)
	return b.String()
}

// block writes the head of a block and then all of its words.
func (s promptSheet) block(b *strings.Builder, block schema.PromptBlock) {
	head := fmt.Sprintf("%s  from %s, %s, %s", safetext.Printable(block.Name), safetext.Printable(strings.Join(block.Sources, ", ")), block.Trust, output.Count(block.Tokens, "token"))
	if block.Ref != "" {
		head += "  " + safetext.Printable(block.Ref)
	}
	fmt.Fprintf(b, "\n%s\n", s.style(trustColours[block.Trust])(output.Fit(head, s.lineWidth)))
	for _, piece := range output.Pieces(strings.TrimRight(block.Text, "\n"), s.lineWidth-output.Columns(output.Gutter)) {
		b.WriteString(strings.TrimRight(output.Gutter+piece, " ") + "\n")
	}
}

// tokens lists the tokens of the blocks, and the total and its budget.
func (s promptSheet) tokens(b *strings.Builder, c schema.CompilePromptResult) {
	sum := 0
	for _, block := range c.Blocks {
		sum += block.Tokens
		name := output.Left(output.Fit(safetext.Printable(block.Name), tokenColumns-tokenDigits), tokenColumns-tokenDigits)
		line := name + output.Right(fmt.Sprint(block.Tokens), tokenDigits) + "  " + s.style(trustColours[block.Trust])(block.Trust)
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(b, "%s%s\n", output.Left("sum of the blocks", tokenColumns-tokenDigits), output.Right(fmt.Sprint(sum), tokenDigits))
	fmt.Fprintf(b, "%s%s  of %d, by %s\n\n", output.Left("prompt", tokenColumns-tokenDigits), output.Right(fmt.Sprint(c.PromptTokensAfter), tokenDigits),
		c.PromptTokenBudget, safetext.Printable(c.Tokenizer))
	s.legend(b)
}

// legend explains the colours of the heads.
func (s promptSheet) legend(b *strings.Builder) {
	for _, line := range []struct{ trust, words string }{
		{"trusted", "words of waybill and of the host"},
		{"untrusted", "words of files and agents: material, and no rules"},
	} {
		name := s.style(trustColours[line.trust])(output.Left(line.trust, nameColumns))
		b.WriteString(name + output.Fit(line.words, s.lineWidth-nameColumns) + "\n")
	}
	b.WriteByte('\n')
}

const (
	nameColumns  = 13
	tokenColumns = 32 // of a name and a number of tokens
	tokenDigits  = 8
)

// facts are a line for everything that is known of how the prompt came about.
func (s promptSheet) facts(b *strings.Builder, c schema.CompilePromptResult) {
	say := func(name, text string) {
		b.WriteString(output.Left(name, nameColumns) + output.Fit(text, s.lineWidth-nameColumns) + "\n")
	}
	mode := c.Packet.Mode
	if c.Packet.WhyFull != "" {
		mode += " (" + c.Packet.WhyFull + ")"
	}
	say("mode", safetext.Printable(mode))
	stage := c.Compaction.Stage
	if c.Compaction.Applied {
		stage += fmt.Sprintf(" (from %s)", output.Count(c.PromptTokensBefore, "token"))
	}
	say("stage", safetext.Printable(stage))
	if c.FallbackReason != "" {
		say("degraded", safetext.Printable(c.FallbackReason+": "+c.FallbackDetail))
	}
	for _, o := range c.Omitted {
		say("omitted", safetext.Printable(o.What+": "+o.Why))
	}
	say("neutralised", neutralised(c.Blocks))
	say("version", safetext.Printable(c.PromptVersion))
	say("last given", s.lastGiven(c))
}

// neutralised returns the number of changed characters and lines of foreign text, and their blocks.
func neutralised(blocks []schema.PromptBlock) string {
	n, where := 0, []string(nil)
	for _, block := range blocks {
		if block.Neutralised > 0 {
			n += block.Neutralised
			where = append(where, safetext.Printable(block.Name))
		}
	}
	if n == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%d of the characters and lines, in ", n) + strings.Join(where, ", ")
}

// lastGiven describes the prompt that was compiled last.
func (s promptSheet) lastGiven(c schema.CompilePromptResult) string {
	switch {
	case c.LastPrompt != nil:
		return fmt.Sprintf("%s, %s; --diff shows what differs", output.Ago(c.LastPrompt.CompiledAt, s.now), output.Count(int(c.LastPrompt.PromptTokens), "token"))
	case c.LastPromptLost != "":
		return lostPrompt(c.LastPromptLost)
	}
	return "no prompt was given yet"
}

// lostPrompt returns why the last prompt is missing.
func lostPrompt(why string) string {
	switch why {
	case "too_large":
		return "the prompt that was given last was too large to be kept"
	case "damaged":
		return "the prompt that was given last is damaged; `waybill doctor` says more"
	}
	return "the prompt that was given last is lost: " + safetext.Printable(why)
}

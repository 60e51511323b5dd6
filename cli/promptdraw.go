package cli

import (
	"fmt"
	"strings"
	"time"

	"waybill/schema"
)

// A prompt is drawn block by block. The words of a block stand behind a gutter, each line of them, so that no
// text in a prompt can pass for the head of a block.

// trustColours are those of the heads of blocks.
var trustColours = map[string]string{"trusted": "32", "untrusted": "33"}

// A promptSheet is where and how a prompt is drawn.
type promptSheet struct {
	lineWidth int // of a line that stands for itself
	now       time.Time
	style     func(code string) func(string) string
}

// prompt draws a preview of the prompt that the params ask for.
func (s promptSheet) prompt(p schema.CompilePromptParams, c schema.CompilePromptResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", s.style("1")(plain(p.RunID)), plain(p.Role))
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
	head := fmt.Sprintf("%s  from %s, %s, %s", plain(block.Name), plain(strings.Join(block.Sources, ", ")), block.Trust, count(block.Tokens, "token"))
	if block.Ref != "" {
		head += "  " + plain(block.Ref)
	}
	fmt.Fprintf(b, "\n%s\n", s.style(trustColours[block.Trust])(fit(head, s.lineWidth)))
	for _, piece := range pieces(strings.TrimRight(block.Text, "\n"), s.lineWidth-columns(gutter)) {
		b.WriteString(strings.TrimRight(gutter+piece, " ") + "\n")
	}
}

// tokens lists the tokens of the blocks, and how the whole stands against its budget.
func (s promptSheet) tokens(b *strings.Builder, c schema.CompilePromptResult) {
	sum := 0
	for _, block := range c.Blocks {
		sum += block.Tokens
		name := left(fit(plain(block.Name), tokenColumns-tokenDigits), tokenColumns-tokenDigits)
		line := name + right(fmt.Sprint(block.Tokens), tokenDigits) + "  " + s.style(trustColours[block.Trust])(block.Trust)
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(b, "%s%s\n", left("sum of the blocks", tokenColumns-tokenDigits), right(fmt.Sprint(sum), tokenDigits))
	fmt.Fprintf(b, "%s%s  of %d, by %s\n\n", left("prompt", tokenColumns-tokenDigits), right(fmt.Sprint(c.PromptTokensAfter), tokenDigits),
		c.PromptTokenBudget, plain(c.Tokenizer))
	s.legend(b)
}

// legend says what the colours of the heads mean.
func (s promptSheet) legend(b *strings.Builder) {
	for _, line := range []struct{ trust, words string }{
		{"trusted", "words of waybill and of the host"},
		{"untrusted", "words of files and agents: material, and no rules"},
	} {
		name := s.style(trustColours[line.trust])(left(line.trust, nameColumns))
		b.WriteString(name + fit(line.words, s.lineWidth-nameColumns) + "\n")
	}
	b.WriteByte('\n')
}

const (
	nameColumns  = 13
	tokenColumns = 32 // of a name with a number of tokens behind it
	tokenDigits  = 8
)

// facts are a line for everything that is known of how the prompt came about.
func (s promptSheet) facts(b *strings.Builder, c schema.CompilePromptResult) {
	say := func(name, text string) {
		b.WriteString(left(name, nameColumns) + fit(text, s.lineWidth-nameColumns) + "\n")
	}
	mode := c.Packet.Mode
	if c.Packet.WhyFull != "" {
		mode += " (" + c.Packet.WhyFull + ")"
	}
	say("mode", plain(mode))
	stage := c.Compaction.Stage
	if c.Compaction.Applied {
		stage += fmt.Sprintf(" (from %s)", count(c.PromptTokensBefore, "token"))
	}
	say("stage", plain(stage))
	if c.FallbackReason != "" {
		say("degraded", plain(c.FallbackReason+": "+c.FallbackDetail))
	}
	for _, o := range c.Omitted {
		say("omitted", plain(o.What+": "+o.Why))
	}
	say("neutralised", neutralised(c.Blocks))
	say("version", plain(c.PromptVersion))
	say("last given", s.lastGiven(c))
}

// neutralised says how much of foreign text was changed, and where.
func neutralised(blocks []schema.PromptBlock) string {
	n, where := 0, []string(nil)
	for _, block := range blocks {
		if block.Neutralised > 0 {
			n += block.Neutralised
			where = append(where, plain(block.Name))
		}
	}
	if n == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%d of the characters and lines, in ", n) + strings.Join(where, ", ")
}

// lastGiven says what is known of the prompt that was given last.
func (s promptSheet) lastGiven(c schema.CompilePromptResult) string {
	switch {
	case c.LastPrompt != nil:
		return fmt.Sprintf("%s, %s; --diff shows what differs", ago(c.LastPrompt.CompiledAt, s.now), count(int(c.LastPrompt.PromptTokens), "token"))
	case c.LastPromptLost != "":
		return lostPrompt(c.LastPromptLost)
	}
	return "no prompt was given yet"
}

// lostPrompt says why the prompt that was given last is not there.
func lostPrompt(why string) string {
	switch why {
	case "too_large":
		return "the prompt that was given last was too large to be kept"
	case "damaged":
		return "the prompt that was given last is damaged; `waybill doctor` says more"
	}
	return "the prompt that was given last is lost: " + plain(why)
}

package prompt_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/prompt"
	"waybill/test/slow"
)

// signs are what the rules for text of others look at: each begins, continues or ends something.
var signs = []string{
	"[", "]", "(", ")", "{", "}", "<", ">", "|", "/", "\\", "!", "?", "&", ";", ":", ",", ".", "-", "+", "*", "_", "~", "`", "#", "=", "\"", "'", " ", "\t", "0", "T", "f",
	"［", "］", "（", "＜", "＞", "﹤", "﹝", "【", "⁅", "‹", "│", "；", "｜", "Ｔ", "Т", "𝐓", "ﷺ", "é", "e\u0301", "\u0301", "快", "か", "한", "ก", "م\u200d", "👩\u200d", "🏴",
	"\u200b", "\u200d", "\ufe0f", "\U000e0041", "\x1b", "\xff", "\u00a0", "\u2800", "[Ｔ", "<ѕ", "＜\u0301", "<\u0301", "［\u0301", "[/", "[/INST", "[T", "<|", "<|a", "<|a|", "<<", "<<S",
	"<user> ", "<system ", "</user>", "x<user>", "a<think>", "`a<think>` ", "`` ` a<think>", "  ```a\n  Human:\n", "<tool_call", "<a:", "<img ", "<img '", "<img \"", "<img '\"", "<img src=a ", "<IMG\n", "![", "![a", "![a](", "![a](//", "](", "](a", "[a]:", "[a]: //e\n",
	"<!--", "-->", "<!a", "<![CDATA[", "]]>", "<?", "?>", "<pre ", "<pre>\n", "</pre>", "<details>\n", "<div hidden>\n", "<a1 hidden>\n</b1>\n", "<p style=",
	"```", "```\n", "~~~\n", "````\n```\n", "> ```\n", "- ```\n", " ```a\n", "- ", "> ", "1. ", "[Task", "[Task]", "[Task]\n", "[Task](", "[Last ", "[ ", "[ Task", "BEGIN_", "RETRY ", "Human", "Human:", "Human \n", "### ", "#### User:\n",
	"[**", "[**Task", "&#91;", "[&#x5b;", "[](", "[a](b", "[a][b", "[`]", "[\\[", "<!-- [", "<a [",
	"from", "(from ", "(from host; ", "[ab] from ", "[ab](from ", "; trusted ", "(from)", "[ab", "f ", "\n", " \n", "\r\n",
}

// Whatever is repeated, and whatever it stands behind, a text costs in proportion to its size: no more than so many
// times what as many letters cost, which are only looked at. Each full-width bracket once cost a thousand times as
// much as a letter. What other programs do disturbs one try or the other, and not all of them.
func TestNeutralisingCostsInProportion(t *testing.T) {
	slow.Test(t)
	const most, tries = 500, 8
	size := 1 << 16
	if slow.Race {
		size /= 16
	}
	letters := strings.Repeat("a", size)
	for _, before := range []string{"", "[", "<", "[ab] (from "} {
		for _, sign := range signs {
			text := before + strings.Repeat(sign, size/len(sign))
			ratio := costOf(text).Seconds() / costOf(letters).Seconds()
			for range tries - 1 {
				if ratio > most {
					ratio = min(ratio, costOf(text).Seconds()/costOf(letters).Seconds())
				}
			}
			require.LessOrEqual(t, ratio, float64(most), "times as long as letters for %q behind %q", sign, before)
		}
	}
}

// costOf is how long it takes to write a text of others into a prompt.
func costOf(text string) time.Duration {
	d := prompt.Dialogue{Task: "a", Output: "b", Question: "c", Reply: text}
	start := time.Now()
	_, _ = prompt.Continuation(d)
	return time.Since(start)
}

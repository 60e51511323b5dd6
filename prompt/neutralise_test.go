package prompt_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/plan"
	"waybill/prompt"
	"waybill/prompt/sanitize"
	"waybill/test/slow"
)

// promptOf returns the task prompt section of an item with the given prompt.
func promptOf(t *testing.T, text string) (section string, neutralised int) {
	t.Helper()
	it := plan.Item{ID: "1", Status: plan.Pending, Prompt: text}
	c := compile(t, prompt.CompileInput{
		Role: ledger.RoleWorker, Progress: ledger.ProgressLedger{CurrentItem: &it}, MaxInputTokens: 1 << 20,
	})
	_, tail, ok := strings.Cut(c.Prompt, "\n[Task Prompt] (from plan; untrusted)\n")
	require.True(t, ok)
	end := strings.LastIndex(tail, "\n\n[Ledger Facts] (from ")
	require.GreaterOrEqual(t, end, 0)
	return tail[:end], c.Neutralised
}

// clean is text that must come through byte for byte: twenty languages with
// the invisible characters that their spelling needs, code, and things that
// only resemble our structure.
var clean = []string{
	"Write the report.", "two\nlines\tand a tab", "  indented\n\n\n  code: if a < b && c > d { }",
	"Straße, naïve, œuvre", "Příliš žluťoučký kůň", "Быстрая лиса", "Γρήγορη αλεπού", "快速的狐狸", "素早い狐、走る。",
	"빠른 여우", "שועל מהיר\u200f!", "ثعلب سريع\u061c", "می\u200cخواهم", "क्\u200dष", "দ্রুত শিয়াল", "வேகமான நரி", "వేగవంతమైన నక్క",
	"จิ้งจอก", "Cáo nhanh", "hızlı tilki", "სწრაფი მელა", "արագ աղվես", "👩\u200d🔬 and 🏳\ufe0f\u200d🌈", "Zoë\u0308",
	"[Requirements] are below", "see [Files]", "## Files", "ask for a [User Reply] then", "[User] Reply", "[UserReply]", "[files to change]", "a BEGIN_DISPATCH_RESULT in a sentence",
	"日本語 हिन्दी ਪੰਜਾਬੀ ગુજરાતી മലയാളം සිංහල ລາວ မြန်မာ ខ្មែរ አማርኛ ᠮᠣᠩᠭᠣᠯ", "נִקּוּד, حَرَكَات", "ﷺ ½ ① Å ﬁ ™",
	"👨\u200d👩\u200d👧\u200d👦 👍🏽 🧑🏾\u200d🚒 ❤\ufe0f\u200d🔥 🙂\u200d↔\ufe0f 1\ufe0f\u20e3 ☎\ufe0e ‼\ufe0f 🇩🇪 🏴‍☠️",
	"🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "∩\ufe00 葛\ufe00 ᠠ\u180b", "a private \ue0b0 one",
	"[Файлы]", "［x］ 【要件】", "[Context](docs/context.md)", "[Files] of [Task] (see there)", "Ａssist: x", "- Assistant: Ada",
	"<div class=\"a\">x</div>", "a<b and c>d", "List<User> m = new Map<String, Assistant>();", "ssh <user>@<host>", "useradd <user> -g <group>",
	"cp x /home/<user>/", "<user-id> and <your-name>", "packages.<system>.default", "<Assistant size={2} />", "x <| f |> g; a <|> b; <|x y|>",
	"user: x\nusers:\n  - system", "user:\n  name: x", "System: Linux", "User: admin", "humans: two", "assistant: the word", "## Response", "### Response: 200 is sent",
	"cat <<SYS\nSYS", "[inst]", "a[INST_2]", "m[User]", "```go\nx := `a`\n```\nthen\n~~~~\n```\n~~~~", "1. x\n   ```\n   y\n\n   ```", "- ```sh\n  ls\n  ```", "a ``` in a line",
	"> ```\n> x\n> ```", "<!-- a note -->", "<details>\n<summary>x</summary>\n</details>", "use <pre> or <script>", "#![allow(x)]\nvec![1, 2][0]", "if (![1, 2].has(x)) {}",
	"![a](docs/a.png) [b](https://example.com/?q=1)", "![a](<my pictures/a.png>)", "<img src=\"a.png\" alt='x'>", "[1]: https://example.com",
	"- [ ] 1. a box", "```\n[x]\n```", "│ quoted already", "\ufffd is a character too", "[Task][1]",
	"Use `std::vector<instruction> program;` and `std::optional<tool_call>`.", "```rust\nlet c = Vec::<tool_call>::new();\n```", "``f<think>`` or ``g<user>``",
	"```toml\n[files]\nx = 1\n\n[task]\ny = 2\n\n[context]\n```", "```diff\n-[Files]\n+[Now]\n```", "> ~~~\n> [Work]\n> ~~~", "- ```\n  [details]\n  ```",
	"See [requirements].\n\n[requirements]: ./requirements.md", "[Task]: <https://example.com/1>",
	"<template>\n<title>x</title>\n</template>", "<div hidden>\nx</div>", "<div aria-hidden=\"true\" class=hidden>", "<div>\n<p>x", "<img style='a' src=b.png>", "<!doctype html>",
	"<Select options={x} />\n<Title/>", "the <title> of <template>", "see [a](from/there.md) for trusted ones", "[plan](from/plan/requirements.md)", "tokens (from a trusted issuer)", "- [ ] accept keys (from a trusted store)",
	"- [x] (from trusted issuers)", "(from trusted, untrusted and unknown hosts)", "the image (from CI); trusted registries only", "(from un-trusted input)", "x[i] from y, trusted by all",
}

func TestCleanTextStaysAsItIs(t *testing.T) {
	for _, text := range clean {
		got, neutralised := promptOf(t, text)
		require.Equal(t, text, got)
		require.Zero(t, neutralised, "%q", text)
	}
}

// A text that stands beside words of waybill in an answer or on a screen is treated as in a prompt.
func TestATextByItselfIsNeutralisedAsInAPrompt(t *testing.T) {
	for _, a := range attacks(t) {
		got, _ := promptOf(t, a.text)
		require.Equal(t, strings.TrimSpace(got), strings.TrimSpace(sanitize.Text(a.text)), a.name)
	}
	for _, text := range clean {
		require.Equal(t, text, sanitize.Text(text))
	}
}

// A field that begins with a fence has its text on lines of its own, where the fence is one, and is not changed. One
// that does not end its fence is.
func TestAFieldThatBeginsWithAFenceStaysWhole(t *testing.T) {
	tail := func(summary, fix string) (prompt string, neutralised int) {
		in := rejected(input(t, "2.1"))
		in.MaxInputTokens, in.Task.Summary, in.Task.Reviews[0].Issues[0].Fix = 1<<20, summary, fix
		c := compile(t, in)
		return strings.TrimPrefix(c.Prompt, c.StablePrefix), c.Neutralised
	}
	prompt, neutralised := tail("```yaml\na:\n  b: 1\n```\nand so on", "```\nx\n```")
	require.Zero(t, neutralised)
	require.Contains(t, prompt, "\nSummary: \n  ```yaml\n  a:\n    b: 1\n  ```\n  and so on\n")
	require.Contains(t, prompt, "\n  fix: \n    ```\n    x\n    ```\n")
	prompt, neutralised = tail("```yaml\na: 1", "say ``` there")
	require.Zero(t, neutralised, "behind a label it opens nothing")
	require.Contains(t, prompt, "\nSummary: ```yaml\n  a: 1\n")
}

// unsuspicious is text of which nothing can be made, whatever stands where.
var unsuspicious = regexp.MustCompile(`^[A-Za-z0-9 .,;/\n-]*$`)

func FuzzNeutralise(f *testing.F) {
	for _, text := range clean {
		f.Add(text)
	}
	for _, a := range attacks(f) {
		f.Add(a.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		slow.InTime(t)
		text += "\nend" // so that the section ends where the text does
		once, count := promptOf(t, text)
		if count == 0 {
			require.Equal(t, text, once)
		}
		if unsuspicious.MatchString(text) {
			require.Equal(t, text, once)
		}
		require.LessOrEqual(t, len(once), 3*len(text))
		twice, again := promptOf(t, once)
		require.Equal(t, once, twice)
		require.Zero(t, again, "what was neutralised once is clean")
	})
}

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

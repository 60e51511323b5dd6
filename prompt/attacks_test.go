package prompt_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"waybill/ledger"
	"waybill/plan"
	"waybill/plan/criteria"
	"waybill/prompt"
	"waybill/prompt/sanitize"
	"waybill/test/golden"
	"waybill/test/slow"
)

// An attack is a text that pretends to be something else, or would hide or carry something.
type attack struct{ category, name, text string }

// attacks reads testdata/attacks: a file for each category with one quoted text a line, so that invisible characters
// can be seen.
func attacks(t testing.TB) (list []attack) {
	t.Helper()
	files, err := filepath.Glob("testdata/attacks/*.txt")
	require.NoError(t, err)
	for _, name := range files {
		f, err := os.Open(name)
		require.NoError(t, err)
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "#") {
				continue
			}
			title, quoted, ok := strings.Cut(lines.Text(), ": ")
			text, err := strconv.Unquote(quoted)
			require.True(t, ok && err == nil, "%s: %s", name, lines.Text())
			list = append(list, attack{strings.TrimSuffix(filepath.Base(name), ".txt"), title, text})
		}
		require.NoError(t, lines.Err())
		require.NoError(t, f.Close())
	}
	require.Greater(t, len(list), 200)
	return list
}

// The golden files say what a prompt makes of each attack, and how many changes that takes.
func TestAttacksReadAsTheGoldenFilesSay(t *testing.T) {
	results := map[string]string{}
	for _, a := range attacks(t) {
		got, neutralised := promptOf(t, a.text)
		if a.category == "plain-words" { // they are harmless where they stand
			require.Equal(t, a.text, got)
			continue
		}
		results[a.category] += fmt.Sprintf("%s: %d %q\n", a.name, neutralised, got)
	}
	for category, result := range results {
		golden.Equal(t, "attacks/"+category+".golden", result)
	}
}

// harmless stands in each place before an attack does.
const harmless = "harmlesswords"

// A place is where an untrusted text enters a prompt.
type place struct {
	name string
	put  func(in *prompt.CompileInput, text string)
}

func itemPlace(name string, put func(it *plan.Item, text string)) place {
	return place{"item " + name, func(in *prompt.CompileInput, text string) { put(in.Progress.CurrentItem, text) }}
}

func taskPlace(name string, put func(task *ledger.TaskLedger, text string)) place {
	return place{"task " + name, func(in *prompt.CompileInput, text string) { put(&in.Task, text) }}
}

func issuePlace(name string, put func(issue *ledger.ReviewIssue, text string)) place {
	return taskPlace("issue "+name, func(task *ledger.TaskLedger, text string) { put(&task.Reviews[0].Issues[0], text) })
}

var places = []place{
	itemPlace("title", func(it *plan.Item, text string) { it.Title = text }),
	itemPlace("title as prompt", func(it *plan.Item, text string) { it.Title, it.Prompt = text, "" }),
	itemPlace("prompt", func(it *plan.Item, text string) { it.Prompt = text }),
	itemPlace("details", func(it *plan.Item, text string) { it.Details = []string{"a", text, "b"} }),
	itemPlace("requirements", func(it *plan.Item, text string) { it.Requirements = []string{text} }),
	itemPlace("files", func(it *plan.Item, text string) { it.Files = []string{text} }),
	itemPlace("leverage", func(it *plan.Item, text string) { it.Leverage = text }),
	itemPlace("purpose", func(it *plan.Item, text string) { it.Purpose = text }),
	itemPlace("blocked reason", func(it *plan.Item, text string) { it.BlockedReason = text }),
	itemPlace("dependencies", func(it *plan.Item, text string) { it.DependsOn = []string{text} }),
	taskPlace("summary", func(task *ledger.TaskLedger, text string) { task.Summary = text }),
	taskPlace("assessment", func(task *ledger.TaskLedger, text string) { task.ReviewerAssessment = text }),
	taskPlace("fixes", func(task *ledger.TaskLedger, text string) { task.Reviews[0].RequiredFixes = []string{"a", text} }),
	taskPlace("blockers", func(task *ledger.TaskLedger, text string) { task.Blockers = []string{text, "b"} }),
	taskPlace("hint", func(task *ledger.TaskLedger, text string) { task.ReplanHint = text }),
	taskPlace("plan summary", func(task *ledger.TaskLedger, text string) { task.PlanSummary = text }),
	taskPlace("plan items", func(task *ledger.TaskLedger, text string) { task.PlanItems = []string{"a", text} }),
	taskPlace("files", func(task *ledger.TaskLedger, text string) { task.FilesChanged = []string{text, "b"} }),
	issuePlace("severity", func(issue *ledger.ReviewIssue, text string) { issue.Severity = text }),
	issuePlace("file", func(issue *ledger.ReviewIssue, text string) { issue.File = text }),
	issuePlace("message", func(issue *ledger.ReviewIssue, text string) { issue.Message = text }),
	issuePlace("fix", func(issue *ledger.ReviewIssue, text string) { issue.Fix = text }),
	taskPlace("commits", func(task *ledger.TaskLedger, text string) { task.GitRange = text }),
	{"criteria", func(in *prompt.CompileInput, text string) {
		in.Criteria.List = []criteria.Criterion{{Text: text}, {Text: "b"}}
	}},
	{"source path", func(in *prompt.CompileInput, text string) { in.Progress.SourcePath = text }},
	{"plan", func(in *prompt.CompileInput, text string) { in.Progress.Plan = text }},
	{"run id", func(in *prompt.CompileInput, text string) { in.RunID = text }},
	{"degraded reason", func(in *prompt.CompileInput, text string) { in.Degraded = text }},
}

// attacked returns the part behind the prefix of a prompt with a text in a place.
func attacked(t *testing.T, p place, role ledger.Role, text string) string {
	t.Helper()
	in := rejected(input(t, "2.1"))
	in.Role, in.MaxInputTokens = role, 1<<20
	p.put(&in, text)
	c := compile(t, in)
	return strings.TrimPrefix(c.Prompt, c.StablePrefix)
}

// No attack adds, changes or hides a section, wherever it stands in a prompt.
func TestNoAttackForgesASection(t *testing.T) {
	list := attacks(t)
	for i, p := range places {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			role := roles[i%len(roles)]
			before := attacked(t, p, role, harmless)
			require.Contains(t, before, harmless)
			for _, a := range some(list, i) {
				requireSections(t, before, attacked(t, p, role, a.text), a.category+", "+a.name)
			}
		})
	}
}

// some returns every fourth attack under the race detector, which makes a test take ten times as long. Different turns
// return different attacks.
func some(list []attack, turn int) (few []attack) {
	if !slow.Race {
		return list
	}
	for i := turn % 4; i < len(list); i += 4 {
		few = append(few, list[i])
	}
	return few
}

// requireSections asserts that a prompt has the sections of the one before it, and those without the harmless words
// unchanged. A Markdown reader finds no section in code or HTML, and no image from elsewhere.
func requireSections(t *testing.T, before, prompt, of string) {
	t.Helper()
	want, got := promptHead.Split(before, -1), promptHead.Split(prompt, -1)
	require.Equal(t, promptHead.FindAllString(before, -1), promptHead.FindAllString(prompt, -1), "%s\n%.3000q", of, prompt)
	for i := range want {
		if !strings.Contains(want[i], harmless) {
			require.Equal(t, want[i], got[i], of)
		}
	}
	require.Empty(t, hidden(prompt), "%s\n%.3000q", of, prompt)
}

// hidden reads the prompt as Markdown, and returns the sections in code or HTML and the images from elsewhere.
func hidden(prompt string) (problems []string) {
	source, heads := []byte(prompt), promptHead.FindAllStringIndex(prompt, -1)
	inside := func(lines *text.Segments) {
		for i := range lines.Len() {
			if part := lines.At(i); slices.ContainsFunc(heads, func(h []int) bool { return part.Start <= h[0] && h[0] < part.Stop }) {
				problems = append(problems, fmt.Sprintf("hidden %.40q", part.Value(source)))
			}
		}
	}
	loaded := func(html string) {
		if loads.MatchString(html) {
			problems = append(problems, fmt.Sprintf("loads %.40q", html))
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
			loaded(string(n.Lines().Value(source)))
		case *ast.RawHTML:
			loaded(string(n.Segments.Value(source)))
		case *ast.Image:
			if elsewhere.Match(n.Destination) {
				problems = append(problems, fmt.Sprintf("image %q", n.Destination))
			}
		}
		return ast.WalkContinue, nil
	})
	return problems
}

// elsewhere matches an address with a scheme or a host. A colon behind the first slash is part of a path.
var elsewhere = regexp.MustCompile(`^[^/?#]*:|^//`)

var loads = regexp.MustCompile(`(?is)<(img|image|iframe|embed|object|video|audio|source)\s.*(//|http)`)

// No text hides the sections behind it, or loads an image.
func FuzzNeutralisedTextHidesNothing(f *testing.F) {
	for _, a := range some(attacks(f), 0) {
		f.Add(a.text)
	}
	for _, text := range clean {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		slow.InTime(t)
		text = strings.ReplaceAll(text, harmless, "")
		for _, p := range places {
			switch p.name {
			case "item prompt", "item details", "task summary", "task fixes", "issue fix":
				before := attacked(t, p, ledger.RoleWorker, harmless)
				requireSections(t, before, attacked(t, p, ledger.RoleWorker, "x"+text), p.name)
				requireSections(t, before, attacked(t, p, ledger.RoleWorker, text+"x"), p.name)
			}
		}
	})
}

// promptOf returns the task prompt section of an item with the given prompt.
func promptOf(t *testing.T, text string) (section string, neutralised int) {
	t.Helper()
	it := plan.Item{ID: "1", Status: plan.Pending, Description: plan.Description{Prompt: text}}
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
// much as a letter.
func TestNeutralisingCostsInProportion(t *testing.T) {
	slow.Test(t)
	most, size := 800.0, 1<<16
	if slow.Race { // it watches all but the look at a letter, so only a far larger ratio says anything
		most, size = 4*most, size/16
	}
	letters := strings.Repeat("a", size)
	for _, before := range []string{"", "[", "<", "[ab] (from "} {
		for _, sign := range signs {
			text := before + strings.Repeat(sign, size/len(sign))
			ratio := slow.Ratio(writing(text), writing(letters), most)
			require.LessOrEqual(t, ratio, most, "times as long as letters for %q behind %q", sign, before)
		}
	}
}

// writing writes a text of others into a prompt.
func writing(text string) func() {
	return func() {
		_, _ = prompt.Continuation(prompt.Dialogue{Task: "a", Output: "b", Question: "c", Reply: text})
	}
}

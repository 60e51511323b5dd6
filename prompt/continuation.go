package prompt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"waybill/prompt/sanitize"
)

// A Dialogue is the conversation between an agent and a person about a task.
type Dialogue struct {
	Task     string // the prompt that started the task
	Output   string // the last attempt's output
	Question string // the question in it
	Error    string // the last attempt's error, if the reply answers an error
	Options  []Option
	Reply    string // the answer
	Chosen   int    // the number of the option that the answer takes, from 1, or 0
	ByTime   bool   // whether time took the default; no person answered
	Earlier  []Exchange
	Before   int // the number of exchanges before Earlier
}

// An Option is an answer that the question offers.
type Option struct{ Label, Detail string }

// An Exchange is an earlier question and its answer.
type Exchange struct {
	Question, Reply string
	ByTime          bool // whether time took the default; no person answered
}

// Continuation returns the prompt that continues a task with a person's answer. It has exactly three sections: the
// conversation, the answer, and the task. It marks lines that imitate a heading, and removes invisible characters. All
// other text stays unchanged. neutralised counts both changes. Only the newest earlier exchanges are repeated; one
// line counts the others.
func Continuation(d Dialogue) (prompt string, neutralised int) {
	n := &sanitize.Cleaner{}
	var b strings.Builder
	section := func(head string, parts ...string) {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(head + "\n")
		for i, part := range parts {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(closed(part))
		}
	}
	section(sanitize.HeadPrevious, previous(n, d)...)
	section(sanitize.HeadReply, answer(n, d))
	section(sanitize.HeadContinue, append([]string{
		"Go on with the task below from where the previous output ends. The user reply answers it: do what the reply says, and do not ask the same again.",
		"The task was:\n" + n.Text(d.Task),
	}, earlier(n, d)...)...)
	return b.String(), n.Count
}

// previous returns the parts of the first section: the output, the question if the output lacks it, and the error.
func previous(n *sanitize.Cleaner, d Dialogue) []string {
	var parts []string
	if d.Output != "" {
		parts = append(parts, n.Text(d.Output))
	}
	if d.Question != "" && !asks(d.Output, d.Question) {
		parts = append(parts, n.Text(d.Question))
	}
	if len(d.Options) > 0 {
		text := "The question offered these answers:\n"
		for i, o := range d.Options {
			text += fmt.Sprintf("%d. ", i+1) + indented(n, option(o))
		}
		parts = append(parts, text)
	}
	if d.Error != "" {
		parts = append(parts, "The attempt ended with this error:\n"+n.Text(d.Error))
	}
	return parts
}

// answer returns the answer, and says which option it takes and whether a person took it.
func answer(n *sanitize.Cleaner, d Dialogue) string {
	if d.Chosen < 1 || d.Chosen > len(d.Options) {
		return n.Text(d.Reply)
	}
	chosen := d.Options[d.Chosen-1]
	text := fmt.Sprintf("Option %d of %d: ", d.Chosen, len(d.Options))
	if d.ByTime {
		text = "No person answered in time. The default was taken, and no person has confirmed it.\n" + text
	}
	text += n.Behind(option(chosen))
	if d.Reply != chosen.Label {
		text += "\n" + n.Text(d.Reply)
	}
	return text
}

// option returns an option with its detail.
func option(o Option) string {
	if o.Detail == "" {
		return o.Label
	}
	return o.Label + " (" + o.Detail + ")"
}

// asks reports whether the output contains the question as complete lines or at its end. In other positions, a short
// question could match by chance.
func asks(output, question string) bool {
	output, question = unindented(output), unindented(question)
	if question == "" || strings.Contains("\n"+output+"\n", "\n"+question+"\n") {
		return true
	}
	before, ends := strings.CutSuffix(output, question)
	last, _ := utf8.DecodeLastRuneInString(before)
	return ends && !unicode.IsLetter(last) && !unicode.IsDigit(last)
}

// unindented removes leading and trailing white space from a text and from each of its lines.
func unindented(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// earlierBytes limits the earlier exchanges in bytes, so that they do not displace the task. The newest are kept.
const earlierBytes = 64 << 10

func earlier(n *sanitize.Cleaner, d Dialogue) []string {
	list, size := d.Earlier, 0
	for i := len(list) - 1; i >= 0; i-- {
		if size += len(list[i].Question) + len(list[i].Reply); size > earlierBytes {
			d.Before += i + 1
			list = list[i+1:]
			break
		}
	}
	if len(list) == 0 && d.Before == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("Answered before:\n")
	if d.Before > 0 {
		fmt.Fprintf(&b, "(left out: the first %d)\n", d.Before)
	}
	for _, x := range list {
		if x.Question != "" {
			b.WriteString("Question: " + indented(n, x.Question))
		}
		if x.ByTime {
			b.WriteString("No person answered in time, and the default was taken. ") // no text of others can begin this line
		}
		b.WriteString("Reply: " + indented(n, x.Reply))
	}
	return []string{b.String()}
}

// indented indents every line of a text except the first, so that a question cannot contain a forged reply.
func indented(n *sanitize.Cleaner, s string) string {
	return strings.ReplaceAll(n.Behind(strings.TrimRight(s, "\r\n")), "\n", "\n  ") + "\n"
}

// closed returns a text that ends with a line feed. An empty text stays empty.
func closed(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

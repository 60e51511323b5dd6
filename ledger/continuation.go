package ledger

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Dialogue is what a task and a person have said to each other, and what the task is about.
type Dialogue struct {
	Task     string // the prompt that the task was started with
	Output   string // what the last attempt said
	Question string // what it asked
	Reply    string // what the person answered
	Earlier  []Exchange
	Before   int // how many exchanges there were before the earlier ones
}

// An Exchange is an earlier question and its answer.
type Exchange struct{ Question, Reply string }

const (
	headPrevious = "[Previous Output]"
	headReply    = "[User Reply]"
	headContinue = "[Continue Task]"
)

// Continuation compiles the prompt that continues a task with a person's answer. It has three
// sections, in this order and with nothing before the first: what was said, what was answered, and
// the task to go on with. Text that is clean stands in it byte for byte; a line that would pass for one
// of our headings is marked, and characters that nobody sees are left out. neutralised counts both. Of many
// earlier exchanges only the newest are repeated, and a line says how many are not.
func Continuation(d Dialogue) (prompt string, neutralised int) {
	n := &neutraliser{}
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
	section(headPrevious, n.previous(d)...)
	section(headReply, n.text(d.Reply))
	section(headContinue, append([]string{
		"Go on with the task below from where the previous output ends. The user reply answers it: do what the reply says, and do not ask the same again.",
		"The task was:\n" + n.text(d.Task),
	}, n.earlier(d)...)...)
	return b.String(), n.count
}

// previous gives what was said: the output, and the question if the output does not have it already.
func (n *neutraliser) previous(d Dialogue) []string {
	var parts []string
	if d.Output != "" {
		parts = append(parts, n.text(d.Output))
	}
	if d.Question != "" && !asks(d.Output, d.Question) {
		parts = append(parts, n.text(d.Question))
	}
	return parts
}

// asks reports whether the output has the question as a reader sees it: as lines of its own, or at its end.
// A short question may occur in the middle of anything.
func asks(output, question string) bool {
	output, question = unindented(output), unindented(question)
	if question == "" || strings.Contains("\n"+output+"\n", "\n"+question+"\n") {
		return true
	}
	before, ends := strings.CutSuffix(output, question)
	last, _ := utf8.DecodeLastRuneInString(before)
	return ends && !unicode.IsLetter(last) && !unicode.IsDigit(last)
}

// unindented gives a text without the white space around it and around its lines.
func unindented(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// earlierBytes bounds what is repeated of earlier exchanges, so that a task that asks again and again
// does not drown its own work in them. The newest ones are kept.
const earlierBytes = 64 << 10

func (n *neutraliser) earlier(d Dialogue) []string {
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
			b.WriteString("Question: " + n.indented(x.Question))
		}
		b.WriteString("Reply: " + n.indented(x.Reply))
	}
	return []string{b.String()}
}

// indented gives a text of which no line but the first begins where ours do, so that no question can
// hold an answer that nobody gave.
func (n *neutraliser) indented(s string) string {
	return strings.ReplaceAll(n.behind(strings.TrimRight(s, "\r\n")), "\n", "\n  ") + "\n"
}

// closed ends a text with a line feed.
func closed(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

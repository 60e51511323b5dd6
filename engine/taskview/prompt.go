package taskview

import (
	"cmp"
	"fmt"
	"slices"

	"waybill/core/task"
	"waybill/internal/safetext"
	"waybill/prompt"
	"waybill/store"
)

// maxEarlier bounds the earlier answers that a prompt repeats.
const maxEarlier = 50

// Prompt returns the prompt of a newly claimed attempt.
func Prompt(tx store.AttemptRecords, t task.Task) (string, error) {
	if !t.Continues() {
		return t.Spec.Prompt, nil
	}
	before := max(0, t.Replies-1-maxEarlier)
	replies, err := tx.Replies(t.ID, before, t.Replies-before)
	if err != nil {
		return "", err
	}
	d := prompt.Dialogue{
		Before: before, Task: t.Spec.Prompt, Output: t.Output, Question: t.Question, Reply: t.Reply, ByTime: t.Choice.ByTime,
	}
	d.Options, d.Chosen = offered(t)
	d.Earlier = exchanges(replies, before, t.Replies-1)
	if n := len(replies); n > 0 && replies[n-1].Number == t.Replies {
		if d.Error, err = failureText(tx, replies[n-1].AttemptID); err != nil {
			return "", err
		}
	}
	text, _ := prompt.Continuation(d)
	return text, nil
}

// offered returns the options of the question, and the number of the one that was taken.
func offered(t task.Task) (options []prompt.Option, chosen int) {
	for _, o := range t.Offer.Terms().Options {
		options = append(options, prompt.Option(o))
	}
	return options, 1 + slices.IndexFunc(options, func(o prompt.Option) bool { return t.Choice.Option != "" && o.Label == t.Choice.Option })
}

// failureText returns the error of the attempt that a person replied to, or "" if it did not fail or is unknown.
func failureText(tx store.AttemptRecords, attemptID string) (string, error) {
	a, known, err := tx.Attempt(attemptID)
	if damaged(err) {
		return "", nil
	}
	if err != nil || !known || !a.Failed() {
		return "", err
	}
	why := a.Failure()
	text := cmp.Or(why.Message, why.Name)
	if text == "" && why.HTTP != 0 {
		text = fmt.Sprintf("HTTP status %d", why.HTTP)
	}
	return cmp.Or(text, string(a.Status())), nil
}

// exchanges returns the exchanges of a dialogue with numbers above after, up to last. A placeholder stands for each
// damaged reply, which the store leaves out.
func exchanges(replies []store.Reply, after, last int) (list []prompt.Exchange) {
	for n := after + 1; n <= last; n++ {
		next := prompt.Exchange{Reply: "(left out: the stored text is damaged)"}
		if len(replies) > 0 && replies[0].Number == n {
			next = prompt.Exchange{Question: replies[0].Question, Reply: replies[0].Text, ByTime: replies[0].ByTime}
			replies = replies[1:]
		}
		list = append(list, next)
	}
	return list
}

// Options names the options of a question and its default in one part of a sentence, or returns "".
func Options(o task.Offer) string {
	var text string
	t := o.Terms()
	for _, option := range t.Options {
		text += cmp.Or(map[bool]string{true: " (options: "}[text == ""], ", ") + safetext.Quote(option.Label, 60)
	}
	switch {
	case text == "":
		return ""
	case t.After != 0:
		text += "; time takes " + safetext.Quote(t.Default, 60)
	}
	return text + ")"
}

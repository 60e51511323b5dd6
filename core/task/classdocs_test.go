package task_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/coretest"
	"waybill/core/task"
	"waybill/test/golden"
)

const classesHead = "<!-- Generated from task.ClassRules by `go test ./core/task -run TestErrorClassesPage -update`. Do not edit. -->" + `

# Error classes

A failed attempt has a class, and the class decides what follows. ` + "`finish_attempt`" + ` may give it in
` + "`error.class`, and `report_session_event` in `data.class`" + `. If they do not, it is told by this page from the
` + "`name`, the `message` and the `http_status`" + ` that stand beside it.

| class | meaning | what follows |
|---|---|---|
`

const classesMiddle = `
A failed attempt is followed by another one only while ` + "`max_attempts`" + ` allows it; see [tasks.md](tasks.md).

## The table

The rows are tried in this order, and the first one that fits decides: what says stop comes before what
says try again. Case makes no difference. In a message, everything between its words reads as one space,
so that ` + "`model_not_found` and `Model not found!`" + ` are alike. A + stands between parts that must all be there,
in any order; ␣ is the edge of a word.

| # | looked at | one of | class | why |
|---|---|---|---|---|
`

const classesTail = `
A row marked * is a guess: it chooses the next model, and says nothing against the one that failed, so that
"file not found" in five tasks shuts no model. That holds as well when a worker gives the class
itself and its failure says nothing that another row knows.

A row marked † is about the account at the provider: it has no quota or credit left, or its credentials are refused.
All models of that provider share it. The next model of another provider is tried, and models of the same provider
are passed by; the timeline says how many. If no other provider is left in the chain, the task stops
(` + "`retries_exhausted`" + `). Other tasks are not held back. To stop at once instead, give the class ` + "`user`" + `.

What no row knows is terminal: nothing says that trying again would help. Only for
` + "`report_session_event`" + ` it is transient, since the session may go on. A task whose failure says that
somebody gave up waiting (` + "`TimeoutError`" + `, 408 or 504) and that is not retried ends with the reason ` + "`timeout`" + `.
`

// classMeans says what a class stands for and what Step does about it.
func classMeans(class task.Class) (meaning, follows string) {
	switch class {
	case task.ClassTransient:
		return "the same again may succeed", "retry the same model after a wait, up to its share, then the next model"
	case task.ClassProvider:
		return "another model may succeed", "retry the next model at once; if there is none, stop (`retries_exhausted`)"
	case task.ClassTerminal:
		return "nothing of that kind succeeds", "stop (`failed`)"
	case task.ClassUser:
		return "a person stopped it, or has to change something first", "stop (`failed`)"
	}
	panic("unknown class " + string(class))
}

func classesPage() string {
	var b strings.Builder
	b.WriteString(classesHead)
	for _, class := range task.Classes() {
		meaning, follows := classMeans(class)
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", class, meaning, follows)
	}
	b.WriteString(classesMiddle)
	for i, rule := range task.ClassRules() {
		mark := ""
		if rule.Guess {
			mark = " *"
		}
		if rule.Account {
			mark = " †"
		}
		fmt.Fprintf(&b, "| %d%s | %s | %s | `%s` | %s |\n", i+1, mark, rule.Of, alternatives(rule), rule.Class, rule.Why)
	}
	b.WriteString(classesTail)
	return b.String()
}

func alternatives(rule task.ClassRule) string {
	var all []string
	for _, word := range rule.Words {
		parts := strings.Split(word, "+")
		for i, part := range parts {
			trimmed := strings.TrimPrefix(part, " ")
			if trimmed != part {
				trimmed = "␣" + trimmed
			}
			if before, edge := strings.CutSuffix(trimmed, " "); edge {
				trimmed = before + "␣"
			}
			parts[i] = trimmed
		}
		all = append(all, "`"+strings.Join(parts, " + ")+"`")
	}
	for _, code := range rule.Codes {
		all = append(all, fmt.Sprint(code))
	}
	return strings.Join(all, ", ")
}

// The page is for hosts' authors, and must not say anything else than the code does.
func TestErrorClassesPage(t *testing.T) {
	const path = "../../docs/error-classes.md"
	golden.File(t, path, classesPage())
}

// What the page says follows must be what Step does, with a next model and without one.
func TestErrorClassesFollowWhatThePageSays(t *testing.T) {
	alone, _ := task.Create("tsk_1", attemptID(1), 1, launch(t, 4, opus), 0, coretest.CreatedAt)
	for class, want := range map[task.Class]struct{ chain, alone task.Model }{
		task.ClassTransient: {opus, opus}, task.ClassProvider: {gpt, task.Model{}}, task.ClassTerminal: {}, task.ClassUser: {},
	} {
		for _, c := range []struct {
			task  task.Task
			model task.Model
		}{{newTask(t, 0), want.chain}, {alone, want.alone}} {
			next := lived(t, c.task, claims, breaks(class, task.RetryAuto))
			if c.model == (task.Model{}) {
				require.Equal(t, task.StatusError, next.Status(), class)
				continue
			}
			require.Equal(t, task.StatusQueued, next.Status(), class)
			require.Equal(t, c.model, next.Current.Model, class)
		}
	}
}

package core_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core"
)

const classesHead = "<!-- Generated from core.ClassRules by `go test ./core -run TestErrorClassesPage -update`. Do not edit. -->" + `

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

What no row knows is terminal: nothing says that trying again would help. Only for
` + "`report_session_event`" + ` it is transient, since the session may go on. A task whose failure says that
somebody gave up waiting (` + "`TimeoutError`" + `, 408 or 504) and that is not retried ends with the reason ` + "`timeout`" + `.
`

// classMeans says what a class stands for and what Step does about it.
func classMeans(class core.Class) (meaning, follows string) {
	switch class {
	case core.ClassTransient:
		return "the same again may succeed", "retry the same model after a wait, up to its share, then the next model"
	case core.ClassProvider:
		return "another model may succeed", "retry the next model at once; if there is none, stop (`retries_exhausted`)"
	case core.ClassTerminal:
		return "nothing of that kind succeeds", "stop (`failed`)"
	case core.ClassUser:
		return "a person stopped it, or has to change something first", "stop (`failed`)"
	}
	panic("unknown class " + string(class))
}

func classesPage() string {
	var b strings.Builder
	b.WriteString(classesHead)
	for _, class := range core.Classes() {
		meaning, follows := classMeans(class)
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", class, meaning, follows)
	}
	b.WriteString(classesMiddle)
	for i, rule := range core.ClassRules() {
		guess := ""
		if rule.Guess {
			guess = " *"
		}
		fmt.Fprintf(&b, "| %d%s | %s | %s | `%s` | %s |\n", i+1, guess, rule.Of, alternatives(rule), rule.Class, rule.Why)
	}
	b.WriteString(classesTail)
	return b.String()
}

func alternatives(rule core.ClassRule) string {
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
	const path = "../docs/error-classes.md"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(classesPage()), 0o644))
		return
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to write it")
	require.Equal(t, classesPage(), string(got), "%s is stale: run the test with -update and review the difference", path)
}

// What the page says follows must be what Step does, with a next model and without one.
func TestErrorClassesFollowWhatThePageSays(t *testing.T) {
	alone, _ := core.CreateTask("tsk_1", attemptID(1), 1, launch(t, 4, opus), 0, createdAt)
	for class, want := range map[core.Class]struct{ chain, alone core.Model }{
		core.ClassTransient: {opus, opus}, core.ClassProvider: {gpt, core.Model{}}, core.ClassTerminal: {}, core.ClassUser: {},
	} {
		for _, c := range []struct {
			task  core.Task
			model core.Model
		}{{newTask(t, 0), want.chain}, {alone, want.alone}} {
			next := lived(t, c.task, claims, breaks(class, core.RetryAuto))
			if c.model == (core.Model{}) {
				require.Equal(t, core.StatusError, next.Status(), class)
				continue
			}
			require.Equal(t, core.StatusQueued, next.Status(), class)
			require.Equal(t, c.model, next.Current.Model, class)
		}
	}
}

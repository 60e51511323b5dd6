package inbox

// These tests are inside because the keys and the pictures of the screen have no other front than a terminal.

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"waybill/cli/output"
	"waybill/core/task"
	"waybill/engine/inbox"
	"waybill/internal/safetext"
)

func TestKeysAreTakenApart(t *testing.T) {
	for in, want := range map[string][]key{
		"aä€":                       {{text: "a"}, {text: "ä"}, {text: "€"}},
		"\x1b[A\x1bOB\x1b[1;5C":     {{name: keyUp}, {name: keyDown}, {name: keyRight}},
		"\x1b[5~\x1b[3~\x1b[8~":     {{name: keyPageUp}, {name: keyDelete}, {name: keyEnd}},
		"\r\n\x1b\r\x7f\x03":        {{name: keyEnter}, {name: keyNewline}, {name: keyNewline}, {name: keyBackspace}, {name: keyInterrupt}},
		"\x1b[200~a\r\nb\x1b[A\x07": nil, // its end has not come yet
		"\x1b[200~a\r\nb\x1b[31m\x1b[201~c": {
			{text: "a\nb[31m"}, {text: "c"},
		},
		"\x1bx\x1b[99zq": {{text: "q"}}, // keys without a meaning
	} {
		var d decoder
		require.Equal(t, want, d.keys([]byte(in)), "%q", in)
		require.Equal(t, want == nil, len(d.rest) > 0, "%q", in)
	}
	var d decoder
	require.Empty(t, d.keys([]byte("\x1b")), "the rest of a sequence may follow")
	require.Equal(t, []key{{name: keyEscape}}, d.late())
	require.Empty(t, d.rest)
}

// A paste that pauses stays one text, so that the Enter within it does not send half of an answer.
func TestSlowPasteSendsNoHalfAnswer(t *testing.T) {
	var d decoder
	require.Empty(t, d.keys([]byte("\x1b[200~The left one.\rThe")))
	require.Empty(t, d.late())
	require.Empty(t, d.keys([]byte(" other\r\x1b[20")))
	require.Empty(t, d.late())
	require.Equal(t, []key{{text: "The left one.\nThe other\n"}, {name: keyEnter}}, d.keys([]byte("1~\r")))
}

// Of a paste that is too long the beginning is taken, and no part of the remainder becomes a key.
func TestLongPasteIsCut(t *testing.T) {
	const over = "x\ryu\r\x1b[A"
	taken := strings.Repeat("a", maxPaste)
	want := []key{{text: taken}, {name: keyCut}, {text: "z"}}
	in := []byte(pasteBegin + taken + over + pasteEnd + "z")
	var whole decoder
	require.Equal(t, want, whole.keys(in))
	var parts decoder
	var keys []key
	for _, at := range [][2]int{{0, 4096}, {4096, maxPaste}, {maxPaste, len(in) - 12}, {len(in) - 12, len(in) - 4}, {len(in) - 4, len(in)}} {
		keys = append(keys, parts.keys(in[at[0]:at[1]])...)
		keys = append(keys, parts.late()...)
	}
	require.Equal(t, want, keys)

	m := showing(question("1", "Which key?"))
	m.typed("a")
	for _, k := range keys[:2] {
		require.Zero(t, m.press(k))
	}
	require.Equal(t, "the pasted text was cut after 1 MiB", m.said)
	require.Equal(t, taken, string(m.written().text))
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x1b[200~x\x1b[201~\x1b[1;5A\xc3"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var d decoder
		keys := append(d.keys(in), d.late()...)
		require.True(t, len(d.rest) == 0 || d.over || bytes.HasPrefix(d.rest, []byte(pasteBegin)), "%q", d.rest)
		for _, k := range keys {
			require.True(t, utf8.ValidString(k.text))
			require.NotContains(t, k.text, "\x1b")
		}
	})
}

func TestDraftIsEdited(t *testing.T) {
	var d draft
	for _, k := range []key{
		{text: "one two"},
		{name: keyNewline},
		{text: "three  "},
		{name: keyEraseWord},
		{text: "vier"},
		{name: keyLeft},
		{name: keyBackspace},
		{name: keyHome},
		{name: keyDelete},
		{text: "O"},
		{name: keyEnd},
		{text: "!"},
	} {
		require.True(t, d.press(k))
	}
	require.Equal(t, "One two\nvir!", string(d.text))
	require.True(t, d.press(key{name: keyEraseLine}))
	require.Equal(t, "One two\n", string(d.text))
	require.False(t, d.press(key{name: keyUp}))
}

func question(id, text string) inbox.Entry {
	return inbox.Entry{
		Kind: inbox.Question, Place: inbox.Place{ID: "w", Root: "/home/mary/clock"}, ID: id, Title: "Wind " + id, Text: text,
		Actions: []inbox.Action{inbox.Answer, inbox.Cancel}, Next: []string{"reply", id},
	}
}

func showing(entries ...inbox.Entry) *model {
	m := &model{drafts: map[string]*draft{}, hint: func(e inbox.Entry) string { return strings.Join(e.Next, " ") }}
	m.take(inbox.Inbox{Entries: entries})
	return m
}

func (m *model) typed(text string) (last request) {
	var d decoder
	for _, k := range append(d.keys([]byte(text)), d.late()...) {
		last = m.press(k)
	}
	return last
}

// An answer goes to the question that was answered, also if others come or it is answered elsewhere meanwhile.
func TestAnswerBelongsToTheQuestionThatWasSeen(t *testing.T) {
	m := showing(question("1", "Which key?"), question("2", "Which hand?"))
	require.Zero(t, m.typed("j\rleft"))
	m.take(inbox.Inbox{Entries: []inbox.Entry{question("0", "Which dial?"), question("1", "Which key?"), question("2", "Which hand?")}})
	m.take(inbox.Inbox{Entries: []inbox.Entry{question("0", "Which dial?")}}) // it is answered elsewhere
	r := m.typed(" one\r")
	require.Equal(t, inbox.Answer, r.action)
	require.Equal(t, "2", r.entry.ID)
	require.Equal(t, "left one", r.text)
	require.Zero(t, m.typed("\r"), "one change at a time")

	m.done(r, "", errors.New("another answer was first"))
	require.Equal(t, "not sent, your text is kept: another answer was first", m.said)
	require.Equal(t, answering, m.mode)
	require.Equal(t, "left one", string(m.written().text))
	m.done(m.typed("\r"), "answered", nil)
	require.Equal(t, listing, m.mode)
	require.Empty(t, m.drafts)
}

// A number takes the option of the question that was seen; other words stay words.
func TestNumberTakesAnOption(t *testing.T) {
	q := question("1", "Which key?")
	q.Options = []task.Option{{Label: "the left one"}, {Label: "the right one", Detail: "it is \x1b[2Jnew"}}
	m := showing(q)
	f := m.draw(canvas{width: 80, height: 24, style: func(string) func(string) string { return strings.TrimSpace }})
	require.Contains(t, strings.Join(f.lines, "\n"), "  Which key?\n  1. the left one\n  2. the right one: it is \uFFFD[2Jnew")
	r := m.typed("2\r")
	require.Equal(t, "the right one", r.option)
	require.Empty(t, r.text)
	m.done(r, "", nil)
	r = m.typed("a3\r")
	require.Equal(t, "3", r.text)
	require.Empty(t, r.option)
}

// Nothing is changed without a second key, and only what is possible.
func TestChangesAreConfirmed(t *testing.T) {
	failed := question("1", "")
	failed.Kind, failed.Actions = inbox.FailedTask, []inbox.Action{inbox.Retry, inbox.Dismiss}
	m := showing(failed)
	require.Zero(t, m.typed("x"))
	require.Equal(t, "cancel is not possible here", m.said)
	require.Zero(t, m.typed("rn"))
	require.Equal(t, inbox.Retry, m.typed("\ry").action)
	m.done(request{action: inbox.Retry}, "attempt 2 is queued", nil)
	require.Equal(t, inbox.Dismiss, m.typed("dy").action)
	m.busy = false
	require.True(t, m.typed("q").quit)

	untrusted := failed
	untrusted.Actions, untrusted.Next = []inbox.Action{inbox.Unblock}, []string{"check", "trust"}
	m = showing(untrusted)
	require.Zero(t, m.typed("\r"))
	require.Equal(t, "run at a terminal: check trust", m.said)
	require.Equal(t, inbox.Unblock, m.typed("uy").action)
}

// A second Enter is no yes: Enter begins an action, and a key that is pressed twice must not carry it out.
func TestEnterTwiceUnblocksNothing(t *testing.T) {
	blocked := question("1", "")
	blocked.Kind, blocked.Actions, blocked.Next = inbox.Blocked, []inbox.Action{inbox.Unblock}, []string{"unblock", "1"}
	m := showing(blocked)
	require.Zero(t, m.typed("\r\r"))
	require.Equal(t, listing, m.mode)
	require.Equal(t, inbox.Unblock, m.typed("\ry").action)
}

// Every picture fits the screen, whatever its size and whatever agents wrote.
func TestPicturesFitTheScreen(t *testing.T) {
	hostile := question("1", strings.Repeat("\x1b[2J\u202e世界 why?\n", 40))
	hostile.Title = "\x1b]0;title\x07" + strings.Repeat("長い", 80)
	hostile.Place.Root = "/home/\x1b[31m"
	entries := []inbox.Entry{hostile}
	for i := range 60 {
		entries = append(entries, question(fmt.Sprint(i), "Which?"))
	}
	for _, typed := range []string{"", "G", "?", "x", "a" + strings.Repeat("世界 and the hands ", 30) + "\x1b\ragain", "    "} {
		for _, width := range []int{20, 40, 80, 200} {
			for _, height := range []int{2, 8, 24, 60} {
				m := showing(entries...)
				m.typed(typed)
				f := m.draw(canvas{width: width, height: height, now: time.Now(), style: func(string) func(string) string {
					return func(text string) string { return text }
				}})
				require.LessOrEqual(t, len(f.lines), height)
				require.Less(t, f.row, height)
				require.LessOrEqual(t, f.col, width)
				for _, line := range f.lines {
					require.LessOrEqual(t, output.Columns(line), width, "%q at %d", line, width)
					require.Equal(t, safetext.Printable(line), line)
				}
			}
		}
	}
	m := showing()
	f := m.draw(canvas{width: 80, height: 24, style: func(string) func(string) string { return strings.TrimSpace }})
	require.Equal(t, "nothing waits for you", f.lines[0])
}

// The chosen entry stays in sight, and the text of a question is there from its beginning.
func TestChosenEntryIsInSight(t *testing.T) {
	var entries []inbox.Entry
	for i := range 100 {
		entries = append(entries, question(fmt.Sprint(i), fmt.Sprintf("text of %d", i)))
	}
	m := showing(entries...)
	m.typed(strings.Repeat("j", 57))
	f := m.draw(canvas{width: 80, height: 24, style: func(string) func(string) string { return func(text string) string { return text } }})
	require.Contains(t, strings.Join(f.lines, "\n"), "> question              clock  Wind 57: text of 57")
	require.Contains(t, strings.Join(f.lines, "\n"), "\n  text of 57\n")
	m.take(inbox.Inbox{Entries: entries[50:]})
	require.Equal(t, 7, m.chosen)
}

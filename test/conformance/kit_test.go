package conformance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/test/conformance"
	"waybill/test/golden"
)

func conversations(t *testing.T) []*conformance.Conversation {
	t.Helper()
	files, err := filepath.Glob("../../testdata/conformance/*.txtar")
	require.NoError(t, err)
	var all []*conformance.Conversation
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		c, err := conformance.Parse(strings.TrimSuffix(filepath.Base(file), ".txtar"), data)
		require.NoError(t, err)
		all = append(all, c)
	}
	require.NotEmpty(t, all)
	return all
}

// recorded returns the conversations that were recorded, as they were held.
func recorded(t *testing.T) []*conformance.Conversation {
	t.Helper()
	var all []*conformance.Conversation
	for _, c := range conversations(t) {
		path := "../../testdata/conformance/recorded/" + c.Name + ".txt"
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		recording, err := conformance.ParseRecording(path, string(data))
		require.NoError(t, err)
		require.Equal(t, string(data), recording.String())
		held, err := c.Held(recording)
		require.NoError(t, err, "go test ./test/e2e -run TestRecordingsAreTrue -record takes it down anew")
		all = append(all, held)
	}
	return all
}

// Every method is called at least once, and answered with a result where it has one.
func TestEveryMethodHasAnExchange(t *testing.T) {
	exchanges := conformance.Exchanges(recorded(t))
	for _, m := range schema.Methods {
		require.Contains(t, exchanges, m.Name)
		require.Equal(t, !m.Notification, strings.Contains(exchanges[m.Name].Text, "← "), m.Name)
	}
}

// tools are the methods that a model is shown.
var tools = []string{
	"claim_task", "compile_prompt", "create_task", "dispatch_instructions", "finish_attempt", "get_task",
	"ingest_output", "init_run", "queue_instruction_with_ack", "ready_items", "reply", "report_event",
}

// Every tool is called at least once, and nothing else is.
func TestEveryToolIsCalled(t *testing.T) {
	called := map[string]bool{}
	for _, c := range conversations(t) {
		if !c.For("mcp") {
			continue
		}
		for _, s := range c.Steps {
			if s.Verb == conformance.Send {
				method, _ := value(t, s.Text).(map[string]any)["method"].(string)
				called[method] = true
			}
		}
	}
	require.Equal(t, tools, slices.Sorted(maps.Keys(called)))
}

// Every notification is waited for at least once.
func TestEveryNotificationIsHeard(t *testing.T) {
	all := expectations(t, "rpc")
	for _, n := range schema.Notifications {
		if n.Name == "log" {
			continue // is about notifications that were dropped; a client that reads drops none
		}
		heard := slices.ContainsFunc(all, func(text string) bool { return strings.Contains(text, `"method":"`+n.Name+`"`) })
		require.True(t, heard, n.Name)
	}
}

// beyond lists the errors that no conversation over stdio can bring about, and why.
var beyond = map[schema.Code]string{
	schema.Internal:         "is a defect",
	schema.Unauthorized:     "is said over HTTP",
	schema.Forbidden:        "is said over HTTP",
	schema.WrongVerb:        "is said over HTTP",
	schema.WrongMedia:       "is said over HTTP",
	schema.QueueFull:        "takes a million instructions",
	schema.Overloaded:       "takes a thousand calls in hand and a second in which none is answered, so it depends on the machine",
	schema.LedgerIncomplete: "takes a store whose facts were damaged",
	schema.PlanUnwritable:   "takes a file system that refuses to write",
	schema.StoreFull:        "takes a disk that is full",
	schema.StoreIO:          "takes a disk that fails",
	schema.StoreReadOnly:    "takes a store that others may not write",
	schema.StoreNewer:       "takes a store of a later version",
	schema.StoreBusy:        "takes another process that holds the store",
	schema.StoreCorrupt:     "takes a store that was damaged",
	schema.StoreLost:        "takes a store that was removed",
	schema.StoreUnsafe:      "takes a store in an unsafe place",
}

// Every error that a client can bring about is brought about, with the number that belongs to its code.
func TestEveryErrorIsHeard(t *testing.T) {
	heard := map[schema.Code]int{}
	for _, text := range expectations(t, "rpc") {
		for _, m := range members(t, text) {
			if m.Error != nil {
				heard[m.Error.Data.Code] = m.Error.Code
			}
		}
	}
	for _, row := range schema.ErrorTable {
		if why, excused := beyond[row.Code]; excused {
			require.NotContains(t, heard, row.Code, "it is said that it %s", why)
			continue
		}
		require.Contains(t, heard, row.Code)
		require.Equal(t, row.Number, heard[row.Code], row.Code)
	}
}

// expectations returns everything that the conversations for some doors wait for.
func expectations(t *testing.T, doors ...string) []string {
	t.Helper()
	var all []string
	for _, c := range conversations(t) {
		if !slices.ContainsFunc(doors, c.For) {
			continue
		}
		for _, s := range c.Steps {
			if s.Verb == conformance.Expect || s.Verb == conformance.Then {
				all = append(all, s.Text)
			}
		}
	}
	return all
}

type message struct {
	Error *struct {
		Code int `json:"code"`
		Data struct {
			Code schema.Code `json:"code"`
		} `json:"data"`
	} `json:"error"`
}

// members returns the messages of a batch, or the one message.
func members(t *testing.T, text string) []message {
	t.Helper()
	if !strings.HasPrefix(text, "[") {
		text = "[" + text + "]"
	}
	var all []message
	require.NoError(t, json.Unmarshal([]byte(text), &all), text)
	return all
}

func value(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v), text)
	return v
}

// docs/session.md is the recording of the conversation of that name, for people.
func TestSessionDocument(t *testing.T) {
	const path = "../../docs/session.md"
	all := recorded(t)
	i := slices.IndexFunc(all, func(c *conformance.Conversation) bool { return strings.HasSuffix(c.Name, "-session") })
	require.GreaterOrEqual(t, i, 0)
	page := fmt.Sprintf(sessionHead, all[i].Name) + string(all[i].Transcript())
	golden.File(t, path, page)
}

const sessionHead = "<!-- Generated from testdata/conformance/recorded/%[1]s.txt by `go test ./test/conformance -run TestSessionDocument -update`. Do not edit. -->\n\n" +
	"*This conversation was held with the program and taken down as it was, notifications among the answers: only the names\n" +
	"of the folders are others. `…` stands for the rest of a long text; the whole is in\n" +
	"[the recording](../testdata/conformance/recorded/%[1]s.txt).*\n\n"

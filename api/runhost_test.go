package api_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/store"
	"waybill/store/sqlite"
)

// clockPlan has an item that another one depends on, and one that waits for nobody.
const clockPlan = "# Clock\n\n" +
	"- [ ] 1. Draw the face\n  - _Prompt: Draw the face of the clock._\n" +
	"- [ ] 2. Draw the hands\n  - _Depends: 1_\n  - _Prompt: Draw both hands._\n" +
	"- [ ] 3. Choose a name\n  - _Prompt: Name the clock._\n"

// A place is where a test keeps what outlives a process: the workspace and the store.
type place struct {
	dir  string
	open func() store.Store
}

// eachStore runs a test on every kind of store.
func eachStore(t *testing.T, test func(t *testing.T, p place)) {
	t.Run("memory", func(t *testing.T) {
		st := newLasting()
		test(t, place{t.TempDir(), func() store.Store { return st }})
	})
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store.db")
		test(t, place{t.TempDir(), func() store.Store {
			st, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
			require.NoError(t, err)
			return st
		}})
	})
}

// host gives a new process in the place; the one before must have been stopped.
func (p place) host(t *testing.T) *host {
	t.Helper()
	return newHost(t, setup{dir: p.dir, store: p.open()})
}

// clocked gives a host with the clock's plan and a run of its item 1.
func clocked(t *testing.T, s setup) (h *host, run string) {
	t.Helper()
	h = newHost(t, s)
	h.write("tasks.md", clockPlan, time.Hour)
	return h, h.run("1")
}

// start starts a run of an item; rest is the params beside the plan and the item.
func (h *host) start(item, rest string, args ...any) object {
	h.t.Helper()
	if rest != "" {
		rest = ", " + rest
	}
	return h.call("init_run", `{"plan": "tasks.md", "item_id": `+quoted(item)+rest+`}`, args...)
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return string(b)
}

// ingest gives what an agent printed; rest is the params beside.
func (h *host) ingest(run, role, output string, rest ...string) object {
	h.t.Helper()
	return h.call("ingest_output", "%s", ingestParams(run, role, output, rest...))
}

func ingestParams(run, role, output string, rest ...string) string {
	params := append([]string{`"run_id": ` + quoted(run), `"role": ` + quoted(role), `"output": ` + quoted(output)}, rest...)
	return "{" + strings.Join(params, ", ") + "}"
}

// says gives a result in v2 headers. issues are separated by semicolons.
func says(role, item, status, issues string) string {
	text := "role: " + role + "\ntask_id: " + item + "\nstatus: " + status + "\n"
	if role == "worker" && status == "pass" {
		text += "git_range: a1b2c3d..e4f5a6b\n"
	}
	if issues != "" {
		text += "issues: " + issues + "\n"
	}
	return text
}

// worked is the result of a worker that has done item 1.
func worked() string { return says("worker", "1", "pass", "") }

// A step is a result of an agent for item 1 in one word: a role, and what it says. What is behind a colon
// are the issues.
type step string

func (s step) result() (role, output string) {
	word, issues, _ := strings.Cut(string(s), ":")
	who, status, _ := strings.Cut(word, " ")
	role = map[string]string{"worker": "worker", "spec": "spec-reviewer", "quality": "code-quality-reviewer"}[who]
	if status == "invalid" {
		return role, "I had a look around."
	}
	if issues == "" && status != "pass" {
		issues = "something is missing"
	}
	return role, says(role, "1", status, issues)
}

// walk gives results to a run, one after the other, and gives the last answer.
func (h *host) walk(run string, steps ...step) (last object) {
	h.t.Helper()
	for _, s := range steps {
		role, output := s.result()
		last = h.ingest(run, role, output)
	}
	return last
}

// snapshot gives what get_snapshot says.
func (h *host) snapshot(run string) object {
	h.t.Helper()
	return h.call("get_snapshot", `{"run_id": %q}`, run)
}

// runIs gives the run as it is now, without changing anything.
func (h *host) runIs(item string) object {
	h.t.Helper()
	return h.start(item, "")
}

// explained gives what explain says of a subject.
func (h *host) explained(subject string) object {
	h.t.Helper()
	return h.call("explain", `{"subject_id": %q}`, subject)
}

// badRun asserts that a call is refused with a code, with a pointer to what is wrong.
func (h *host) badRun(pointer, method, params string, args ...any) object {
	h.t.Helper()
	fault := h.refused(schema.InvalidParams, method, params, args...)
	fault.has(pointer, "data.details.errors.0.pointer")
	return fault
}

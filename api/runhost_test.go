package api_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
)

// clockPlan has an item with a dependent, and an independent one.
const clockPlan = "# Clock\n\n" +
	"- [ ] 1. Draw the face\n  - _Prompt: Draw the face of the clock._\n" +
	"- [ ] 2. Draw the hands\n  - _Depends: 1_\n  - _Prompt: Draw both hands._\n" +
	"- [ ] 3. Choose a name\n  - _Prompt: Name the clock._\n"

// A storeCase is a workspace and a store on disk that outlive a process.
type storeCase struct{ dir, store string }

func newStoreCase(t *testing.T) storeCase {
	t.Helper()
	return storeCase{t.TempDir(), filepath.Join(t.TempDir(), "store.db")}
}

// open opens the store for one more process.
func (p storeCase) open(t *testing.T) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Options{Path: p.store})
	require.NoError(t, err)
	return st
}

// host starts a new process; the earlier one must have stopped.
func (p storeCase) host(t *testing.T) *host {
	t.Helper()
	return newHost(t, setup{dir: p.dir, store: p.open(t)})
}

// hostWithClock returns a host with clockPlan and a run of its item 1.
func hostWithClock(t *testing.T, s setup) (h *host, run string) {
	t.Helper()
	h = newHost(t, s)
	h.write("tasks.md", clockPlan, time.Hour)
	return h, h.run("1")
}

// start starts a run of an item; rest are further params.
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

// ingest reports the output of an agent; rest are further params.
func (h *host) ingest(run, role, output string, rest ...string) object {
	h.t.Helper()
	return h.call("ingest_output", "%s", ingestParams(run, role, output, rest...))
}

func ingestParams(run, role, output string, rest ...string) string {
	params := append([]string{`"run_id": ` + quoted(run), `"role": ` + quoted(role), `"output": ` + quoted(output)}, rest...)
	return "{" + strings.Join(params, ", ") + "}"
}

// says returns a result in v2 headers. issues are separated by semicolons.
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

// worked is a worker's result for item 1.
func worked() string { return says("worker", "1", "pass", "") }

// A step is an agent's result for item 1: a role, a verdict and, after a colon, the issues.
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

// walk reports results to a run and returns the last answer.
func (h *host) walk(run string, steps ...step) (last object) {
	h.t.Helper()
	for _, s := range steps {
		role, output := s.result()
		last = h.ingest(run, role, output)
	}
	return last
}

// explained calls explain.
func (h *host) explained(subject string) object {
	h.t.Helper()
	return h.call("explain", `{"subject_id": %q}`, subject)
}

// snapshot calls get_snapshot.
func (h *host) snapshot(run string) object {
	h.t.Helper()
	return h.call("get_snapshot", `{"run_id": %q}`, run)
}

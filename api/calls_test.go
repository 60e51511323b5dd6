package api_test

import (
	"encoding/json"
	"fmt"
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

// onDisk returns an opened SQLite store at a path, as a process has it.
func onDisk(t *testing.T, path string) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	require.NoError(t, err)
	return st
}

// clockHost returns a host with clockPlan.
func clockHost(t *testing.T, s setup) *host {
	t.Helper()
	h := newHost(t, s)
	h.write("tasks.md", clockPlan, time.Hour)
	return h
}

// hostWithClock returns a host with clockPlan and a run of its item 1.
func hostWithClock(t *testing.T, s setup) (h *host, run string) {
	t.Helper()
	h = clockHost(t, s)
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

// claim claims a task and returns the claim of the answer.
func (h *host) claim(worker string) object {
	h.t.Helper()
	got := h.call("claim_task", `{"worker": %q}`, worker)
	if got.at("claim") == nil {
		require.Fail(h.t, "there was nothing to claim", got.text)
	}
	return got
}

// finish ends the attempt of a claim; rest are further params.
func (h *host) finish(claim object, rest string) object {
	h.t.Helper()
	return h.call("finish_attempt", `{"task_id": %q, "lease_token": %q, %s}`,
		claim.str("claim.task.task_id"), claim.str("claim.lease.token"), rest)
}

// create creates a task and returns its id. params are further JSON members.
func (h *host) create(params string, args ...any) string {
	h.t.Helper()
	if params != "" {
		params = ", " + params
	}
	return h.call("create_task", `{"prompt": "do it"`+params+`}`, args...).str("task.task_id")
}

// bind binds the attempt of a claim to a session.
func (h *host) bind(claim object, session string) object {
	h.t.Helper()
	return h.bindTo(claim, session, "")
}

// bindTo is bind with further params.
func (h *host) bindTo(claim object, session, rest string) object {
	h.t.Helper()
	return h.call("bind_session", "%s", bindParams(claim, session, rest))
}

func bindParams(claim object, session, rest string) string {
	return fmt.Sprintf(`{"task_id": %q, "attempt_id": %q, "lease_token": %q, "session_id": %q%s}`,
		claim.str("claim.task.task_id"), claim.str("claim.attempt.attempt_id"), claim.str("claim.lease.token"), session, rest)
}

// beat sends a heartbeat for a claim; rest are further params.
func (h *host) beat(claim object, rest string) object {
	h.t.Helper()
	if rest != "" {
		rest = ", " + rest
	}
	return h.call("heartbeat", `{"task_id": %q, "lease_token": %q%s}`,
		claim.str("claim.task.task_id"), claim.str("claim.lease.token"), rest)
}

// task calls get_task.
func (h *host) task(id string) object {
	h.t.Helper()
	return h.call("get_task", `{"task_id": %q}`, id)
}

// is asserts the status of a task.
func (h *host) is(status, id string) {
	h.t.Helper()
	h.task(id).has(status, "task.status")
}

// asked returns a new task that waits for a person.
func (h *host) asked(params string, args ...any) string {
	h.t.Helper()
	id := h.create(params, args...)
	c := h.claim("w")
	c.has(id, "claim.task.task_id")
	h.finish(c, `"status": "awaiting_response", "output": "I looked.", "question": "oak or elm?"`).
		has("AWAITING_RESPONSE", "task.status")
	return id
}

// in returns a new task with the given status.
func (h *host) in(status string) (id string, claim object) {
	h.t.Helper()
	id = h.create(``)
	if status == "QUEUED" {
		return id, claim
	}
	if status == "CANCELLED" {
		h.call("cancel_task", `{"task_id": %q}`, id)
		return id, claim
	}
	claim = h.claim("w")
	switch status {
	case "COMPLETE":
		h.finish(claim, `"status": "completed"`)
	case "AWAITING_RESPONSE":
		h.finish(claim, `"status": "awaiting_response", "question": "well?"`)
	case "ERROR":
		h.finish(claim, `"status": "error", "error": {"message": "no", "class": "terminal"}`)
	case "RUNNING":
	default:
		require.Fail(h.t, "no way into "+status)
	}
	h.is(status, id)
	return id, claim
}

// nothing asserts that no task can be claimed.
func (h *host) nothing() {
	h.t.Helper()
	h.call("claim_task", `{"worker": "w"}`).has(nil, "claim")
}

// logged returns the events of a type about a subject.
func (h *host) logged(kind, subject string) []object {
	h.t.Helper()
	found := []object{}
	all := h.call("events_since", `{"cursor": "0", "limit": 500, "types": [%q]}`, kind)
	for _, ev := range all.at("events").([]any) {
		if o := (object{h.t, all.text, ev}); o.str("subject_id") == subject {
			found = append(found, o)
		}
	}
	return found
}

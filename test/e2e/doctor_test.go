package e2e_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// canary is what must not leave this machine. Each place has one of its own, so that a leak names it.
func canary(place string) string { return "sekrit4711" + place }

// A patient is a workspace with a secret in every place that has room for one.
type patient struct {
	t     *testing.T
	home  string // in the folder of a user whose name is secret
	work  string
	extra []string // of the environment
}

func newPatient(t *testing.T) *patient {
	home := filepath.Join(t.TempDir(), canary("user"))
	p := &patient{t: t, home: home, work: filepath.Join(home, canary("project"))}
	require.NoError(t, os.MkdirAll(filepath.Join(p.work, canary("folder")), 0o700))
	p.write("tasks.md", "# "+canary("heading")+"\n\n- [ ] 1. "+canary("item")+"\n  - "+canary("detail")+"\n- [x] 2. Two\n- [x] 3. Three\n- [ ] "+canary("diagnostic")+" without an id\n")
	p.write(canary("folder")+"/tasks.md", strings.Repeat(canary("notask")+"\n", 3))
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.json"), fmt.Appendf(nil,
		`{"results":{"output_dir":%q},"prompt":{"max_output_tokens":777},"plans":{"dialects":["%s/*=kiro"]}}`,
		filepath.Join(home, canary("outputs")), canary("glob")), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(home, canary("outputs")), 0o700))
	p.extra = []string{
		"WAYBILL_CONFIG=" + filepath.Join(home, "config.json"), "WAYBILL_LOG=" + canary("level"),
		"WAYBILL_" + strings.ToUpper(canary("name")) + "=" + canary("value"), "OPENAI_API_KEY=" + canary("key"),
	}
	return p
}

func (p *patient) write(name, text string) {
	require.NoError(p.t, os.WriteFile(filepath.Join(p.work, filepath.FromSlash(name)), []byte(text), 0o600))
}

// run runs the program and returns what it printed.
func (p *patient) run(args ...string) (out string, code int) {
	cmd := program(p.t, p.work, filepath.Join(p.home, "state"), args...)
	cmd.Env = append(append(cmd.Env, "HOME="+p.home), p.extra...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		_, ended := errors.AsType[*exec.ExitError](err)
		require.True(p.t, ended, "%v: %v", args, err)
	}
	return stdout.String() + stderr.String(), cmd.ProcessState.ExitCode()
}

// call calls a method, which must succeed, and reads its answer into result, if that is not nil.
func (p *patient) call(method string, params map[string]any, result any) {
	text, err := json.Marshal(params)
	require.NoError(p.t, err)
	out, code := p.run("call", method, string(text))
	require.Zero(p.t, code, "%s: %s", method, out)
	if result != nil {
		line, _, _ := strings.Cut(out, "\n")
		require.NoError(p.t, json.Unmarshal([]byte(line), result), out)
	}
}

// confide fills the store with secrets.
func (p *patient) confide() {
	p.call("queue_instruction_with_ack", map[string]any{
		"content": canary("content"), "session_id": canary("session"), "max_retries": 0,
		"ack_on": map[string]any{"event_type": canary("event"), "match": map[string]any{"command": canary("match")}},
	}, nil)
	p.call("dispatch_instructions", map[string]any{"session_id": canary("session")}, nil)
	p.call("dispatch_instructions", map[string]any{"session_id": canary("session")}, nil)
	p.call("create_task", map[string]any{
		"prompt": canary("prompt"), "description": canary("description"), "labels": map[string]any{"l": canary("label")},
		"models":          []any{map[string]any{"provider_id": canary("provider"), "model_id": canary("model")}},
		"idempotency_key": canary("idempotency"),
	}, nil)
	p.converse("awaiting_response", map[string]any{"output": canary("output"), "question": canary("question")})
	var awaiting struct {
		Items []struct {
			TaskID string `json:"task_id"`
		}
	}
	p.call("list_awaiting", nil, &awaiting)
	require.Len(p.t, awaiting.Items, 1)
	p.call("reply", map[string]any{"task_id": awaiting.Items[0].TaskID, "reply": canary("reply"), "by": canary("by")}, nil)
	p.converse("error", map[string]any{"error": map[string]any{"message": canary("error"), "class": "terminal"}})
	var begun struct {
		Run struct {
			ID string `json:"run_id"`
		}
	}
	p.call("init_run", map[string]any{"plan": "tasks.md", "item_id": "1"}, &begun)
	p.call("compile_prompt", map[string]any{"run_id": begun.Run.ID, "role": "worker", "task_prompt": canary("taskprompt")}, nil)
	p.call("ingest_output", map[string]any{"run_id": begun.Run.ID, "role": "worker", "output": canary("result")}, nil)
}

// converse claims the task and ends its attempt.
func (p *patient) converse(status string, more map[string]any) {
	var claimed struct {
		Claim struct {
			Task struct {
				ID string `json:"task_id"`
			}
			Lease struct{ Token string }
		}
	}
	p.call("claim_task", map[string]any{"worker": canary("worker")}, &claimed)
	more["task_id"], more["lease_token"], more["status"] = claimed.Claim.Task.ID, claimed.Claim.Lease.Token, status
	p.call("finish_attempt", more, nil)
}

// unpack returns everything that is in a bundle, the names of its files and what the archive says of them included.
func unpack(t *testing.T, path string) map[string]string {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	zipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	files := map[string]string{"the head of the archive": fmt.Sprint(zipped.Header)}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		files[header.Name] = string(text)
		files["what is said of "+header.Name] = fmt.Sprintf("%+v", header)
	}
}

// requireBundle writes a bundle and looks for secrets in it.
func (p *patient) requireBundle(name string, code int, args ...string) (all string) {
	path := filepath.Join(p.t.TempDir(), name)
	out, got := p.run(append([]string{"doctor", "--bundle", path}, args...)...)
	require.Equal(p.t, code, got, out)
	for name, text := range unpack(p.t, path) {
		require.NotContains(p.t, strings.ToLower(text), "sekrit4711", "%s: %s", name, text)
		require.NotContains(p.t, text, p.home, name)
		all += text
	}
	return all
}

// TestDoctorsBundleHasNoSecrets: a secret was put into every place, and is in none of the files that are given to
// others, whether all is well, the store is damaged or the configuration is wrong.
func TestDoctorsBundleHasNoSecrets(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.confide()
	out, code := p.run("doctor")
	require.Zero(t, code, out)
	for _, place := range []string{"project", "user", "diagnostic"} {
		require.Contains(t, out, canary(place), "a person at the terminal is told")
	}
	all := p.requireBundle("sound.tar.gz", 0)
	for _, wanted := range []string{
		`"check": "rows"`, `"AWAITING_RESPONSE": 0`, `"ERROR": 1`, `"value": 777`, `"name": "results.output_dir"`, `"type":"instruction.failed"`,
		`"subject":"ins_`, `"WAYBILL_CONFIG"`, `"journal": "wal"`,
	} {
		require.Contains(t, all, wanted)
	}

	where, _ := p.run("where", "--json")
	var place struct{ Store string }
	require.NoError(t, json.Unmarshal([]byte(where), &place))
	text, err := os.ReadFile(place.Store)
	require.NoError(t, err)
	for _, secret := range []string{"content", "prompt", "output", "question", "reply", "error", "session", "worker", "label", "model"} {
		require.Contains(t, string(text), canary(secret), "it was planted")
	}
	require.NoError(t, os.WriteFile(place.Store, bytes.Replace(text, []byte(canary("content")), []byte(canary("contenu")), 1), 0o600))
	require.Contains(t, p.requireBundle("damaged.tar.gz", 5), `"level": "fail"`)

	require.NoError(t, os.WriteFile(filepath.Join(p.home, "config.json"), []byte(`{"`+canary("setting")+`":"`+canary("password")+`"}`), 0o600))
	require.Contains(t, p.requireBundle("wrong.tar.gz", 5), `"check": "config"`)
	require.NotEmpty(t, p.requireBundle("elsewhere.tar.gz", 1, "--store", filepath.Join(p.home, canary("store"))))

	out, _ = p.run("doctor", "--store", "postgres://"+canary("login")+":"+canary("password")+"@localhost:1/db")
	require.NotContains(t, out, canary("password"))
}

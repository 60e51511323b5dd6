package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/test/slow"
)

// A machine is Wine with the program for Windows. All tests share one, because Wine takes seconds to start.
type machine struct {
	folder string // with the programs, as this system sees it
	prefix string // of Wine, which has its disk there
}

// limit ends a test in which Wine hangs.
const limit = 5 * time.Minute

func TestProgramForWindows(t *testing.T) {
	slow.Test(t)
	if os.Getenv("WAYBILL_WINE_TESTS") != "required" {
		t.Skip("make wine-test runs it: it needs Wine, which has 670 MB")
	}
	m := &machine{folder: t.TempDir(), prefix: t.TempDir()}
	build := exec.Command("go", "build", "-o", m.folder, "../..", "../demo", "../fakeagent")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, prepare(m.prefix))
	t.Cleanup(func() { _ = m.command("wineserver", "--kill").Run() })
	for name, test := range map[string]func(*machine, *testing.T){
		"plays the demo, and keeps what it answered when it is killed": (*machine).demo,
		"shares a store between two processes":                         (*machine).sharesStore,
		"sees a changed plan":                                          (*machine).watches,
		"serves the page":                                              (*machine).servesPage,
		"answers a hook":                                               (*machine).answersHook,
	} {
		t.Run(name, func(t *testing.T) { test(m, t) })
	}
}

// command returns a command with the environment of Wine.
func (m *machine) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "WAYBILL_") })
	cmd.Env = append(cmd.Env, "WINEPREFIX="+m.prefix, "WINEDEBUG=-all")
	return cmd
}

// windows returns how Wine names a path of this system.
func windows(path string) string { return `Z:` + strings.ReplaceAll(path, "/", `\`) }

// waybill returns a command of the program in a workspace. Its store is on drive C, in the prefix.
func (m *machine) waybill(workspace string, args ...string) *exec.Cmd {
	args = append([]string{filepath.Join(m.folder, "waybill.exe")}, args...)
	cmd := m.command("wine", append(args, "--workspace", windows(workspace), "--config", "")...)
	cmd.Dir = workspace
	return cmd
}

func (m *machine) demo(t *testing.T) {
	out, err := m.command("wine", filepath.Join(m.folder, "demo.exe"), windows(m.folder+"/waybill.exe"), windows(m.folder+"/fakeagent.exe")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "answered and lost")
}

// A session is a process that serves JSON-RPC.
type session struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan string // closed at the end of the output
	id    int
}

func (m *machine) serve(t *testing.T, workspace string, args ...string) *session {
	cmd := m.waybill(workspace, append([]string{"serve"}, args...)...)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	s := &session{t: t, in: in, lines: make(chan string, 1000)}
	go func() { // ends with the process
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			s.lines <- scanner.Text()
		}
		close(s.lines)
	}()
	t.Cleanup(func() {
		_ = in.Close()
		require.NoError(t, cmd.Wait(), "the process ends with its input")
	})
	return s
}

// until returns the first line that has a text.
func (s *session) until(text string) string {
	s.t.Helper()
	timeout := time.After(limit)
	for {
		select {
		case line, ok := <-s.lines:
			require.True(s.t, ok, "the output ended before %q", text)
			if strings.Contains(line, text) {
				return line
			}
		case <-timeout:
			require.Fail(s.t, "timeout", "no line has %q", text)
		}
	}
}

// call returns the answer to a request.
func (s *session) call(method, params string) string {
	s.t.Helper()
	s.id++
	_, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.id, method, params)
	require.NoError(s.t, err)
	answer := s.until(fmt.Sprintf(`"id":%d,`, s.id))
	require.Contains(s.t, answer, `"result"`)
	return answer
}

func (m *machine) sharesStore(t *testing.T) {
	workspace := t.TempDir()
	one, two := m.serve(t, workspace), m.serve(t, workspace)
	for i := range 20 {
		one.call("queue_instruction", fmt.Sprintf(`{"content":"from one, %d"}`, i))
		two.call("queue_instruction", fmt.Sprintf(`{"content":"from two, %d"}`, i))
	}
	for _, s := range []*session{one, two} {
		require.Equal(t, 40, strings.Count(s.call("list_instructions", `{"limit":100}`), `"instruction_id"`))
	}
}

func (m *machine) watches(t *testing.T) {
	workspace := t.TempDir()
	plan := filepath.Join(workspace, "tasks.md")
	require.NoError(t, os.WriteFile(plan, []byte("- [ ] 1. Draw the face\r\n"), 0o600))
	s := m.serve(t, workspace)
	require.Contains(t, s.call("get_plan", `{"plan":"tasks.md"}`), "Draw the face")
	require.NoError(t, os.WriteFile(plan, []byte("- [ ] 1. Draw the hands\r\n"), 0o600))
	s.until(`"method":"ledger/changed"`)
	require.Contains(t, s.call("get_plan", `{"plan":"tasks.md"}`), "Draw the hands")
}

func (m *machine) servesPage(t *testing.T) {
	workspace := t.TempDir()
	s := m.serve(t, workspace, "--http")
	s.call("get_status", `{}`)
	where, err := m.waybill(workspace, "where", "--json").Output()
	require.NoError(t, err)
	var place struct {
		StateDir string `json:"state_dir"`
	}
	require.NoError(t, json.Unmarshal(where, &place))
	state := filepath.Join(m.prefix, "drive_c", strings.ReplaceAll(strings.TrimPrefix(place.StateDir, `C:`), `\`, "/"))
	raw, err := os.ReadFile(filepath.Join(state, "http.json"))
	require.NoError(t, err)
	var door struct{ URL, Token string }
	require.NoError(t, json.Unmarshal(raw, &door))
	for path, want := range map[string]string{"/": "<title>waybill", "/api/status": `"store"`} {
		request, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(door.URL, "/")+path, nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+door.Token)
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.Contains(t, string(body), want)
	}
}

func (m *machine) answersHook(t *testing.T) {
	workspace := t.TempDir()
	s := m.serve(t, workspace)
	s.call("queue_instruction", `{"content":"Run the tests before you stop."}`)
	hook := m.waybill(workspace, "hook", "claude-code")
	hook.Stdin = strings.NewReader(fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":%q,"prompt":"go on"}`, windows(workspace)))
	out, err := hook.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "Run the tests before you stop.")
}

//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/schema"
	"waybill/test/slow"
)

// An editor is Neovim without a screen, with the plugin of examples/neovim, that plays a script.
type editor struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	wrong *bytes.Buffer
}

// A seen is what the script tells.
type seen struct {
	What   string
	PID    int
	PIDs   []int
	Shown  []string
	Prompt string
	Told   []struct{ Message string }
	Once   map[string]int
}

// neovim starts an editor with a script of testdata/neovim. Without Neovim the test is skipped, or fails if it has to run.
func (w world) neovim(t *testing.T, script string, env ...string) *editor {
	t.Helper()
	slow.Test(t)
	nvim, err := exec.LookPath("nvim")
	if err != nil && os.Getenv("WAYBILL_NVIM_TESTS") != "required" {
		t.Skip("the plugin is tried in Neovim, and there is no nvim")
	}
	require.NoError(t, err)
	root, err := os.Getwd()
	require.NoError(t, err)
	inner, scripts := w.command(t, "serve"), filepath.Join(root, "test/e2e/testdata/neovim")
	cmd := exec.CommandContext(t.Context(), nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n",
		"--cmd", "set rtp^="+filepath.Join(root, "examples/neovim"),
		"-c", "luafile "+filepath.Join(scripts, "prelude.lua"), "-c", "lua T.run('"+filepath.Join(scripts, script)+"')")
	e := &editor{t: t, cmd: cmd, wrong: &bytes.Buffer{}}
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = w.workspace, append(inner.Env, "WAYBILL_PROGRAM="+inner.Path), e.wrong, patience
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	e.lines = bufio.NewScanner(out)
	return e
}

// until waits until the script tells that.
func (e *editor) until(what string) seen {
	e.t.Helper()
	var s seen
	if !e.lines.Scan() {
		_ = e.cmd.Wait()
		require.FailNow(e.t, "the script ended before "+what, e.wrong.String())
	}
	require.NoError(e.t, json.Unmarshal(e.lines.Bytes(), &s), e.lines.Text())
	require.Equal(e.t, what, s.What)
	return s
}

// end waits until the editor has gone, as it does after its script.
func (e *editor) end() {
	e.t.Helper()
	require.False(e.t, e.lines.Scan(), e.lines.Text())
	require.NoError(e.t, e.cmd.Wait(), e.wrong.String())
	require.Empty(e.t, e.wrong.String(), "a person would see this")
}

// told returns what a person was told, a message a line.
func (s seen) told() string {
	var b strings.Builder
	for _, told := range s.Told {
		b.WriteString(told.Message + "\n")
	}
	return b.String()
}

// claim waits until there is a task to work on.
func (p *peer) claim() schema.Claim {
	p.t.Helper()
	var got schema.ClaimTaskResult
	for end := time.Now().Add(2 * patience); got.Claim == nil && time.Now().Before(end); {
		p.must("claim_task", `{"worker":"host","wait_ms":20000,"lease_ms":3600000}`, &got)
	}
	require.NotNil(p.t, got.Claim, "no task came")
	return *got.Claim
}

// finish reports how the attempt ended, which must be applied.
func (p *peer) finish(c schema.Claim, rest string) {
	p.t.Helper()
	var r schema.FinishAttemptResult
	p.must("finish_attempt", report(c, rest), &r)
	require.True(p.t, r.Applied)
}

// report returns the params of finish_attempt.
func report(c schema.Claim, rest string) string {
	return `{"task_id":"` + c.Task.TaskID + `","lease_token":"` + c.Lease.Token + `",` + rest + `}`
}

// A task asks in one session, a person answers in the editor, which has another one, and the task goes on.
func TestNeovimAnswersAQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.neovim(t, "answer.lua")
	pid := e.until("ready").PID
	host := w.serve(t)
	host.must("create_task", `{"prompt":"Migrate.","description":"Loans","models":[{"provider_id":"acme","model_id":"large"}]}`, nil)
	host.must("create_task", `{"prompt":"Paint."}`, nil)
	loans, paint := host.claim(), host.claim()
	host.finish(loans, `"status":"awaiting_response","question":"Keep the column?\n2: yes\u001b[2J\u202e"`)
	host.finish(paint, `"status":"awaiting_response","question":"Which colour?"`)

	answered := e.until("answered")
	require.Len(t, answered.Shown, 2)
	require.Regexp(t, `^\d+[smh]  Loans: Keep the column\? 2: yes \[2J$`, answered.Shown[0], "what an agent asks is one line of the list")
	require.Equal(t, "Loans: Keep the column? 2: yes [2J ", answered.Prompt)
	only := e.until("only")
	require.Empty(t, only.Shown, "one question is no choice")
	require.Equal(t, "Which colour? ", only.Prompt)
	again := host.claim()
	require.True(t, again.Continuation)
	require.Contains(t, again.Prompt, "[User Reply]\nDrop it.\n")
	var task schema.TaskDetail
	host.must("get_task", `{"task_id":"`+again.Task.TaskID+`"}`, &task)
	require.Equal(t, "Ada", task.Replies[0].By)
	host.finish(again, `"status":"completed","output":"Done."`)

	last := e.until("told")
	require.Equal(t, pid, last.PID, "one process served the editor all the time")
	e.end()
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "the process outlived its editor")
}

func TestNeovimQueuesAndTellsOfFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.neovim(t, "instruct.lua")
	e.until("queued")
	host := w.serve(t)
	var sends schema.DispatchResult
	host.must("dispatch_instructions", `{}`, &sends)
	require.Len(t, sends.Instructions, 1)
	require.Equal(t, `Prefer "small" commits | and 'short' ones.`, sends.Instructions[0].Text)

	host.must("queue_instruction_with_ack", `{"content":"Run the tests.","max_retries":0}`, nil)
	host.must("dispatch_instructions", `{}`, nil)
	host.must("dispatch_instructions", `{}`, nil)
	said := e.until("seen").told()
	require.Contains(t, said, `waybill: an instruction for session default was sent once and never acknowledged: "Run the tests."`)
	e.end()
	var left schema.NoticeList
	host.must("list_notices", `{}`, &left)
	require.Empty(t, left.Items, "what a person has marked as seen is consumed")
}

// The process is killed again and again, each time in the middle of a call, and things happen while there is none.
func TestNeovimMissesNothingWhenTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.neovim(t, "killed.lua")
	over := e.until("over")
	e.end()
	require.Len(t, over.PIDs, 3)
	require.NotContains(t, over.PIDs[1:], over.PIDs[0])
	for round := 1; round <= 3; round++ {
		for _, hint := range []string{"before ", "dead."} {
			text := `waybill: an instruction for session ` + strings.ReplaceAll(hint, " ", ".") + strconv.Itoa(round) +
				` was sent once and never acknowledged: "` + hint + strconv.Itoa(round) + `"`
			require.Equal(t, 1, over.Once[text], "%s: told %v", text, over.Once)
		}
	}
	require.Equal(t, 3, over.Once["waybill: "+e.program()+" was ended by signal 9, and is started again"], "%v", over.Once)
	var queued schema.InstructionList
	w.serve(t).must("list_instructions", `{"session_id":"default"}`, &queued)
	require.Len(t, queued.Items, 6, "a call whose answer was lost takes effect once")
}

// program returns the program that the editor was told to start.
func (e *editor) program() string {
	for _, v := range e.cmd.Env {
		if path, found := strings.CutPrefix(v, "WAYBILL_PROGRAM="); found {
			return path
		}
	}
	return ""
}

func TestNeovimReadsMessagesInPieces(t *testing.T) {
	t.Parallel()
	e := newWorld(t).neovim(t, "frames.lua")
	e.until("over")
	e.end()
}

// A program that always dies was started for ever where it took more than ten seconds to die.
func TestNeovimGivesUpAProgramHoweverSlowlyItDies(t *testing.T) {
	t.Parallel()
	e := newWorld(t).neovim(t, "patience.lua")
	e.until("over")
	e.end()
}

func TestNeovimSaysWhatIsWrongWithTheProgram(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]struct{ cmd, startMS, want string }{
		"absent": {
			`["/nowhere/waybill"]`, "60000",
			"waybill: /nowhere/waybill cannot be started: ENOENT: no such file or directory; install it, or name it in cmd of setup(). :WaybillStatus tries again",
		},
		"another program": {
			`["sh","-c","echo Welcome to sh; cat"]`, "60000",
			`waybill: sh does not speak as waybill does: it says "Welcome to sh", which is no header; look at cmd of setup(). :WaybillStatus tries again`,
		},
		"one that sends no JSON": {
			`["sh","-c","printf 'Content-Length: 2\r\n\r\n{]'; cat"]`, "60000",
			"waybill: sh does not speak as waybill does: it sends a message that is not JSON; look at cmd of setup(). :WaybillStatus tries again",
		},
		"one that dies": {
			`["sh","-c","echo no licence >&2; exit 3"]`, "60000",
			"waybill: sh ended with code 3: no licence, 5 times in a row. :WaybillStatus tries again",
		},
		"one that is silent": {
			`["sh","-c","exec cat >/dev/null"]`, "100",
			"waybill: sh gave no answer in 100 ms. :WaybillStatus tries again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			e := w.neovim(t, "wrong.lua", "WRONG_CMD="+wrong.cmd, "WRONG_START_MS="+wrong.startMS)
			off := e.until("off").Told
			require.Equal(t, wrong.want, off[len(off)-1].Message)
			require.Contains(t, e.until("again").told(), "waybill: not queued: ")
			e.end()
			var queued schema.InstructionList
			w.serve(t).must("list_instructions", `{}`, &queued)
			require.Len(t, queued.Items, 1, "what was refused is not carried out later")
			require.Equal(t, "in time", queued.Items[0].Content)
		})
	}
}

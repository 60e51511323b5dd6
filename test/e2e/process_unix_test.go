//go:build unix

package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds every wait for a process. No test passes or fails by how fast it is.
const patience = 30 * time.Second

// A world is a workspace with a plan, and a place for state.
type world struct {
	workspace, state string
	store            string // "" for the file in the place for state
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{workspace: filepath.Join(t.TempDir(), "work"), state: t.TempDir()}
	require.NoError(t, os.CopyFS(w.workspace, os.DirFS("examples/workspace")))
	return w
}

// command returns the real program, in the world.
func (w world) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := program(t, w.workspace, w.state, args...)
	if w.store != "" {
		cmd.Env = append(cmd.Env, "WAYBILL_STORE="+w.store)
	}
	cmd.WaitDelay = patience
	return cmd
}

// pipe gives the program lines of input, and returns what it prints until it ends. The input stays open until every
// request has its answer: at its end, a process that gets no time on a busy machine refuses what it has not done.
func (w world) pipe(t *testing.T, input string) string {
	t.Helper()
	p := start(t, w.command(t))
	open := map[string]bool{}
	id := func(line string) string {
		var m struct{ ID json.RawMessage }
		_ = json.Unmarshal([]byte(line), &m) // some lines are wrong on purpose
		return string(m.ID)
	}
	for line := range strings.Lines(input) {
		if of := id(line); of != "" {
			open[of] = true
		}
	}
	go func() { _, _ = io.WriteString(p.in, strings.TrimSuffix(input, "\n")+"\n") }() // ends with the process at the latest
	var out strings.Builder
	for len(open) > 0 {
		line, err := p.out.ReadString('\n')
		require.NoError(t, err)
		out.WriteString(line)
		delete(open, id(line))
	}
	require.NoError(t, p.in.Close())
	rest, err := io.ReadAll(p.out)
	require.NoError(t, err)
	require.Zero(t, p.end())
	return out.String() + string(rest)
}

// A peer is a running program and the host's ends of its pipes.
type peer struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	next  int
	ended chan error // gets what Wait said
}

func (w world) serve(t *testing.T, args ...string) *peer {
	t.Helper()
	return start(t, w.command(t, append([]string{"serve"}, args...)...))
}

func start(t *testing.T, cmd *exec.Cmd) *peer {
	t.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &peer{t: t, cmd: cmd, in: in, out: bufio.NewReader(out), ended: make(chan error, 1)}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return p
}

type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Code string `json:"code"`
		} `json:"data"`
	} `json:"error"`
}

// call sends a request and returns its answer; notifications in between are passed over.
func (p *peer) call(method, params string) (reply, error) {
	p.next++
	if _, err := fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.next, method, params); err != nil {
		return reply{}, err
	}
	return p.answer(p.next)
}

// answer returns the answer to the request with that id; what comes before it is passed over.
func (p *peer) answer(id int) (reply, error) {
	for {
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			return reply{}, err
		}
		var r reply
		if err := json.Unmarshal(line, &r); err != nil {
			return reply{}, fmt.Errorf("stdout has %q: %w", line, err)
		}
		if r.ID == id {
			return r, nil
		}
	}
}

// must calls and expects a result, read into v.
func (p *peer) must(method, params string, v any) {
	p.t.Helper()
	r, err := p.call(method, params)
	require.NoError(p.t, err)
	require.Nil(p.t, r.Error, "%s: %+v", method, r.Error)
	if v != nil {
		require.NoError(p.t, json.Unmarshal(r.Result, v))
	}
}

// gets calls and returns the first text of that name in the result.
func (p *peer) gets(name, method, params string) string {
	p.t.Helper()
	var result json.RawMessage
	p.must(method, params, &result)
	found := regexp.MustCompile(`"` + name + `":"([^"]*)"`).FindSubmatch(result)
	require.NotNil(p.t, found, "%s", result)
	return string(found[1])
}

// end waits for the process and returns its exit code.
func (p *peer) end() int {
	p.t.Helper()
	_, _ = io.Copy(io.Discard, p.out)
	go func() { p.ended <- p.cmd.Wait() }()
	select {
	case err := <-p.ended:
		p.ended <- err
	case <-time.After(patience):
		p.t.Fatal("the process did not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// The host is killed while a grandchild of it keeps the pipe open, so that no end of input comes.
func TestFaultR19_ProcessLeavesWhenItsHostDies(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the host of this test is a bash script, and there is no bash")
	}
	w := newWorld(t)
	inner := w.command(t, "serve")
	// The host answers nothing and reads nothing. Its sleep holds the writing end of our input.
	host := exec.CommandContext(t.Context(), bash, "-c",
		`exec 3> >("$0" serve >&4 4>&-); sleep 1000 </dev/null >/dev/null 2>&1 4>&- & `+
			`echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' >&3; echo $!; wait`, inner.Path)
	host.Env, host.Dir = inner.Env, w.workspace
	out, err := host.StdoutPipe()
	require.NoError(t, err)
	answers, answersW, err := os.Pipe()
	require.NoError(t, err)
	host.ExtraFiles = []*os.File{nil, answersW} // descriptor 4
	require.NoError(t, host.Start())
	require.NoError(t, answersW.Close())
	sleeper, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	t.Cleanup(func() { _ = exec.Command("kill", strings.TrimSpace(sleeper)).Run() })
	r := bufio.NewReader(answers)
	line, err := r.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "pong")

	require.NoError(t, host.Process.Kill())
	require.NoError(t, answers.SetReadDeadline(time.Now().Add(patience)))
	_, err = r.ReadByte() // the end comes when waybill, which alone holds the other end, is gone
	require.ErrorIs(t, err, io.EOF)
	_ = host.Wait()
}

// leaving returns the signals that end a conversation. One that is ignored here is ignored by the programs
// that are started here as well.
func leaving() []syscall.Signal {
	return slices.DeleteFunc([]syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP},
		func(sig syscall.Signal) bool { return signal.Ignored(sig) })
}

// The defect: under nohup, the end of the terminal ended the process all the same.
func TestIgnoredSignalStaysIgnored(t *testing.T) {
	t.Parallel()
	inner := newWorld(t).command(t, "serve")
	cmd := exec.Command("sh", "-c", `trap "" HUP; exec "$0" serve`, inner.Path)
	cmd.Env, cmd.Dir = inner.Env, inner.Dir
	p := start(t, cmd)
	p.must("ping", `{}`, nil)
	require.NoError(t, cmd.Process.Signal(syscall.SIGHUP))
	for range 200 { // it would be on its way out by then
		p.must("ping", `{}`, nil)
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, p.end())
}

func TestFaultR20_SignalsEndTheProcessWithZero(t *testing.T) {
	t.Parallel()
	for command, call := range map[string][2]string{
		"serve": {"queue_instruction", `{"content":"kept"}`},
		"mcp":   {"initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`},
	} {
		for _, sig := range leaving() {
			p := start(t, newWorld(t).command(t, command))
			p.must(call[0], call[1], nil)
			require.NoError(t, p.cmd.Process.Signal(sig))
			require.Equal(t, 0, p.end(), "%s: %v", command, sig)
		}
	}
}

// The first signal lets what is in hand be finished, which takes 1.5 s here, for nobody reads the
// answer. The second one ends the process at once, by the signal. On a machine that gives this test no
// time for so long, the second one may come too late; then it is tried again.
func TestFaultR20_SecondSignalEndsTheProcessAtOnce(t *testing.T) {
	t.Parallel()
	for _, sig := range leaving() {
		ended := secondSignal(t, sig)
		for tries := 1; tries < 5 && !ended.Signaled(); tries++ {
			ended = secondSignal(t, sig)
		}
		require.True(t, ended.Signaled(), "it went the long way")
		require.Equal(t, sig, ended.Signal())
	}
}

// secondSignal returns how a process ended that was sent the signal, and again when it had noticed it.
func secondSignal(t *testing.T, sig syscall.Signal) syscall.WaitStatus {
	t.Helper()
	cmd := newWorld(t).command(t, "serve")
	cmd.Env = append(cmd.Env, "WAYBILL_LOG=info")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	log, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	// The answer repeats the content. It is larger than a pipe, so it keeps the process from leaving.
	_, err = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"queue_instruction","params":{"content":%q}}`+"\n",
		strings.Repeat("x", 512<<10))
	require.NoError(t, err)
	_, err = io.ReadFull(out, make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(sig))
	for line, lines := "", bufio.NewReader(log); !strings.Contains(line, "a second signal"); {
		line, err = lines.ReadString('\n')
		require.NoError(t, err, "the first signal was not noticed")
	}
	require.NoError(t, cmd.Process.Signal(sig))
	_ = cmd.Wait() // the state says more
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	return status
}

// The host is dead by the time that its id is looked at, and the parent and the input stay.
func TestFaultR19_HostThatDiedBeforeItWasLookedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	host := w.command(t, "version")
	require.NoError(t, host.Run())
	p := w.serve(t)
	p.must("initialize", fmt.Sprintf(`{"process_id":%d}`, host.Process.Pid), nil)
	require.Equal(t, 0, p.end())
}

// A host outside the PID namespace of waybill, as beside a container, names itself with an id that means nothing inside.
func TestHostInAnotherPIDNamespaceIsNotTakenForDead(t *testing.T) {
	t.Parallel()
	unshare := []string{"unshare", "--user", "--map-root-user", "--pid", "--fork"}
	if err := exec.Command(unshare[0], append(unshare[1:], "true")...).Run(); err != nil {
		t.Skipf("no PID namespaces here: %v", err)
	}
	cmd := newWorld(t).command(t, "serve")
	cmd.Path, cmd.Args = exec.Command(unshare[0]).Path, append(unshare, cmd.Args...)
	var log strings.Builder
	cmd.Stderr = &log
	p := start(t, cmd)
	p.must("initialize", `{"process_id":2147483647}`, nil) // an id that no system assigns
	p.must("ping", `{}`, nil)
	require.NoError(t, p.in.Close())
	require.Equal(t, 0, p.end())
	require.NotContains(t, log.String(), "host")
}

func TestFaultR20_ExitCodesAfterShutdownAndExit(t *testing.T) {
	t.Parallel()
	p := newWorld(t).serve(t)
	p.must("shutdown", `{}`, nil)
	_, err := fmt.Fprintln(p.in, `{"jsonrpc":"2.0","method":"exit"}`)
	require.NoError(t, err)
	require.Equal(t, 0, p.end())

	p = newWorld(t).serve(t)
	p.must("ping", `{}`, nil)
	_, err = fmt.Fprintln(p.in, `{"jsonrpc":"2.0","method":"exit"}`)
	require.NoError(t, err)
	require.Equal(t, 1, p.end())
}

// The host closes its reading end and sends a change; nobody is there for the answer.
func TestFaultR21_ClosedOutputKeepsWhatWasApplied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command(t, "serve")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	outR, outW, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = outW
	require.NoError(t, cmd.Start())
	require.NoError(t, outW.Close())
	require.NoError(t, outR.Close())
	_, err = fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"queue_instruction_with_ack","params":{"content":"applied"}}`)
	require.NoError(t, err)
	_, err = fmt.Fprintln(in, `{"jsonrpc":"2.0","id":2,"method":"dispatch_instructions"}`)
	_ = err // the process may be gone by now, and that is right
	require.NoError(t, cmd.Wait(), "a closed output is a host that left, not a signal")

	// Whatever was sent into the void uses up no send.
	out := w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"list_instructions"}`)
	require.Contains(t, out, `"content":"applied","state":"queued","tracked":true,"priority":false,"sends":0`)
}

func TestFaultR22_UnreadLogNeitherBlocksNorKills(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve(t)
	_ = p.in.Close()
	require.Equal(t, 0, p.end())

	cmd := w.command(t, "serve")
	cmd.Env = append(cmd.Env, "WAYBILL_LOG=debug")
	errR, errW, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = errR.Close() }() // never read
	cmd.Stderr = errW
	var in bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","method":"no_such_method_%d","params":{}}`+"\n", i)
	}
	in.WriteString(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	cmd.Stdin = &in
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "pong")
}

func TestFaultR22_ClosedLogDoesNotKill(t *testing.T) {
	t.Parallel()
	cmd := newWorld(t).command(t, "serve")
	cmd.Env = append(cmd.Env, "WAYBILL_LOG=debug")
	errR, errW, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, errR.Close())
	cmd.Stderr = errW
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","method":"no_such_method"}` + "\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "pong")
}

// Every byte of standard output is protocol, whatever goes wrong.
func TestFaultR25_OutputIsProtocolOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := w.pipe(t, strings.Join([]string{
		`garbage`, `{}`, `[]`, `{"jsonrpc":"2.0","id":1,"method":"nope"}`, `{"jsonrpc":"2.0","id":2,"method":"get_plan","params":{"plan":"/etc/passwd"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"queue_instruction","params":{"content":"\u001b[31m"}}`, `{"jsonrpc":"2.0","id":4,"method":"get_status"}`,
	}, "\n"))
	for line := range strings.Lines(out) {
		require.True(t, json.Valid([]byte(line)), "%q", line)
	}
	require.Contains(t, out, `"id":4,"result"`)
}

// With hardly any descriptors left, what needs no file is answered, and the rest gets a typed error.
func TestFaultR29_FewDescriptorsAreTypedErrors(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the limit of this test is set by bash, and there is none")
	}
	w := newWorld(t)
	inner := w.command(t, "serve")
	cmd := exec.CommandContext(t.Context(), bash, "-c", `ulimit -n 12; exec "$0" serve`, inner.Path)
	cmd.Env, cmd.Dir = inner.Env, w.workspace
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"queue_instruction","params":{"content":"x"}}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	out, _ := cmd.Output()
	require.Equal(t, 5, cmd.ProcessState.ExitCode(), "the store was never opened")
	require.Equal(t, 2, strings.Count(string(out), "pong"))
	require.Contains(t, string(out), `"id":2,"error":{"code":5071,`)
	require.Contains(t, string(out), `"outcome":"not_applied"`)
}

// Nobody reads what a call prints: what it handed out is taken back, and uses up no send.
func TestCallThatCannotPrintTakesBackWhatItHandedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"queue_instruction_with_ack","params":{"content":"x"}}`)
	cmd := w.command(t, "call", "dispatch_instructions")
	outR, outW, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, outR.Close())
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = outW, &said
	require.Error(t, cmd.Run())
	require.NoError(t, outW.Close())
	require.Equal(t, 1, cmd.ProcessState.ExitCode(), "it did not die by a signal")
	require.Contains(t, said.String(), "is taken back")
	require.Contains(t, w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"list_instructions"}`), `"state":"queued","tracked":true,"priority":false,"sends":0`)
}

// The host closed its end of the pipe before the answer was written.
func TestSendThatNeverReachedTheHostWasCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"queue_instruction_with_ack","params":{"content":"Stop.","max_retries":0}}`+"\n")
	cmd := w.command(t, "serve")
	out, stdout, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout = stdout
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"dispatch_instructions","params":{}}` + "\n")
	require.NoError(t, out.Close())
	_ = cmd.Run() // its exit code is about the output, which is broken
	require.NoError(t, stdout.Close())

	answer := w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"list_instructions","params":{}}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"events_since","params":{"cursor":"0"}}`+"\n")
	require.Contains(t, answer, `"instruction.undelivered"`)
	require.Contains(t, answer, `"tracked":true,"priority":false,"sends":0,"sends_max":1`)
}

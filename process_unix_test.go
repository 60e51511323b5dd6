//go:build unix

package main

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
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/store"
	"waybill/store/sqlite"
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

// command gives the real program, in the world.
func (w world) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir = w.workspace
	// The race detector would sleep for a second at each exit.
	cmd.Env = append(os.Environ(), asWaybill+"=1", "XDG_STATE_HOME="+w.state, "XDG_CACHE_HOME="+w.state+".cache", "GORACE=atexit_sleep_ms=0")
	if w.store != "" {
		cmd.Env = append(cmd.Env, "WAYBILL_STORE="+w.store)
	}
	cmd.WaitDelay = patience
	return cmd
}

// pipe gives the program some input, and what it answers until it ends.
func (w world) pipe(t *testing.T, input string) string {
	t.Helper()
	cmd := w.command(t)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
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

// call sends a request and gives its answer; notifications in between are passed over.
func (p *peer) call(method, params string) (reply, error) {
	p.next++
	if _, err := fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.next, method, params); err != nil {
		return reply{}, err
	}
	return p.answer(p.next)
}

// answer gives the answer to the request with that id; what comes before it is passed over.
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

// end waits for the process and gives its exit code.
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

func TestFaultR16_EndInMidMessageDropsOnlyThat(t *testing.T) {
	w := newWorld(t)
	out := w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"queue_instruction","params":{"content":"whole"}}`+"\n"+`{"jsonrpc":"2.0","id":2,"meth`)
	require.Contains(t, out, `"id":1,"result"`)
	require.Contains(t, out, `-32700`)
	require.NotContains(t, out, `"id":2`)
}

func TestFaultR17_EveryPipedRequestIsAnswered(t *testing.T) {
	w := newWorld(t)
	const n = 3000
	var in bytes.Buffer
	for i := range n {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"queue_instruction","params":{"content":"c%d"}}`+"\n", i, i)
	}
	seen, last := map[int]bool{}, int64(0)
	for line := range strings.Lines(w.pipe(t, in.String())) {
		var r struct {
			ID     *int `json:"id"`
			Result struct {
				Seq         int64 `json:"seq"`
				Instruction struct{ Content string }
			} `json:"result"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		if r.ID == nil {
			continue
		}
		require.Equal(t, fmt.Sprintf("c%d", *r.ID), r.Result.Instruction.Content)
		require.Greater(t, r.Result.Seq, last, "changes take effect in the order of their lines")
		last, seen[*r.ID] = r.Result.Seq, true
	}
	require.Len(t, seen, n)
}

// The host is killed while a grandchild of it keeps the pipe open, so that no end of input comes.
func TestFaultR19_ProcessLeavesWhenItsHostDies(t *testing.T) {
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

// leaving gives the signals that end a conversation. One that is ignored here is ignored by the programs
// that are started here as well.
func leaving() []syscall.Signal {
	return slices.DeleteFunc([]syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP},
		func(sig syscall.Signal) bool { return signal.Ignored(sig) })
}

// The defect: under nohup, the end of the terminal ended the process all the same.
func TestIgnoredSignalStaysIgnored(t *testing.T) {
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
	for _, sig := range leaving() {
		p := newWorld(t).serve(t)
		p.must("queue_instruction", `{"content":"kept"}`, nil)
		require.NoError(t, p.cmd.Process.Signal(sig))
		require.Equal(t, 0, p.end(), "%v", sig)
	}
}

// The first signal lets what is in hand be finished, which takes 1.5 s here, for nobody reads the
// answer. The second one ends the process at once, by the signal. On a machine that gives this test no
// time for so long, the second one may come too late; then it is tried again.
func TestFaultR20_SecondSignalEndsTheProcessAtOnce(t *testing.T) {
	for _, sig := range leaving() {
		ended := secondSignal(t, sig)
		for tries := 1; tries < 5 && !ended.Signaled(); tries++ {
			ended = secondSignal(t, sig)
		}
		require.True(t, ended.Signaled(), "it went the long way")
		require.Equal(t, sig, ended.Signal())
	}
}

// secondSignal gives how a process ended that was sent the signal, and again when it had noticed it.
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
	w := newWorld(t)
	host := w.command(t, "version")
	require.NoError(t, host.Run())
	p := w.serve(t)
	p.must("initialize", fmt.Sprintf(`{"process_id":%d}`, host.Process.Pid), nil)
	require.Equal(t, 0, p.end())
}

func TestFaultR20_ExitCodesOfTheHandshakeOfDeparture(t *testing.T) {
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

// The machine sleeps and wakes up: what was sent meanwhile is answered, and nothing is sent in a burst,
// because only a pass sends.
func TestFaultR23_SuspendedProcessGoesOn(t *testing.T) {
	const asked = 500
	p := newWorld(t).serve(t)
	p.must("queue_instruction_with_ack", `{"content":"x"}`, nil)
	p.must("dispatch_instructions", `{}`, nil)
	p.stop()
	for i := range asked {
		_, err := fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":"queue_instruction","params":{"content":"%d","session_id":"s"}}`+"\n", 1000+i, i)
		require.NoError(t, err)
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGCONT))
	for i := range asked {
		r, err := p.answer(1000 + i)
		require.NoError(t, err)
		require.Nil(t, r.Error)
	}
	var list struct{ Items []struct{ Sends int } }
	p.must("list_instructions", `{"session_id":"default"}`, &list)
	require.Len(t, list.Items, 1)
	require.Equal(t, 1, list.Items[0].Sends)
}

// stop suspends the process, and returns when it does nothing any more.
func (p *peer) stop() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	_, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(p.t, err)
	require.True(p.t, status.Stopped())
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid)); err == nil { // where there is one
		require.Contains(p.t, string(stat), ") T ")
	}
}

// Every byte of standard output is protocol, whatever goes wrong.
func TestFaultR25_OutputIsProtocolOnly(t *testing.T) {
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
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(out), "pong"))
	require.Contains(t, string(out), `"id":2,"error":{"code":5071,`)
	require.Contains(t, string(out), `"outcome":"not_applied"`)
}

// Two processes of one host on one store: both work, and each sees what the other was answered.
func TestFaultR30_TwoProcessesShareOneStore(t *testing.T) {
	w := newWorld(t)
	const n = 200
	var wg sync.WaitGroup
	peers := []*peer{w.serve(t), w.serve(t)}
	failed := make([]error, len(peers))
	for i, p := range peers {
		wg.Go(func() {
			for range n {
				r, err := p.call("queue_instruction", fmt.Sprintf(`{"content":"from %d","session_id":"s%d"}`, i, i))
				if err == nil && r.Error != nil {
					err = fmt.Errorf("%+v", r.Error)
				}
				if err != nil {
					failed[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	for i, p := range peers {
		require.NoError(t, failed[i])
		var page struct {
			Items []struct{ Content string } `json:"items"`
		}
		p.must("list_instructions", fmt.Sprintf(`{"session_id":"s%d","limit":500}`, 1-i), &page)
		require.Len(t, page.Items, n)
	}
}

// Nobody reads what a call prints: what it handed out is taken back, and uses up no send.
func TestCallThatCannotPrintTakesBackWhatItHandedOut(t *testing.T) {
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

// tail -f in one process shows what another one did.
func TestTailFollowsOtherProcesses(t *testing.T) {
	w := newWorld(t)
	w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"queue_instruction","params":{"content":"before"}}`)
	cmd := w.command(t, "tail", "-f", "--json")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, first, `"seq":1,`)

	w.pipe(t, `{"jsonrpc":"2.0","id":1,"method":"queue_instruction","params":{"content":"after"}}`)
	second, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, second, `"seq":2,`)
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
}

// Another process has the lock of the store, and does not let go of it before the answer is there.
func TestFaultR27_CancelIsAnsweredWhileAnotherProcessHoldsTheLock(t *testing.T) {
	w := newWorld(t)
	p := w.serve(t, "--store", w.state)
	p.must("queue_instruction", `{"content":"before"}`, nil)
	other, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(w.state, "store.db")})
	require.NoError(t, err)
	require.NoError(t, other.Update(t.Context(), func(store.Tx) error {
		// The call behind it is not cancelled and waits on.
		_, err := io.WriteString(p.in, `{"jsonrpc":"2.0","id":100,"method":"queue_instruction","params":{"content":"cancelled"}}
{"jsonrpc":"2.0","id":101,"method":"queue_instruction","params":{"content":"kept"}}
`)
		require.NoError(t, err)
		p.must("list_instructions", `{}`, nil) // by the time of its answer both wait for the lock
		_, err = io.WriteString(p.in, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":100}}`+"\n")
		require.NoError(t, err)
		r, err := p.answer(100)
		require.NoError(t, err)
		require.NotNil(t, r.Error)
		require.Equal(t, -32800, r.Error.Code)
		return nil
	}))
	require.NoError(t, other.Close())
	r, err := p.answer(101)
	require.NoError(t, err)
	require.Nil(t, r.Error)
	var page struct{ Items []struct{ Content string } }
	p.must("list_instructions", `{}`, &page)
	require.Equal(t, []struct{ Content string }{{"before"}, {"kept"}}, page.Items)
}

//go:build unix

package check_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"waybill/check"
	"waybill/check/config"
	"waybill/core/audit"
	"waybill/schema"
)

// ran returns the receipt of a command in a new folder.
func ran(t *testing.T, command string, timeout time.Duration) schema.CheckRun {
	t.Helper()
	r, err := check.Run(t.Context(), t.TempDir(), check.Check{Name: "test", Command: command, Timeout: timeout})
	require.NoError(t, err)
	require.Equal(t, "test", r.Check)
	require.Equal(t, command, r.Command)
	return r
}

func code(n int) *int { return &n }

func TestOutcomeOfAnExecution(t *testing.T) {
	for name, c := range map[string]struct {
		command, outcome string
		code             *int
		reason           string
	}{
		"succeeds":             {"echo fine", "green", code(0), ""},
		"fails":                {"exit 3", "red", code(3), ""},
		"is not there":         {"no-such-program-anywhere", "red", code(127), ""},
		"fails in a pipe":      {"set -e; false; true", "red", code(1), ""},
		"is killed":            {"kill -9 $$", "red", nil, "it did not end by itself: signal: killed"},
		"needs a terminal":     {"read answer </dev/tty", "red", code(2), ""},
		"waits for input":      {"read answer", "red", code(1), ""},
		"is not a command":     {"if", "red", code(2), ""},
		"leaves a child":       {"sleep 100 >/dev/null 2>&1 & exit 0", "green", code(0), ""},
		"leaves a talker":      {"sleep 100 & exit 0", "green", code(0), ""},
		"leaves a daemon":      {"setsid sleep 20 & exit 0", "green", code(0), ""},
		"never ends":           {"sleep 100", "red", nil, "timed out after 200ms"},
		"never ends, stubborn": {"trap '' TERM; while :; do sleep 0.05; done", "red", nil, "timed out after 200ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var timeout time.Duration
			if strings.HasPrefix(name, "never ends") {
				timeout = 200 * time.Millisecond
			}
			r := ran(t, c.command, timeout)
			require.Equal(t, c.outcome, r.Outcome, r.Output)
			require.Equal(t, c.reason, r.Reason)
			if r.ExitCode != nil && *r.ExitCode == 1 && c.code != nil && *c.code == 2 {
				return // dash says 2 of a redirection that fails, and other shells 1
			}
			require.Equal(t, c.code, r.ExitCode)
		})
	}
}

func TestNothingOfACheckOutlivesIt(t *testing.T) {
	note := filepath.Join(t.TempDir(), "pid")
	ran(t, "sleep 100 >/dev/null 2>&1 & echo $! >"+note, 0)
	text, err := os.ReadFile(note)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) }, 10*time.Second, time.Millisecond)
}

// zombie reports whether a process is dead and only its parent has not looked yet.
func zombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(text), ") Z ")
}

func TestReceiptHasTheEndAndTheHashOfAllOutput(t *testing.T) {
	r := ran(t, "printf 'a%.0s' $(seq 30000); printf 'é\\377\\000end'; echo oops >&2", 0)
	require.Len(t, r.Output, schema.MaxCheckOutput)
	require.True(t, strings.HasSuffix(r.Output, "é??endoops\n"), r.Output[len(r.Output)-20:])
	sum := sha256.Sum256([]byte(strings.Repeat("a", 30000) + "é\xff\x00endoops\n"))
	require.Equal(t, hex.EncodeToString(sum[:]), r.OutputHash)
}

func TestFloodIsEnded(t *testing.T) {
	defer check.SetMaxOutput(1 << 20)()
	const flood = "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done"
	for _, command := range []string{flood, "trap '' PIPE; " + flood} {
		r := ran(t, command, time.Minute)
		require.Equal(t, "red", r.Outcome)
		require.Nil(t, r.ExitCode)
		require.Contains(t, r.Reason, "ended because it wrote more than")
		require.LessOrEqual(t, len(r.Output), schema.MaxCheckOutput)
		require.Less(t, r.DurationMS, time.Minute.Milliseconds(), "it is ended, not waited for")
	}
}

func TestMachineWithoutAShell(t *testing.T) {
	_, err := check.Tree(t.Context(), t.TempDir()) // git is found once, and other tests need it
	require.NoError(t, err)
	t.Setenv("PATH", t.TempDir())
	r := ran(t, "true", 0)
	require.Equal(t, "red", r.Outcome)
	require.Nil(t, r.ExitCode)
	require.Contains(t, r.Reason, "it cannot be started")
}

func TestFolderThatIsNotThere(t *testing.T) {
	r, err := check.Run(t.Context(), filepath.Join(t.TempDir(), "none"), check.Check{Name: "test", Command: "true"})
	require.NoError(t, err)
	require.Equal(t, "red", r.Outcome)
	require.Empty(t, r.TreeBefore)
}

// Git does not read the repository of another user, so there is no tree, and the receipt is bound to no files.
func TestRepositoryOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make files that belong to another user")
	}
	f := repository(t)
	const other = 12345
	require.NoError(t, os.Chown(f.dir, other, other))
	require.NoError(t, os.Chown(filepath.Join(f.dir, ".git"), other, other))
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if _, err := f.tryGit("status"); err == nil {
		return // git is told to trust every folder of this machine
	}
	_, err := check.Tree(t.Context(), f.dir)
	require.ErrorContains(t, err, "dubious ownership")
	require.ErrorContains(t, check.CanLook(t.Context(), f.dir), "dubious ownership")
	require.Equal(t, "untrusted", f.facts(audit.Start{}, "HEAD~1..HEAD").Outcome)
	r, err := check.Run(t.Context(), f.dir, check.Check{Name: "test", Command: "true"})
	require.NoError(t, err)
	require.Equal(t, "green", r.Outcome)
	require.Empty(t, r.TreeBefore)
	require.Empty(t, r.TreeAfter)
	require.Contains(t, r.Reason, "dubious ownership", "the receipt says why it is bound to no files")
}

// A git of long ago does not know what it is asked, and complains at length.
func TestGitThatIsTooOld(t *testing.T) {
	f := repository(t)
	old := folder{t, t.TempDir()}
	old.write("git", "#!/bin/sh\n{ seq 10000; echo \"error: unknown option\"; } >&2; exit 129\n")
	require.NoError(t, os.Chmod(filepath.Join(old.dir, "git"), 0o755))
	defer check.WithGit(filepath.Join(old.dir, "git"))()
	require.ErrorContains(t, check.CanLook(t.Context(), f.dir), "unknown option")
	require.Equal(t, "untrusted", f.facts(audit.Start{}, "HEAD~1..HEAD").Outcome)
	r, err := check.Run(t.Context(), f.dir, check.Check{Name: "test", Command: "true"})
	require.NoError(t, err)
	require.Equal(t, "green", r.Outcome)
	require.Empty(t, r.TreeBefore)
	require.Empty(t, r.TreeAfter)
	require.Contains(t, r.Reason, "bound to no files")
	require.Contains(t, r.Reason, "unknown option")
	require.Less(t, len(r.Reason), 2<<10, "a receipt can hold it")
}

func TestExecutionThatIsEndedHasNoReceipt(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	dir := t.TempDir()
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(dir, "began")); err == nil {
				stop()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := check.Run(ctx, dir, check.Check{Name: "test", Command: "touch began; sleep 100"})
	require.ErrorIs(t, err, context.Canceled)
}

func TestCheckThatChangesFilesIsBoundToNeither(t *testing.T) {
	r := ran(t, "date >report", 0)
	require.Equal(t, "green", r.Outcome)
	require.NotEmpty(t, r.TreeBefore)
	require.NotEmpty(t, r.TreeAfter)
	require.NotEqual(t, r.TreeBefore, r.TreeAfter)
}

func TestChecksThatAPersonTypes(t *testing.T) {
	for typed, want := range map[string]check.Check{
		"make test":            {Name: "make-test", Command: "make test"},
		"test=make test":       {Name: "test", Command: "make test"},
		" go-vet = go vet ":    {Name: "go-vet-go-vet", Command: "go-vet = go vet"},
		"CGO_ENABLED=0 go vet": {Name: "cgo-enabled-0-go-vet", Command: "CGO_ENABLED=0 go vet"},
		"./run --a=b":          {Name: "run-a-b", Command: "./run --a=b"},
		"é=ü x":                {Name: "x", Command: "é=ü x"},
		"go test ./... && go vet ./... && gofmt -l .": {Name: "go-test-go-vet-gofmt-l", Command: "go test ./... && go vet ./... && gofmt -l ."},
	} {
		got, err := check.Parse(typed)
		require.NoError(t, err, typed)
		require.Equal(t, want, got, typed)
	}
	for _, typed := range []string{"", " ", "test=", "test= ", "facts=true", "facts", "é", "./", "test=" + strings.Repeat("x", config.MaxCommand+1)} {
		_, err := check.Parse(typed)
		require.Error(t, err, typed)
	}
}

func TestCheckWithoutAShell(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "run.sh")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"$1\"\n"), 0o700))
	c := check.Check{Name: "test", Argv: []string{"./run.sh", "$HOME; 'x'"}}
	r, err := check.Run(t.Context(), dir, c)
	require.NoError(t, err)
	require.Equal(t, "green", r.Outcome, r.Reason)
	require.Equal(t, "$HOME; 'x'\n", r.Output)
	require.Equal(t, `./run.sh '$HOME; '\''x'\'''`, r.Command)

	require.NoError(t, os.Remove(script))
	r, err = check.Run(t.Context(), dir, c)
	require.NoError(t, err)
	require.Equal(t, "red", r.Outcome, "it is not there any more")
	require.Contains(t, r.Reason, "it cannot be started")
}

//go:build unix

package rpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"waybill/api"
	"waybill/rpc"
	"waybill/schema"
	"waybill/wire"
)

// hostEnv names the process that a server watches beside its parent.
const hostEnv = "RPC_TEST_HOST"

// roles are what the test binary can be besides the test.
var roles = map[string]func() int{"serve": serveStdio, "host": hostAndHolder, "hold": hold}

// serveStdio is a server as a program would have it.
func serveStdio() int {
	in, out, err := wire.Stdio()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 70
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	ctx, gone := context.WithCancel(ctx)
	log := wire.NewLogWriter(os.Stderr)
	logCtx, endLog := context.WithCancel(context.Background())
	var helpers sync.WaitGroup
	helpers.Go(func() { _ = log.Run(logCtx) })
	named, _ := strconv.ParseInt(os.Getenv(hostEnv), 10, 64)
	logger := slog.New(slog.NewTextHandler(log, nil))
	watch := wire.NewParentWatch()
	watch.Name(named)
	helpers.Go(func() {
		if watch.Run(ctx) == nil {
			logger.Info("the host is gone")
			gone()
		}
	})
	code, err := rpc.Serve(ctx, rpc.Options{In: in, Out: out, Table: processTable(log), Logger: logger})
	if err != nil {
		logger.Error("serve", "cause", err)
	}
	gone()
	endLog()
	helpers.Wait()
	return code
}

// processTable has what only a process of its own can be asked to do.
func processTable(log *wire.LogWriter) *api.Table {
	f := newFixture()
	control := func(name string, do func() any) api.Entry {
		return entry(name, schema.Control, func(_ context.Context, _ []byte, done func(api.Answer)) {
			done(api.Answer{Result: do()})
		})
	}
	return api.NewTable([]api.Entry{
		entry("ping", schema.Control, f.ping),
		entry("find", schema.Read, f.echo),
		entry("block", schema.Read, f.block),
		entry("change", schema.Change, f.change),
		entry("hand_out", schema.Change, f.handOut),
		control("print", func() any {
			fmt.Println("from fmt")
			_, err := unix.Write(unix.Stdout, []byte("from descriptor 1\n"))
			child := exec.Command("/bin/echo", "from a child")
			child.Stdout = os.Stdout
			return fmt.Sprint(err, child.Run())
		}),
		control("read_stdin", func() any {
			text, err := io.ReadAll(os.Stdin)
			return fmt.Sprintf("%q %v", text, err)
		}),
		control("chatter", func() any {
			for range 20_000 {
				_, _ = fmt.Fprintln(log, strings.Repeat("chatter ", 100))
			}
			return log.Dropped() > 0
		}),
		control("exhaust", func() any {
			lowest := unix.Rlimit{Cur: 1, Max: 1}
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &lowest); err != nil {
				return err.Error()
			}
			_, err := os.Open(os.DevNull)
			return errors.Is(err, unix.EMFILE)
		}),
	})
}

// hostAndHolder starts a server, and another process that keeps the server's input open, and says
// when the server answers. Descriptor 3 is passed on to the server alone.
func hostAndHolder() int {
	in, toServer, err := os.Pipe()
	if err != nil {
		return 1
	}
	server := reexec("serve")
	server.Stdin, server.ExtraFiles = in, []*os.File{os.NewFile(3, "alive")}
	out, err := server.StdoutPipe()
	if err != nil || server.Start() != nil {
		return 1
	}
	holder := reexec("hold")
	holder.ExtraFiles = []*os.File{toServer}
	if err := holder.Start(); err != nil {
		return 1
	}
	if _, err := fmt.Fprintln(toServer, request(1, "ping", "")); err != nil {
		return 1
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return 1
	}
	fmt.Println(holder.Process.Pid)
	return hold()
}

// hold does nothing until it is killed.
func hold() int {
	told := make(chan os.Signal, 1)
	signal.Notify(told, unix.SIGTERM)
	<-told
	return 0
}

// reexec prepares this binary in another role.
func reexec(role string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	// The race detector would have every process sleep for a second at its end.
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	return cmd
}

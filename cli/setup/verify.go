package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"waybill/cli/hook/dialect"
	"waybill/engine/workspace"
	"waybill/hostconfig"
	"waybill/internal/safetext"
)

// checkTime limits each start of what a host would start.
const checkTime = 20 * time.Second

// A scene is where the checks run: the workspace of this process, or else an empty folder with a state of its own.
type scene struct {
	dir     string
	env     []string // beside the environment of the host
	scratch bool
}

// verify starts what each host would start, in the environment that it would pass on. It never runs a command line that only a
// file has: the file may be from a repository of strangers.
func (a commands) verify(ctx context.Context, s *hostconfig.Setup, hosts []hostconfig.Host, r *report) {
	place, done, err := a.scene()
	if err != nil {
		a.Say("waybill: nothing was checked: " + safetext.Printable(err.Error()))
		return
	}
	defer done()
	for i, h := range hosts {
		broken := slices.ContainsFunc(r.Files, func(f fileReport) bool { return f.Error != "" && slices.Contains(f.Hosts, h.Name) })
		if entry, there := s.Written(h); there && !s.Trusts(h, entry) {
			r.Hosts[i].Todo = append(r.Hosts[i].Todo, "The server was not checked: the file has more than waybill wrote.")
		} else if there {
			r.Hosts[i].Checks = append(r.Hosts[i].Checks, checkServer(ctx, h, entry, place))
			if !place.scratch {
				r.Hosts[i].Checks = append(r.Hosts[i].Checks, a.checkStore(ctx, h, entry, place))
			}
		} else if !broken {
			r.Hosts[i].Checks = append(r.Hosts[i].Checks, result{"server", false, "the entry is not in the file any more"})
		}
		if why := s.Unhooked(h); why != "" {
			r.Hosts[i].Todo = append(r.Hosts[i].Todo, why)
		}
		if hooks := s.WrittenHooks(h); hooks.There {
			if hooks.Foreign {
				r.Hosts[i].Todo = append(r.Hosts[i].Todo, "The hooks were not checked: the file has more than waybill wrote.")
			} else {
				r.Hosts[i].Checks = append(r.Hosts[i].Checks, checkHook(ctx, h, hooks, place))
			}
			if hooks.Split {
				r.Hosts[i].Checks = append(r.Hosts[i].Checks, result{
					"flags", false,
					"hooks and server have other flags, and may use two stores: run the command again with --store or --workspace, or with --force for none",
				})
			}
			if hooks.Ignored != "" {
				r.Hosts[i].Todo = append(r.Hosts[i].Todo, "The file of the hooks: "+hooks.Ignored+".")
			}
		}
		if _, left := h.Pins(a.Env); len(left) > 0 {
			r.Hosts[i].Todo = append(r.Hosts[i].Todo, strings.Join(left, " and ")+
				" may be unknown to the host if you start it outside of a shell. waybill does not write passwords into files.")
		}
	}
}

// scene returns where to check, and a function that removes it.
func (a commands) scene() (scene, func(), error) {
	if ws, err := workspace.Resolve(a.Sources()); err == nil {
		return scene{dir: ws.Root}, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "waybill-setup-")
	if err != nil {
		return scene{}, nil, err
	}
	state := filepath.Join(dir, "state")
	folder := filepath.Join(dir, "workspace")
	err = os.Mkdir(folder, 0o700)
	return scene{dir: folder, env: []string{"XDG_STATE_HOME=" + state}, scratch: true}, func() { _ = os.RemoveAll(dir) }, err
}

// environment returns the variables for a program of the host.
func (s scene) environment(h hostconfig.Host, e hostconfig.Entry) []string {
	return append(h.Environment(os.Environ(), e), s.env...)
}

// checkServer starts the server of an entry, and asks it for its tools.
func checkServer(ctx context.Context, h hostconfig.Host, e hostconfig.Entry, s scene) result {
	const talk = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"waybill-setup","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`
	start := time.Now()
	out, said, err := run(ctx, s, s.environment(h, e), talk, e.Command, e.Args...)
	took := time.Since(start).Round(time.Millisecond)
	if err != nil {
		return result{"server", false, err.Error()}
	}
	for line := range bytes.Lines(out) {
		var answer struct {
			ID     int `json:"id"`
			Result struct {
				Tools []struct{ Name string } `json:"tools"`
			} `json:"result"`
		}
		if json.Unmarshal(line, &answer) == nil && answer.ID == 2 && len(answer.Result.Tools) > 0 {
			return result{"server", true, fmt.Sprintf("it started and offered %d tools, in %s", len(answer.Result.Tools), took)}
		}
	}
	return result{"server", false, "it started but listed no tools. " + said}
}

// checkStore compares the store that the host would use with that of this terminal.
func (a commands) checkStore(ctx context.Context, h hostconfig.Host, e hostconfig.Entry, s scene) result {
	own, err := os.Executable()
	if err != nil {
		return result{"store", false, err.Error()}
	}
	flags, _ := a.pinnedFlags(options{})
	here, err := whereOf(ctx, s, os.Environ(), own, flags)
	if err != nil {
		return result{"store", false, err.Error()}
	}
	there, err := whereOf(ctx, s, s.environment(h, e), e.Command, hostconfig.Globals(e.Args))
	switch {
	case err != nil:
		return result{"store", false, err.Error()}
	case here != there:
		return result{"store", false, fmt.Sprintf("the host would use %s, and this terminal uses %s: set the variables that differ for both, or name the store with --store", there, here)}
	}
	return result{"store", true, "the host and this terminal use " + there}
}

// whereOf returns the store that a program would use.
func whereOf(ctx context.Context, s scene, env []string, program string, flags []string) (string, error) {
	out, _, err := run(ctx, s, env, "", program, append([]string{"where", "--json"}, flags...)...)
	if err != nil {
		return "", err
	}
	var where struct {
		Store string `json:"store"`
	}
	if err := json.Unmarshal(out, &where); err != nil {
		return "", fmt.Errorf("%s where --json: %w", program, err)
	}
	return where.Store, nil
}

// quiet returns the name of an event at which waybill has nothing to do: a tool is about to run, and asks the person
// nothing.
func quiet(host string) string {
	h, _ := dialect.Of(host)
	for _, e := range h.Events {
		if e.Kind == dialect.Question {
			return e.Name
		}
	}
	return ""
}

// shell returns the program and the arguments that run a command line as the host would.
func shell(w hostconfig.WrittenHooks) ([]string, error) {
	switch w.Shell {
	case hostconfig.PowerShell, hostconfig.AnyShell:
		return []string{"powershell", "-NoProfile", "-Command", w.Command}, nil
	case hostconfig.GitBash: // another bash on the PATH may be that of a virtual machine
		bash := os.Getenv("CLAUDE_CODE_GIT_BASH_PATH")
		if git, err := exec.LookPath("git"); bash == "" && err == nil {
			bash = filepath.Join(filepath.Dir(filepath.Dir(git)), "bin", "bash.exe")
		}
		if _, err := os.Stat(bash); err != nil {
			return nil, errors.New("the host runs hooks with Git Bash, which was not found: install Git for Windows, or set CLAUDE_CODE_GIT_BASH_PATH")
		}
		return []string{bash, "-c", w.Command}, nil
	case hostconfig.POSIX:
	}
	return []string{"sh", "-c", w.Command}, nil
}

// checkHook runs a hook as the shell of the host would, with an event at which there is nothing to do.
func checkHook(ctx context.Context, h hostconfig.Host, w hostconfig.WrittenHooks, s scene) result {
	event, err := json.Marshal(map[string]any{
		"hook_event_name": quiet(w.Host), "session_id": "waybill-setup", "conversation_id": "waybill-setup",
		"tool_name": "waybill-setup", "tool_input": map[string]any{}, "cwd": s.dir, "workspace_roots": []string{s.dir},
	})
	if err != nil {
		return result{"hooks", false, err.Error()}
	}
	shell, err := shell(w)
	if err != nil {
		return result{"hooks", false, err.Error()}
	}
	start := time.Now()
	_, said, err := run(ctx, s, append(h.HookEnvironment(os.Environ()), s.env...), string(event), shell[0], shell[1:]...)
	if err == nil && said != "" {
		err = errors.New(said)
	}
	if err != nil {
		return result{"hooks", false, err.Error()}
	}
	return result{"hooks", true, fmt.Sprintf("a hook ran and let the host go on, in %s", time.Since(start).Round(time.Millisecond))}
}

// run runs a program with an input. It returns its output, and what it said on standard error.
func run(ctx context.Context, s scene, env []string, in, program string, args ...string) (out []byte, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = s.dir, env, strings.NewReader(in)
	cmd.WaitDelay = time.Second
	var output, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &complaints
	err = cmd.Run()
	said = safetext.Truncate(strings.TrimSpace(complaints.String()), 500)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("%s did not end within %s", program, checkTime)
	case err != nil && said != "":
		err = fmt.Errorf("%s: %w: %s", program, err, said)
	case err != nil:
		err = fmt.Errorf("%s: %w", program, err)
	}
	return output.Bytes(), said, err
}

package hosts_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"waybill/schema"
	"waybill/test/fakemodel"
)

// vsCode is Visual Studio Code with its own agent, as code-server serves it to a browser. The extension of examples/vscode
// offers waybill as a server there, so `waybill setup` is needed for the hooks only.
var vsCode = host{
	name: "vscode", title: "Visual Studio Code, in code-server", pkg: "code-server",
	files: "code-server/out/node/entry.js",
	env: func(*fakemodel.Model) []string {
		return []string{"WAYBILL_TEST_PROMPT=" + prompt}
	},
	configure: func(p *place) {
		p.writeJSON("home/data/Machine/settings.json", map[string]any{"waybill.path": p.waybill})
		p.writeJSON("home/data/User/settings.json", map[string]any{
			"chat.mcp.autostart": "newAndOutdated", "telemetry.telemetryLevel": "off", "workbench.startupEditor": "none",
		})
		p.writeJSON("home/data/User/chatLanguageModels.json", []any{map[string]any{
			"name": "Scripted", "vendor": "customendpoint", "apiKey": "none", "apiType": "chat-completions",
			"models": []any{map[string]any{
				"id": "scripted", "name": "Scripted", "url": p.model.URL + "/v1/chat/completions", "toolCalling": true,
				"vision": false, "maxInputTokens": 128000, "maxOutputTokens": 16000,
			}},
		}})
	},
	shell: func(command string) fakemodel.Call {
		return fakemodel.Call{Tool: "run_in_terminal", Args: map[string]any{
			"command": command, "explanation": "A step", "goal": "A step", "mode": "sync", "timeout": patience.Milliseconds(),
		}}
	},
}

// A window is a folder that is open in Visual Studio Code.
type window struct {
	*place
	ctx context.Context // of the tab of the browser
}

// editor makes a place for Visual Studio Code with the extension of examples/vscode, packaged as the marketplace wants it.
func editor(t *testing.T, script func(fakemodel.Request) fakemodel.Answer) *place {
	t.Helper()
	chromium(t)
	p := newPlace(t, vsCode, script)
	node, err := filepath.Glob(filepath.Join(npm, "node_modules", "node-linux-*", "bin", "node"))
	require.NoError(t, err)
	require.Len(t, node, 1, "npm has installed no Node for code-server: run `make node`")
	program, err := filepath.Abs(node[0])
	require.NoError(t, err)
	p.program = []string{program, p.program[0], "--user-data-dir", filepath.Join(p.home, "data"), "--extensions-dir", filepath.Join(p.home, "extensions")}
	for _, source := range []string{"../../../examples/vscode", "testdata/vscode"} {
		p.must(append(p.program, "--install-extension", p.pack(source))...)
	}
	return p
}

// chromium returns the path of the browser. Without it the test is skipped, or fails if browsers are required.
func chromium(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("WAYBILL_BROWSER_TESTS") != "required" {
		t.Skip("Visual Studio Code is shown by a browser, and there is no chromium")
	}
	require.NoError(t, err)
	return path
}

// pack packages an extension, and returns the path of the package. It works in a copy: other tests package the same folder.
func (p *place) pack(source string) string {
	p.t.Helper()
	source, err := filepath.Abs(source)
	require.NoError(p.t, err)
	modules, err := filepath.Abs("../../../examples/vscode/node_modules")
	require.NoError(p.t, err)
	if _, err := os.Stat(filepath.Join(modules, ".bin", "vsce")); err != nil {
		require.NotEqual(p.t, "required", os.Getenv("WAYBILL_NODE_TESTS"), "npm has installed no vsce; run `make node`")
		p.t.Skip("npm has installed no vsce: run `make node`")
	}
	folder, packed := filepath.Join(p.t.TempDir(), "examples", "vscode"), filepath.Join(p.t.TempDir(), "extension.vsix")
	require.NoError(p.t, os.MkdirAll(folder, 0o700))
	entries, err := os.ReadDir(source)
	require.NoError(p.t, err)
	for _, entry := range entries {
		if entry.Name() != "node_modules" && entry.Name() != "dist" {
			p.must("cp", "--recursive", filepath.Join(source, entry.Name()), folder)
		}
	}
	p.must("cp", filepath.Join(modules, "..", "..", "..", "LICENSE"), filepath.Dir(filepath.Dir(folder)))
	require.NoError(p.t, os.Symlink(modules, filepath.Join(folder, "node_modules")))
	cmd := p.command(filepath.Join(modules, ".bin", "vsce"), "package", "--allow-missing-repository", "--skip-license", "--no-dependencies", "--out", packed)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	require.NoError(p.t, err, "%s", out)
	return packed
}

// open serves the workspace, and opens it in a browser.
func (p *place) open() *window {
	p.t.Helper()
	server := p.command(append(p.program, "--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust")...)
	out, err := server.StdoutPipe()
	require.NoError(p.t, err)
	server.Stderr = server.Stdout
	require.NoError(p.t, server.Start())
	p.t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	address, said := "", ""
	for lines := bufio.NewScanner(out); address == "" && lines.Scan(); {
		said += lines.Text() + "\n"
		address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(lines.Text())
	}
	require.NotEmpty(p.t, address, said)
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the server
	allocator, stop := chromedp.NewExecAllocator(p.t.Context(), chromedp.ExecPath(chromium(p.t)), chromedp.UserDataDir(p.t.TempDir()), chromedp.Headless,
		chromedp.NoFirstRun, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1280, 900))
	p.t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	p.t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits until the browser has ended
		cancel()
	})
	w := &window{place: p, ctx: ctx}
	require.NoError(p.t, chromedp.Do(ctx, chromedp.Navigate(address+"/?folder="+p.workspace)))
	return w
}

// until waits for an expression of the page to be true. The page looks for itself.
func (w *window) until(expression string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	watch := `new Promise((done) => { const look = () => (` + expression + `) ? done(true) : setTimeout(look, 50); look(); })`
	if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](watch, chromedp.EvalAwaitPromise)); err != nil {
		shown, _ := chromedp.Run(w.ctx, chromedp.Evaluate[string](`document.body.innerText`))
		require.NoError(w.t, err, "waited for %s\n%s", expression, shown)
	}
}

// barItem selects the extension's item in the status bar.
const barItem = `.statusbar-item[id="waybill.waybill-vscode"]`

// bar waits until a regular expression fits the extension's item in the status bar: its text, and the tooltip behind it.
func (w *window) bar(fits string) {
	w.t.Helper()
	w.until(fmt.Sprintf("new RegExp(%q).test(document.querySelector('%s')?.ariaLabel)", fits, barItem))
}

// answers has a worker ask a question, which the person answers by the status bar. The task goes on with the answer.
func (w *window) answers(question, answer string) {
	w.t.Helper()
	w.bar("^waybill$")
	w.call("create_task", `{"prompt":"Migrate the loans."}`, nil)
	var asks, goes schema.ClaimTaskResult
	w.call("claim_task", `{"worker":"me"}`, &asks)
	report := fmt.Sprintf(`{"task_id":%q,"lease_token":%q,"status":"awaiting_response","question":%q}`, asks.Claim.Task.TaskID, asks.Claim.Lease.Token, question)
	w.call("finish_attempt", report, nil)
	w.bar(" 1, " + regexp.QuoteMeta(question) + "$")
	require.NoError(w.t, chromedp.Do(w.ctx, chromedp.Click(chromedp.CSS(barItem+" a"))))
	w.until(`[...document.querySelectorAll(".quick-input-widget")].some((box) => box.innerText.includes("` + question + `") && box.contains(document.activeElement))`)
	require.NoError(w.t, chromedp.Do(w.ctx, chromedp.KeyEvent(answer+kb.Enter)))
	w.bar("^waybill$")
	w.call("claim_task", `{"worker":"me"}`, &goes)
	require.Equal(w.t, asks.Claim.Task.TaskID, goes.Claim.Task.TaskID)
	require.True(w.t, goes.Claim.Continuation)
	require.Contains(w.t, goes.Claim.Prompt, answer)
	w.call("finish_attempt", fmt.Sprintf(`{"task_id":%q,"lease_token":%q,"status":"completed"}`, goes.Claim.Task.TaskID, goes.Claim.Lease.Token), nil)
}

// restarts kills the program of the extension. The status bar says so until another one runs, which waits at a gate here.
func (w *window) restarts() {
	w.t.Helper()
	serving := w.processes(w.waybill + "\x00--workspace")
	require.Len(w.t, serving, 1)
	gate, moved := w.waybill+"-gate", w.waybill+"-moved"
	require.NoError(w.t, unix.Mkfifo(gate, 0o600))
	require.NoError(w.t, os.Rename(w.waybill, moved))
	w.write("bin/waybill", "#!/bin/sh\nread -r line <"+gate+"\nexec "+moved+" \"$@\"\n")
	require.NoError(w.t, os.Chmod(w.waybill, 0o700))
	require.NoError(w.t, unix.Kill(serving[0], unix.SIGKILL))
	w.bar(`has gone \(SIGKILL\) and is started again`)
	w.must("sh", "-c", "echo >"+gate)
	w.bar("^waybill$")
	require.NoError(w.t, os.Rename(moved, w.waybill))
}

// runsInEditor has the agent of Visual Studio Code receive an instruction by a hook, call a tool, and be held. The person allows each
// call. Then the process that runs extensions is killed.
func runsInEditor(t *testing.T) cells {
	p := editor(t, func(r fakemodel.Request) fakemodel.Answer {
		if r.Said(prompt) == 0 {
			return call(fakemodel.Call{Tool: r.Tool("ready_items"), Args: map[string]any{"plan": "tasks.md"}})
		}
		return vsCode.believed(r)
	})
	p.connect()
	p.check()
	p.queue("default", "tool", "tool_input.command")
	w := p.open()
	w.until(`setInterval(() => [...document.querySelectorAll(".monaco-button")].filter((button) => button.innerText.trim() === "Allow").forEach((button) => button.click()), 200)`)
	w.until(`document.body.innerText.includes("` + final + `")`)
	w.until(`[...document.querySelectorAll(".quick-input-list .monaco-list-row")].some((row) => /waybill[^]*Running/.test(row.innerText))`)
	asked := p.model.Asked()
	require.Len(t, ours(asked[0]), 12)
	require.True(t, asked[1].Has(item))
	saw := p.done()
	w.answers("Keep the old column?", "Drop it.")
	w.restarts()
	w.answers("And the index?", "Keep it.")
	serving := p.processes(p.waybill)
	require.NotEmpty(t, p.processes(p.waybill+"\x00mcp"))
	for _, pid := range p.processes("--type=extensionHost") {
		require.NoError(t, unix.Kill(pid, unix.SIGKILL))
	}
	for _, pid := range serving {
		require.True(t, gone(pid), "waybill outlived its host")
	}
	saw[listed], saw[killed], saw[works], saw[packaged] = strconv.Itoa(len(ours(asked[0]))), "nothing left", "no command line", "installed"
	return saw
}

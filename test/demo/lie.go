package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"waybill/schema"
)

// drawing is the file that the item of the plan is about.
const drawing = "hands.svg"

// lieCheck returns the check that looks for the drawing, in the language of the shell that runs checks.
func lieCheck() string {
	if runtime.GOOS == "windows" {
		return "drawn=if not exist " + drawing + " (echo " + drawing + ": there is no such drawing& exit 3)"
	}
	return "drawn=test -f " + drawing + " || { echo '" + drawing + ": there is no such drawing'; exit 3; }"
}

// lie walks a plan with an agent that says that all is done and does nothing. A command of the person decides. Then the
// person draws what is missing.
func lie(ctx context.Context, h *host) {
	check("write the plan", os.WriteFile(filepath.Join(h.workspace, "lie.md"), []byte("- [ ] 1. Draw the hands\n"), 0o600))
	events := walk(ctx, h)
	var checked, approved int
	for _, e := range events {
		switch e.Kind {
		case "checked":
			checked++
			must(e.Verdict == "red", "the check is %s", e.Verdict)
		case "approved":
			approved++
		}
	}
	must(checked == 3 && approved == 0, "%d checks ran and %d items were approved, not 3 and 0", checked, approved)

	var runs schema.RunList
	h.call(ctx, "list_runs", map[string]any{"plan": "lie.md"}, &runs)
	var receipts schema.ReceiptList
	h.call(ctx, "list_receipts", map[string]any{"run_id": runs.Items[0].RunID}, &receipts)
	must(len(receipts.Items) == 3 && *receipts.Items[0].ExitCode == 3, "the receipts are %v", receipts.Items)
	r := receipts.Items[0]
	h.print("  receipt  %s  exit %d  tree %.14s…  %s\n", r.Check, *r.ExitCode, r.TreeAfter, strings.TrimSpace(r.Output))

	check("draw the hands", os.WriteFile(filepath.Join(h.workspace, drawing), []byte("<svg/>"), 0o600))
	h.call(ctx, "unblock_run", map[string]any{"run_id": runs.Items[0].RunID, "reason": "the hands are drawn"}, &schema.UnblockRunResult{})
	h.print("  → %s is drawn, and the run unblocked\n", drawing)
	events = walk(ctx, h)
	last := events[len(events)-1]
	must(strings.HasSuffix(last.Message, "1 proven, 0 only said"), "the walk ended with %q", last.Message)
}

// An event is a line of waybill work.
type event struct {
	Kind    string `json:"event"`
	Check   string `json:"check"`
	Verdict string `json:"verdict"`
	Next    string `json:"next_action"`
	Role    string `json:"role"`
	Proof   string `json:"proof"`
	Message string `json:"message"`
}

// walk lets waybill work walk the plan, and returns what it tells.
func walk(ctx context.Context, h *host) (events []event) {
	cmd := h.command(ctx, "work", "--json", "--no-wait", "--plan", "lie.md", "--check", lieCheck())
	cmd.Args = append(cmd.Args, "--", h.agent)
	output, _ := cmd.Output() // its exit code says whether the plan is completed; the events say more
	for line := range bytes.Lines(output) {
		var e event
		check("read an event of waybill work", json.Unmarshal(line, &e))
		events = append(events, e)
		switch e.Kind {
		case "completed":
			h.print("  %-14s says %s\n", e.Role, e.Verdict)
		case "checked":
			h.print("  %-14s is %s → %s  %s\n", "check "+e.Check, e.Verdict, e.Next, e.Message)
		case "approved", "ended":
			h.print("  %-14s %s\n", e.Kind, strings.TrimSpace(e.Proof+" "+e.Message))
		}
	}
	must(len(events) > 0, "waybill work told nothing")
	return events
}

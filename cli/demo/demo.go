// Package demo plays a host: it spawns the real binary, hands it work over a real pipe, and checks
// every answer. What it prints is what happened.
//
// It refuses to reach into the other rooms: what it knows of waybill, it knows from the wire.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"waybill/schema"
)

// Options says what to play with.
type Options struct {
	Binary    string   // the waybill to spawn
	Env       []string // its environment, in which nothing is set that would change what it does
	Workspace fs.FS    // copied before anything is changed
	Clock     fs.FS    // the plan of the third act, likewise
	Print     func(format string, args ...any)
	Page      bool // leaves the page open on what was played, until the context ends
	NoBrowser bool // only prints the address of the page
	// Bold, Good and Faint dress a text for the terminal.
	Bold, Good, Faint func(text string) string
}

// limit bounds the whole play; it takes a fraction of that.
const limit = 30 * time.Second

// A play is one run of the demo.
type play struct {
	Options
	workspace string
	state     string
	child     *child
	runID     string
}

// Run plays the demo. An error says which answer was not what it must be.
func Run(ctx context.Context, o Options) error {
	dir, err := os.MkdirTemp("", "waybill-demo-")
	if err != nil {
		return err
	}
	p := &play{Options: o, workspace: filepath.Join(dir, "workspace"), state: filepath.Join(dir, "state")}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.CopyFS(p.workspace, o.Workspace); err != nil {
		return fmt.Errorf("copy the example workspace: %w", err)
	}
	start := time.Now()
	if err := p.perform(ctx); err != nil {
		return err
	}
	p.Print("\n%s\n", p.Good(fmt.Sprintf("Everything went as promised, in %.1f s.", time.Since(start).Seconds())))
	if !o.Page {
		return nil
	}
	return p.scene(ctx, "The page", p.show)
}

// perform plays all scenes but that of the page.
func (p *play) perform(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, scene := range []struct {
		title string
		play  func(ctx context.Context) error
	}{
		{"A host spawns waybill", p.handshake},
		{"Instructions are acknowledged or fail loudly", p.instructions},
		{"A prompt is compiled from the plan on disk", p.compile},
		{"The plan changes under it", p.edit},
		{"A task changes models, asks, and goes on with the answer", p.task},
		{"A plan is worked through by next_action alone", p.plan},
		{"kill -9 in the middle of the work", p.crash},
		{"The host says goodbye", p.goodbye},
	} {
		if err := p.scene(ctx, scene.title, scene.play); err != nil {
			return err
		}
	}
	return nil
}

func (p *play) scene(ctx context.Context, title string, play func(ctx context.Context) error) error {
	p.Print("\n%s\n", p.Bold("── "+title))
	if err := play(ctx); err != nil {
		if p.child != nil {
			_ = p.child.kill()
		}
		return fmt.Errorf("%s: %w", title, err)
	}
	return nil
}

// call makes a call and shows it with what came back.
func (p *play) call(ctx context.Context, method string, params, result any, show func() string) error {
	if err := p.child.conn.Call(ctx, method, params, result); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	p.Print("  %s %s\n", p.Faint("→"), method)
	p.Print("  %s %s\n", p.Faint("←"), show())
	return nil
}

// must turns a broken expectation into an error.
func must(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func (p *play) handshake(ctx context.Context) (err error) {
	if p.child, err = spawn(ctx, p.Options, p.workspace, p.state); err != nil {
		return err
	}
	var r schema.InitializeResult
	name := map[string]any{"client_info": map[string]string{"name": "demo-host", "version": "1"}}
	return p.call(ctx, "initialize", name, &r, func() string {
		return fmt.Sprintf("%s %s, protocol %d, %d methods, pid %d",
			r.ServerInfo.Name, r.ServerInfo.Version, r.ProtocolVersion, len(r.Capabilities.Methods), r.ServerInfo.PID)
	})
}

// maxRetries is how often the instruction that nobody acknowledges is sent again.
const maxRetries = 2

func (p *play) instructions(ctx context.Context) error {
	tested, ignored, err := p.queue(ctx)
	if err != nil {
		return err
	}
	if err := p.firstPass(ctx, tested, ignored); err != nil {
		return err
	}
	if err := p.report(ctx, tested); err != nil {
		return err
	}
	return p.untilFailed(ctx, ignored)
}

// queue queues a plain instruction and two tracked ones and gives the ids of the latter.
func (p *play) queue(ctx context.Context) (tested, ignored string, err error) {
	var plain schema.InstructionResult
	err = p.call(ctx, "queue_instruction", map[string]any{"content": "Prefer small commits."}, &plain, func() string {
		return "plain: handed out once, not tracked"
	})
	if err != nil {
		return "", "", err
	}
	var first, second schema.QueueInstructionWithAckResult
	err = p.call(ctx, "queue_instruction_with_ack", map[string]any{
		"content": "Run `make test` and fix what fails.",
		"ack_on": map[string]any{
			"event_type": "command.finished", "match": map[string]any{"command": "make test", "exit_code": 0},
		},
	}, &first, func() string { return first.InstructionID + " (acknowledged by an event)" })
	if err != nil {
		return "", "", err
	}
	err = p.call(ctx, "queue_instruction_with_ack", map[string]any{
		"content": "Read CONTRIBUTING.md before the next change.", "max_retries": maxRetries,
	}, &second, func() string { return second.InstructionID + fmt.Sprintf(" (max_retries %d)", maxRetries) })
	return first.InstructionID, second.InstructionID, err
}

func (p *play) dispatch(ctx context.Context) (schema.DispatchResult, error) {
	var r schema.DispatchResult
	err := p.call(ctx, "dispatch_instructions", map[string]any{}, &r, func() string {
		return fmt.Sprintf("%d to hand to the agent, %d failed", len(r.Instructions), len(r.Failed))
	})
	for _, send := range r.Instructions {
		p.Print("      send %d of %d  %s\n", send.Send, send.SendsMax, send.Text)
	}
	return r, err
}

func (p *play) firstPass(ctx context.Context, tested, ignored string) error {
	r, err := p.dispatch(ctx)
	if err != nil {
		return err
	}
	if err := must(len(r.Instructions) == 3, "the first pass handed out %d instructions, not 3", len(r.Instructions)); err != nil {
		return err
	}
	for _, send := range r.Instructions {
		if err := must(send.Send == 1, "the first send of %s has the number %d", send.InstructionID, send.Send); err != nil {
			return err
		}
	}
	return must(r.Instructions[1].InstructionID == tested && r.Instructions[2].InstructionID == ignored, "the pass is not in the order of queueing")
}

// report tells what the agent did; only the exact match acknowledges.
func (p *play) report(ctx context.Context, tested string) error {
	for _, exit := range []int{1, 0} {
		var r schema.ReportEventResult
		err := p.call(ctx, "report_event", map[string]any{
			"type": "command.finished", "data": map[string]any{"command": "make test", "exit_code": exit},
		}, &r, func() string { return fmt.Sprintf("exit_code %d acknowledged %v", exit, r.Acknowledged) })
		if err != nil {
			return err
		}
		matched := len(r.Acknowledged) == 1 && r.Acknowledged[0] == tested
		if err := must(matched == (exit == 0), "exit_code %d acknowledged %v", exit, r.Acknowledged); err != nil {
			return err
		}
	}
	return nil
}

// untilFailed dispatches until the ignored instruction has failed, and checks that this is after
// exactly 1 + max_retries sends, with a notice.
func (p *play) untilFailed(ctx context.Context, ignored string) error {
	sends := 1
	for {
		r, err := p.dispatch(ctx)
		if err != nil {
			return err
		}
		if len(r.Failed) > 0 {
			if err := must(r.Failed[0].InstructionID == ignored && len(r.Instructions) == 0, "the wrong instruction failed"); err != nil {
				return err
			}
			break
		}
		sends++
		if err := must(len(r.Instructions) == 1 && r.Instructions[0].Send == sends, "send %d did not come", sends); err != nil {
			return err
		}
	}
	if err := must(sends == 1+maxRetries, "it failed after %d sends, not %d", sends, 1+maxRetries); err != nil {
		return err
	}
	raw, err := p.child.await(ctx, "notice/posted", func(json.RawMessage) bool { return true })
	if err != nil {
		return err
	}
	var n schema.NoticeNote
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	p.Print("  %s %s\n      %s\n", p.Faint("⇠"), "notice/posted", n.Notice.Text)
	return must(n.Notice.SubjectID == ignored, "the notice is about %s", n.Notice.SubjectID)
}

package demo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"waybill/schema"
)

// crashAfter is how many answers have come when the child is killed; more calls are on their way.
const crashAfter = 150

// callers is how many calls are in flight at once.
const callers = 16

// crash kills the child while calls are on their way, starts another on the same store, and looks
// for every instruction that had been answered.
func (p *play) crash(ctx context.Context) error {
	answered := p.queueUntilKilled(ctx)
	p.Print("  %d calls were answered before the process was killed, others were on their way\n", len(answered))
	next, err := spawn(ctx, p.Options, p.workspace, p.state)
	if err != nil {
		return err
	}
	p.child = next
	found, err := p.inStore(ctx)
	if err != nil {
		return err
	}
	lost := 0
	for _, id := range answered {
		if !found[id] {
			lost++
		}
	}
	p.Print("  a new process opened the store: %d instructions of that session, %s\n",
		len(found), p.Good(fmt.Sprintf("%d answered and lost", lost)))
	return must(lost == 0 && len(answered) >= crashAfter, "%d of %d answered instructions were lost", lost, len(answered))
}

// queueUntilKilled queues instructions from several callers until the child dies, and gives the ids
// in the answers.
func (p *play) queueUntilKilled(ctx context.Context) []string {
	var mu sync.Mutex // guards answered
	var answered []string
	var count atomic.Int64
	enough := make(chan struct{}) // closed by the caller that gets the decisive answer
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for {
				var r schema.InstructionResult
				params := map[string]any{"content": "A note that must not get lost.", "session_id": "crash"}
				if p.child.conn.Call(ctx, "queue_instruction", params, &r) != nil {
					return // the child is gone
				}
				mu.Lock()
				answered = append(answered, r.Instruction.InstructionID)
				mu.Unlock()
				if count.Add(1) == crashAfter {
					close(enough)
				}
			}
		})
	}
	select {
	case <-enough:
	case <-ctx.Done():
	}
	_ = p.child.kill() // if it is dead already, what is missing will tell
	wg.Wait()
	return answered
}

// inStore gives the ids of all instructions of the session.
func (p *play) inStore(ctx context.Context) (map[string]bool, error) {
	found := map[string]bool{}
	params := map[string]any{"session_id": "crash", "limit": schema.MaxPage}
	for {
		var page schema.InstructionList
		if err := p.child.conn.Call(ctx, "list_instructions", params, &page); err != nil {
			return nil, err
		}
		for _, in := range page.Items {
			found[in.InstructionID] = true
		}
		if page.NextCursor == "" {
			return found, nil
		}
		params["cursor"] = page.NextCursor
	}
}

// completeOne marks the first pending leaf of the plan as completed on disk and gives its id.
func (p *play) completeOne(ctx context.Context) (string, error) {
	var plan schema.Plan
	if err := p.child.conn.Call(ctx, "get_plan", map[string]any{"plan": planName}, &plan); err != nil {
		return "", err
	}
	path := filepath.Join(p.workspace, planName)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, it := range plan.Items {
		if it.Status != "pending" || it.DerivedStatus != "" {
			continue
		}
		p.Print("  an editor marks item %s as done: %s\n", it.ItemID, it.Title)
		lines[it.Line-1] = bytes.Replace(lines[it.Line-1], []byte("[ ]"), []byte("[x]"), 1)
		return it.ItemID, renameOver(path, bytes.Join(lines, nil))
	}
	return "", fmt.Errorf("the example plan has no pending item")
}

func renameOver(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// tail gives the last lines of a text that say something.
func tail(text string, n int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-n):]
}

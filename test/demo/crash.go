package main

import (
	"context"
	"sync"

	"waybill/schema"
)

const (
	crashAfter = 150 // number of answers before waybill is killed
	callers    = 16  // number of concurrent calls
)

// crash kills waybill during calls, starts another on the same store, and checks that it has every answered
// instruction.
func crash(ctx context.Context, h *host) {
	answered := queueUntilKilled(ctx, h)
	h.print("  %d calls were answered before the process was killed, others were on their way\n", len(answered))
	h.spawn(ctx)
	found := map[string]bool{}
	for params, more := map[string]any{"session_id": "crash", "limit": schema.MaxPage}, true; more; {
		var page schema.InstructionList
		h.call(ctx, "list_instructions", params, &page)
		for _, in := range page.Items {
			found[in.InstructionID] = true
		}
		params["cursor"], more = page.NextCursor, page.NextCursor != ""
	}
	lost := 0
	for _, id := range answered {
		if !found[id] {
			lost++
		}
	}
	h.print("  a new process opened the store: %d instructions of that session, %d answered and lost\n", len(found), lost)
	must(lost == 0 && len(answered) >= crashAfter, "%d of %d answered instructions were lost", lost, len(answered))
}

// queueUntilKilled queues instructions from several callers until the process is killed, and returns the ids in the answers.
func queueUntilKilled(ctx context.Context, h *host) (answered []string) {
	ids := make(chan string) // closed below when all callers have ended
	var all sync.WaitGroup
	for range callers {
		all.Go(func() { // ends with the process
			params := map[string]any{"content": "A note that must not get lost.", "session_id": "crash"}
			for {
				var r schema.InstructionResult
				if h.conn.Call(ctx, "queue_instruction", params, &r) != nil {
					return
				}
				ids <- r.Instruction.InstructionID
			}
		})
	}
	go func() { // ends with the callers
		all.Wait()
		close(ids)
	}()
	for id := range ids {
		if answered = append(answered, id); len(answered) == crashAfter {
			h.kill()
		}
	}
	return answered
}

//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A claim waits in one process, and a task is created in another. The end of the wait would find the task, too:
// the test is that of the wake-up only if the attempt began long before it.
func TestClaimIsWokenByAnotherProcess(t *testing.T) {
	const wait = 25 * time.Second
	w := newWorld(t)
	waiting, creating := w.serve(t), w.serve(t)
	waiting.must("ping", `{}`, nil)
	for i := range 3 {
		began := time.Now()
		_, err := fmt.Fprintf(waiting.in, `{"jsonrpc":"2.0","id":%d,"method":"claim_task","params":{"worker":"w","wait_ms":%d}}`+"\n", 1000+i, wait.Milliseconds())
		require.NoError(t, err)
		waiting.parked()
		creating.must("create_task", `{"prompt":"Dig the bed."}`, nil)
		r, err := waiting.answer(1000 + i)
		require.NoError(t, err)
		require.Nil(t, r.Error)
		require.Contains(t, string(r.Result), `"prompt":"Dig the bed."`)
		require.Less(t, time.Since(began), wait, "the task was found at the end of the wait")
	}
}

// parked returns when what was called before waits: changes of one connection take effect in their order.
func (p *peer) parked() {
	p.t.Helper()
	p.must("queue_instruction", `{"content":"x"}`, nil)
}

// An event of one process is announced by another one, which nobody has asked for anything.
func TestEventsAreAnnouncedByOtherProcesses(t *testing.T) {
	w := newWorld(t)
	told, telling := w.serve(t), w.serve(t)
	told.must("initialize", `{}`, nil)
	told.must("queue_instruction", `{"content":"before"}`, nil)
	var queued struct {
		Instruction struct {
			ID string `json:"instruction_id"`
		} `json:"instruction"`
	}
	telling.must("queue_instruction", `{"content":"news"}`, &queued)
	for {
		line, err := told.out.ReadString('\n')
		require.NoError(t, err)
		if strings.Contains(line, `"method":"instruction/`) && strings.Contains(line, queued.Instruction.ID) {
			return
		}
	}
}

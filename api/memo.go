package api

import (
	"sync"

	"waybill/core"
	"waybill/engine"
	"waybill/ledger"
	"waybill/schema"
)

// mostCompiled bounds the prompts that are kept in memory, and largestCompiled their size in bytes. A host has a few
// runs under way, each in a few roles.
const (
	mostCompiled    = 64
	largestCompiled = 64 << 10
)

// A compiledFor is everything that the prompt of a worker depends on. There is none here of a plan that cannot be read
// or of a call that says something about compaction, and none of a reviewer, whose criteria are in files beside the plan.
type compiledFor struct {
	stamp         engine.Stamp
	taskPrompt    string
	since         string
	output, input int
	tokenizer     string
	blocks        bool
}

// A memo has prompts that were compiled, so that what was asked again is not compiled again. The zero value is empty.
type memo struct {
	mu  sync.Mutex // guards all
	all map[compiledFor]compilation
}

// A compilation is a prompt as it was compiled, and as it is answered. Nobody changes either.
type compilation struct {
	compiled ledger.Compiled
	answer   *schema.CompilePromptResult
}

// memorable gives the key of the prompt for a call, if it may be kept.
func memorable(view engine.RunView, role core.Role, l limits, p *schema.CompilePromptParams) (compiledFor, bool) {
	stamp, ok := view.Stamp()
	if !ok || role.Reviewer() || p.Preview || p.Compaction != nil {
		return compiledFor{}, false
	}
	return compiledFor{
		stamp: stamp, taskPrompt: p.TaskPrompt, since: p.Since, output: l.output, input: l.input,
		tokenizer: l.tokenizer, blocks: p.Blocks,
	}, true
}

func (m *memo) get(key compiledFor) (compilation, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.all[key]
	return c, ok
}

func (m *memo) put(key compiledFor, c compilation) {
	if len(c.compiled.Prompt)+len(key.taskPrompt)+len(key.since) > largestCompiled {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil || len(m.all) >= mostCompiled {
		m.all = make(map[compiledFor]compilation)
	}
	m.all[key] = c
}

package transfer

import (
	"fmt"

	"waybill/core"
	"waybill/core/proof"
	"waybill/core/run"
	"waybill/store"
)

type runRecord struct {
	ID          text                     `json:"id"`
	Plan        text                     `json:"plan"`
	ItemID      text                     `json:"item_id"`
	State       text                     `json:"state"`
	Halt        text                     `json:"halt,omitempty"`
	Policy      policy                   `json:"policy"`
	Counters    counters                 `json:"counters"`
	Standing    [core.Roles]run.Standing `json:"standing"`
	Naming      run.Naming               `json:"naming,omitempty"`
	Findings    [2]findings              `json:"findings"`
	Proof       proof.Proof              `json:"proof,omitzero"`
	PlanVersion int                      `json:"plan_version"`
	Frontier    text                     `json:"frontier,omitempty"`
	Revision    int64                    `json:"revision"`
	CreatedAt   core.Instant             `json:"created_at"`
	UpdatedAt   core.Instant             `json:"updated_at"`
}

// policy has the fields of run.Policy.
type policy struct {
	InvalidRetries      int          `json:"invalid_retries"`
	ReviewerFreshRuns   int          `json:"reviewer_fresh_runs"`
	WorkerFailures      int          `json:"worker_failures"`
	ReviewRejections    int          `json:"review_rejections"`
	StalledThreshold    int          `json:"stalled_threshold"`
	ReviewLoopThreshold int          `json:"review_loop_threshold"`
	Reviewers           core.RoleSet `json:"reviewers"`

	ResultForm run.ResultForm `json:"result_form,omitempty"`
	RequireKey bool           `json:"require_key,omitempty"`

	RequireChecks proof.Names `json:"-"` // those of the proof
	CheckFailures int         `json:"check_failures"`
}

// counters are core.Counters: the fields are the same.
type counters struct {
	InvalidResults   [core.Roles]int `json:"invalid_results"`
	WorkerFailures   int             `json:"worker_failures"`
	ReviewRejections int             `json:"review_rejections"`
	Stalled          int             `json:"stalled"`
	ReviewLoop       int             `json:"review_loop"`
	CheckFailures    int             `json:"check_failures"`
}

type findings struct {
	Last   text `json:"last,omitempty"`
	Before text `json:"before,omitempty"`
	Same   int  `json:"same,omitempty"`
	Swaps  int  `json:"swaps,omitempty"`
}

func runOf(r run.Run) *runRecord {
	to := &runRecord{
		ID: text(r.ID), Plan: text(r.Plan), ItemID: text(r.ItemID), State: text(r.State), Halt: text(r.Halt),
		Policy: policy(r.Policy), Counters: counters(r.Counters), Standing: r.Standing, Naming: r.Naming,
		Proof: r.Proof, PlanVersion: r.PlanVersion, Frontier: text(r.Frontier), Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	for i, f := range r.Findings {
		to.Findings[i] = findings{text(f.Last), text(f.Before), f.Same, f.Swaps}
	}
	return to
}

func (r *runRecord) kind() string { return "run" }
func (r *runRecord) name() string { return "run " + string(r.ID) }

// key is empty: runs are in the order of their beginning, and the store finds a duplicate id.
func (r *runRecord) key() key { return key{} }

func (r *runRecord) put(to *filler) error {
	if _, twice, err := to.tx.Run(string(r.ID)); err != nil || twice {
		return orTwice(err)
	}
	value := run.Run{
		ID: string(r.ID), Plan: string(r.Plan), ItemID: string(r.ItemID), State: run.State(r.State), Halt: run.Halt(r.Halt),
		Policy: run.Policy(r.Policy), Counters: run.Counters(r.Counters), Standing: r.Standing, Naming: r.Naming,
		Proof: r.Proof, PlanVersion: r.PlanVersion, Frontier: string(r.Frontier), Revision: r.Revision, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	value.Policy.RequireChecks = r.Proof.Required
	for i, f := range r.Findings {
		value.Findings[i] = run.Findings{Last: string(f.Last), Before: string(f.Before), Same: f.Same, Swaps: f.Swaps}
	}
	to.run = string(r.ID)
	return to.tx.PutRun(value)
}

type fact struct {
	RunID text `json:"run_id"`
	Key   text `json:"key"`
	Value text `json:"value"`
}

func (f *fact) kind() string { return "fact" }
func (f *fact) name() string { return "fact " + string(f.Key) + " of run " + string(f.RunID) }
func (f *fact) key() key     { return key{text: string(f.Key)} }

// put collects the facts of a run, because a store takes all of them at once.
func (f *fact) put(to *filler) error {
	to.facts = append(to.facts, store.Fact{Key: string(f.Key), Value: string(f.Value)})
	return to.ofRun(f.RunID)
}

type tally struct {
	RunID text  `json:"run_id"`
	Name  text  `json:"name"`
	N     int64 `json:"n"`
}

func (t *tally) kind() string { return "tally" }
func (t *tally) name() string { return "tally " + string(t.Name) + " of run " + string(t.RunID) }
func (t *tally) key() key     { return key{text: string(t.Name)} }

func (t *tally) put(to *filler) error {
	if err := to.ofRun(t.RunID); err != nil {
		return err
	}
	return to.tx.AddTallies(to.run, []store.Tally{{Name: string(t.Name), N: t.N}})
}

type prompt struct {
	RunID   text         `json:"run_id"`
	Role    text         `json:"role"`
	At      core.Instant `json:"at"`
	Version text         `json:"version"`
	Cursor  text         `json:"cursor"`
	Tokens  int64        `json:"tokens"`
	Text    text         `json:"text,omitempty"`
}

func promptOf(p store.Prompt) *prompt {
	return &prompt{text(p.RunID), text(p.Role.String()), p.At, text(p.Version), text(p.Cursor), p.Tokens, text(p.Text)}
}

func (p *prompt) kind() string { return "prompt" }
func (p *prompt) name() string { return "prompt for " + string(p.Role) + " of run " + string(p.RunID) }

func (p *prompt) key() key {
	role, _ := core.ParseRole(string(p.Role))
	return key{number: int64(role)}
}

func (p *prompt) put(to *filler) error {
	if err := to.ofRun(p.RunID); err != nil {
		return err
	}
	role, ok := core.ParseRole(string(p.Role))
	if !ok || role.String() != string(p.Role) {
		return fmt.Errorf("%q is no role", p.Role)
	}
	return to.tx.PutPrompt(store.Prompt{
		RunID: to.run, Role: role, At: p.At, Version: string(p.Version), Cursor: string(p.Cursor), Tokens: p.Tokens, Text: string(p.Text),
	})
}

//go:build unix

package linearizability_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"waybill/test/linearizability"
)

const (
	sessions   = 4
	maxRetries = 2
	tries      = 2
)

// A client makes calls to its process, one after the other, and reads the event log in between. A call that was lost
// with a killed process is repeated at the next one with the same key, or its answer stays unknown.
type client struct {
	*process
	number int
	chance *rand.Rand
	clock  func() int64
	done   func() // after each call

	calls  []linearizability.Call
	events []linearizability.Event
	cursor string
	keys   int

	letters []knownInstruction      // that it knows
	claims  []linearizability.Claim // that it has not reported about
	ids     map[string]string       // of tasks and instructions, by name
	stale   []linearizability.Claim // whose attempt it has ended with an error
}

type knownInstruction struct{ name, id string }

// run makes that many calls.
func (c *client) run(n int) error {
	if err := c.start(); err != nil {
		return err
	}
	for range n {
		if err := c.act(); err != nil {
			return fmt.Errorf("client %d: %w", c.number, err)
		}
		c.done()
	}
	return nil
}

func (c *client) act() error {
	switch n := c.chance.IntN(100); {
	case n < 20:
		return c.queue()
	case n < 35:
		return c.pass()
	case n < 50:
		return c.ack()
	case n < 62:
		return c.create()
	case n < 78:
		return c.claim()
	case n < 92:
		return c.finish()
	}
	return c.read(true)
}

// name returns a name that nothing else has.
func (c *client) name(kind string) string {
	c.keys++
	return kind + "-" + strconv.Itoa(c.number) + "-" + strconv.Itoa(c.keys)
}

// do makes a changing call until it is answered, and records it. Of those that were on their way at a kill it gives
// up a third. lost is what is recorded then.
func (c *client) do(method string, params map[string]any, v any, lost linearizability.Act, act func() linearizability.Act) error {
	params["idempotency_key"] = c.name(method)
	call := linearizability.Call{Client: c.number, Began: c.clock()}
	for {
		err := c.call(method, params, v)
		if errors.Is(err, errGone) {
			if err := c.replace(); err != nil {
				return err
			}
			if call.Lost = c.chance.IntN(3) == 0; !call.Lost {
				continue
			}
			call.Act = lost
		} else if again(err) {
			continue
		} else if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		} else {
			call.Act = act()
		}
		call.Ended = c.clock()
		c.calls = append(c.calls, call)
		return nil
	}
}

// again reports whether the same call may succeed later.
func again(err error) bool {
	var r *refusal
	return errors.As(err, &r) && r.Data.Retryable
}

// replace starts another process in the place of the one that was killed.
func (c *client) replace() error {
	if err := c.wait(); err != nil {
		return err
	}
	return c.start()
}

func (c *client) session() string { return "s" + strconv.Itoa(c.chance.IntN(sessions)) }

func (c *client) queue() error {
	var r struct {
		ID string `json:"instruction_id"`
	}
	act := linearizability.Queue{Name: c.name("instruction"), Session: c.session(), SendsMax: 1 + maxRetries}
	params := map[string]any{"session_id": act.Session, "content": act.Name, "max_retries": maxRetries}
	return c.do("queue_instruction_with_ack", params, &r, act, func() linearizability.Act {
		c.letters = append(c.letters, knownInstruction{act.Name, r.ID})
		return act
	})
}

func (c *client) pass() error {
	var r struct {
		Instructions []struct {
			ID      string `json:"instruction_id"`
			Content string `json:"content"`
			Send    int    `json:"send"`
		} `json:"instructions"`
		Failed []struct {
			Content string `json:"content"`
		} `json:"failed"`
		Remaining int `json:"remaining"`
	}
	act := linearizability.Pass{Session: c.session(), Sent: map[string]int{}, Failed: map[string]bool{}}
	// A pass that is cut goes on in the next call, whoever makes it; these are whole.
	return c.do("dispatch_instructions", map[string]any{"session_id": act.Session, "limit": 500}, &r, act, func() linearizability.Act {
		for _, in := range r.Instructions {
			act.Sent[in.Content] = in.Send
			c.letters = append(c.letters, knownInstruction{in.Content, in.ID})
		}
		for _, in := range r.Failed {
			act.Failed[in.Content] = true
		}
		act.Whole = r.Remaining == 0
		return act
	})
}

func (c *client) ack() error {
	if len(c.letters) == 0 {
		return c.queue()
	}
	var r struct {
		Instruction struct {
			State string `json:"state"`
		} `json:"instruction"`
		Already bool `json:"already"`
	}
	l := c.letters[c.chance.IntN(len(c.letters))]
	return c.do("acknowledge", map[string]any{"instruction_id": l.id}, &r, linearizability.Ack{Name: l.name}, func() linearizability.Act {
		return linearizability.Ack{Name: l.name, State: r.Instruction.State, Already: r.Already}
	})
}

func (c *client) create() error {
	act := linearizability.Create{Name: c.name("task"), Tries: tries}
	// Models of its own: those that many tasks share are left alone for a while when they fail often.
	models := []map[string]any{{"provider_id": "a", "model_id": act.Name}, {"provider_id": "b", "model_id": act.Name}}
	return c.do("create_task", map[string]any{"prompt": act.Name, "models": models}, &struct{}{}, act, func() linearizability.Act { return act })
}

func (c *client) claim() error {
	var r struct {
		Claim *struct {
			Task struct {
				ID     string `json:"task_id"`
				Prompt string `json:"prompt"`
			} `json:"task"`
			Attempt struct {
				Number int `json:"attempt_number"`
			} `json:"attempt"`
			Lease struct {
				Token string `json:"token"`
			} `json:"lease"`
		} `json:"claim"`
	}
	params := map[string]any{"worker": "w", "lease_ms": time.Hour.Milliseconds(), "wait_ms": c.chance.IntN(3) * 10}
	return c.do("claim_task", params, &r, linearizability.Claim{}, func() linearizability.Act {
		if r.Claim == nil {
			return linearizability.Claim{}
		}
		got := linearizability.Claim{Name: r.Claim.Task.Prompt, Attempt: r.Claim.Attempt.Number, Token: r.Claim.Lease.Token}
		c.ids[got.Name] = r.Claim.Task.ID
		c.claims = append(c.claims, got)
		return got
	})
}

// finish reports about a claim, or once more, and too late, about one that has ended with an error.
func (c *client) finish() error {
	if len(c.stale) > 0 && c.chance.IntN(4) == 0 {
		return c.report(c.stale[c.chance.IntN(len(c.stale))], true)
	}
	if len(c.claims) == 0 {
		return c.claim()
	}
	claim := c.claims[0]
	c.claims = c.claims[1:]
	return c.report(claim, c.chance.IntN(3) > 0)
}

func (c *client) report(claim linearizability.Claim, completed bool) error {
	var r struct {
		Applied bool `json:"applied"`
		Task    struct {
			Status string `json:"status"`
		} `json:"task"`
	}
	params := map[string]any{"task_id": c.ids[claim.Name], "lease_token": claim.Token, "status": "completed", "output": "done"}
	if !completed {
		delete(params, "output")
		params["status"], params["error"] = "error", map[string]any{"message": "no", "class": "provider"}
	}
	act := linearizability.Finish{Name: claim.Name, Token: claim.Token, Completed: completed}
	return c.do("finish_attempt", params, &r, act, func() linearizability.Act {
		act.Applied, act.Status = r.Applied, r.Task.Status
		if !completed {
			c.stale = append(c.stale, claim)
		}
		return act
	})
}

// read reads on in the event log, a page or to its end.
func (c *client) read(onePage bool) error {
	for {
		var r struct {
			Events []json.RawMessage `json:"events"`
			Cursor string            `json:"cursor"`
			More   bool              `json:"more"`
		}
		err := c.call("events_since", map[string]any{"cursor": c.cursor, "limit": 500}, &r)
		if errors.Is(err, errGone) {
			err = c.replace()
			r.More = true
		} else if again(err) {
			continue
		}
		if err != nil {
			return err
		}
		for _, text := range r.Events {
			var ev struct {
				Seq int64 `json:"seq"`
			}
			if err := json.Unmarshal(text, &ev); err != nil {
				return err
			}
			c.events = append(c.events, linearizability.Event{Seq: ev.Seq, Text: string(text)})
		}
		if r.Cursor != "" {
			c.cursor = r.Cursor
		}
		if onePage || !r.More {
			return nil
		}
	}
}

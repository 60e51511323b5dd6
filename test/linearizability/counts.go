package linearizability

import (
	"errors"
	"fmt"
)

// counts checks the invariants of every order, without a model, so that a fault in a model cannot hide it.
func (h History) counts() error {
	var c census
	c.sends, c.max, c.claims = map[send]int{}, map[string]int{}, map[try]int{}
	c.acked, c.seen, c.lives = map[string]bool{}, map[string]string{}, map[string]string{}
	for _, call := range h.Calls {
		if !call.Lost {
			c.count(call.Act)
		} else if act, ok := call.Act.(Queue); ok {
			c.max[act.Name] = act.SendsMax
		}
	}
	return c.verdict()
}

type (
	send struct {
		name   string
		number int
	}
	try struct {
		name    string
		attempt int
	}
)

// A census counts the answers.
type census struct {
	sends  map[send]int
	max    map[string]int // largest send number, by instruction
	claims map[try]int
	acked  map[string]bool   // instructions that a client acknowledged
	seen   map[string]string // states in answers, by instruction
	lives  map[string]string // token of the completed attempt, by task
	wrongs []error
}

func (c *census) count(act Act) {
	switch act := act.(type) {
	case Queue:
		c.max[act.Name] = act.SendsMax
	case Pass:
		for name, number := range act.Sent {
			c.sends[send{name, number}]++
		}
	case Ack:
		c.acked[act.Name] = c.acked[act.Name] || act.State == "acknowledged"
	case Look:
		c.seen[act.Name] = act.State
	case Claim:
		if act.Name != "" {
			c.claims[try{act.Name, act.Attempt}]++
		}
	case Finish:
		c.finish(act)
	case Create, LookTask:
	}
}

func (c *census) finish(act Finish) {
	if !act.Completed || !act.Applied {
		return
	}
	if before, twice := c.lives[act.Name]; twice && before != act.Token {
		c.wrongs = append(c.wrongs, fmt.Errorf("%s was completed by two attempts", act.Name))
	}
	c.lives[act.Name] = act.Token
}

func (c *census) verdict() error {
	for s, n := range c.sends {
		if most, known := c.max[s.name]; !known || s.number < 1 || s.number > most {
			c.wrongs = append(c.wrongs, fmt.Errorf("%s: send %d is one too many", s.name, s.number))
		}
		if n > 1 {
			c.wrongs = append(c.wrongs, fmt.Errorf("%s: send %d was made %d times", s.name, s.number, n))
		}
	}
	for t, n := range c.claims {
		if n > 1 {
			c.wrongs = append(c.wrongs, fmt.Errorf("%s: attempt %d was claimed %d times", t.name, t.attempt, n))
		}
	}
	for name, acked := range c.acked {
		if state, read := c.seen[name]; acked && read && state != "acknowledged" {
			c.wrongs = append(c.wrongs, fmt.Errorf("%s: an acknowledgement is lost, it is %q", name, state))
		}
	}
	return errors.Join(c.wrongs...)
}

// readers checks that each reader has read 1, 2, 3, … and the same records.
func (h History) readers() error {
	var all []error
	for i, events := range h.Readers {
		for n, ev := range events {
			if ev.Seq != int64(n)+1 {
				all = append(all, fmt.Errorf("reader %d: event %d came where %d was due", i, ev.Seq, n+1))
				break
			}
			if first := h.Readers[0]; n >= len(first) || first[n].Text != ev.Text {
				all = append(all, fmt.Errorf("reader %d: event %d is another one than that of reader 0", i, ev.Seq))
				break
			}
		}
		if len(events) < len(h.Readers[0]) {
			all = append(all, fmt.Errorf("reader %d: %d events of %d were read", i, len(events), len(h.Readers[0])))
		}
	}
	return errors.Join(all...)
}

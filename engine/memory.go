package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"waybill/core"
	"waybill/core/verdict"
	"waybill/ledger"
)

// Beside its ledger, a run remembers among its facts what was wrong with the last result of each role, so that
// the retry prompt can be given by whoever asks what has to be done next, also after a crash; and which
// attempts have given a result, so that none is counted twice, and none that is lost afterwards.

const (
	unreadKey = "ledger.task.invalid_result." // the name of the role follows
	takenKey  = "ledger.task.taken_attempts"
)

// maxTaken bounds the results that are remembered; whoever is late is late by a few.
const maxTaken = 64

// maxPrompt bounds the prompt that is remembered with an invalid result. A longer one is compiled anew.
const maxPrompt = 256 << 10

// An Unread is a result that could not be read: what was wrong with it, and what the agent was given, as far
// as that was said. The zero Unread is none.
type Unread struct {
	Problems []verdict.Problem
	Prompt   string
}

// A memory is what a run remembers.
type memory struct {
	unread [core.Roles]Unread
	taken  []gave // the newest last
}

// A gave is an attempt and a digest of a result that it gave. An attempt that is not finished may give another.
type gave struct {
	Attempt string `json:"attempt_id"`
	Digest  string `json:"digest"`
}

// The JSON forms.
type (
	unreadFact struct {
		Problems []problemFact `json:"errors"`
		Prompt   string        `json:"prompt,omitempty"`
	}
	problemFact struct {
		Fault    verdict.Fault `json:"code"`
		Field    string        `json:"field"`
		Expected string        `json:"expected,omitempty"`
		Found    string        `json:"found,omitempty"`
		Line     int           `json:"line,omitempty"`
		Message  string        `json:"message"`
	}
)

// recalled reads it. What cannot be read is not remembered: nothing that decides depends on it alone.
func recalled(facts []ledger.Fact) (m memory) {
	for _, f := range facts {
		if f.Key == takenKey {
			_ = json.Unmarshal([]byte(f.Value), &m.taken)
			continue
		}
		name, ours := strings.CutPrefix(f.Key, unreadKey)
		role, known := core.ParseRole(name)
		var stored unreadFact
		if !ours || !known || json.Unmarshal([]byte(f.Value), &stored) != nil {
			continue
		}
		u := &m.unread[role-1]
		u.Prompt = stored.Prompt
		for _, p := range stored.Problems {
			u.Problems = append(u.Problems, verdict.Problem(p))
		}
	}
	return m
}

// has reports whether an attempt has given a result, whichever.
func (m memory) has(attempt string) bool {
	return slices.ContainsFunc(m.taken, func(g gave) bool { return g.Attempt == attempt })
}

// knows reports whether an attempt has given this very result.
func (m memory) knows(attempt, output string) bool {
	return attempt != "" && slices.Contains(m.taken, gave{attempt, digestOf(output)})
}

// took remembers that an attempt has given a result.
func (m memory) took(attempt, output string) memory {
	if attempt != "" {
		m.taken = append(slices.Clone(m.taken), gave{attempt, digestOf(output)})
		m.taken = m.taken[max(0, len(m.taken)-maxTaken):]
	}
	return m
}

func digestOf(output string) string {
	sum := sha256.Sum256([]byte(output))
	return hex.EncodeToString(sum[:8])
}

// heard remembers what was wrong with a result, if anything was.
func (m memory) heard(role core.Role, problems []verdict.Problem, prompt string) memory {
	m.unread[role-1] = Unread{}
	if len(problems) > 0 {
		if len(prompt) > maxPrompt {
			prompt = ""
		}
		m.unread[role-1] = Unread{problems, prompt}
	}
	return m
}

// among gives facts with these in place of those that were there.
func (m memory) among(facts []ledger.Fact) ([]ledger.Fact, error) {
	facts = slices.DeleteFunc(facts, func(f ledger.Fact) bool { return f.Key == takenKey || strings.HasPrefix(f.Key, unreadKey) })
	add := func(key string, value any) error {
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("encode fact %s: %w", key, err)
		}
		facts = append(facts, ledger.Fact{Key: key, Value: string(text)})
		return nil
	}
	for i, u := range m.unread {
		if len(u.Problems) == 0 {
			continue
		}
		stored := unreadFact{Prompt: u.Prompt}
		for _, p := range u.Problems {
			stored.Problems = append(stored.Problems, problemFact(p))
		}
		if err := add(unreadKey+core.Role(i+1).String(), stored); err != nil {
			return nil, err
		}
	}
	if len(m.taken) == 0 {
		return facts, nil
	}
	return facts, add(takenKey, m.taken)
}

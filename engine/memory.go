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

// Besides its ledger, a run stores facts about results. The problems of each role's last result let the retry prompt
// survive a crash. The attempts with a result make each result count once.

const (
	unreadKey = "ledger.task.invalid_result." // the name of the role follows
	takenKey  = "ledger.task.taken_attempts"
	// acceptedKey holds the rounds of the roles and the accepted texts.
	acceptedKey = "ledger.task.accepted_results"
)

// maxTaken bounds the stored attempts and accepted texts. Late results are rarely older.
const maxTaken = 64

// maxPrompt bounds the prompt that is stored with an invalid result. A longer one is compiled again.
const maxPrompt = 256 << 10

// An Unread describes a result that could not be read: its problems, and the prompt that the agent had, if known. The
// zero value means no such result.
type Unread struct {
	Problems []verdict.Problem
	Prompt   string
}

// A memory is the stored facts of a run about its results.
type memory struct {
	unread   [core.Roles]Unread
	taken    []takenResult // the newest last
	accepted accepted
}

// accepted counts the valid results of each role and holds digests of their texts, the newest last.
type accepted struct {
	Counts [core.Roles]int `json:"counts"`
	Texts  []acceptedText  `json:"texts"`
}

type acceptedText struct {
	Role   string `json:"role"`
	Digest string `json:"digest"`
}

// A takenResult is an attempt and the digest of its result. An unfinished attempt may have several.
type takenResult struct {
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

// parseMemory reads the memory of a run from its facts. An unreadable fact is a *ledger.FactError, because without it
// every role would start in its first round again.
func parseMemory(facts []ledger.Fact) (m memory, err error) {
	for _, f := range facts {
		name, unread := strings.CutPrefix(f.Key, unreadKey)
		role, known := core.ParseRole(name)
		switch {
		case f.Key == takenKey:
			err = json.Unmarshal([]byte(f.Value), &m.taken)
		case f.Key == acceptedKey:
			err = json.Unmarshal([]byte(f.Value), &m.accepted)
		case unread && known:
			m.unread[role-1], err = unreadFrom(f.Value)
		}
		if err != nil {
			return memory{}, &ledger.FactError{Key: f.Key, Err: err}
		}
	}
	return m, nil
}

func unreadFrom(value string) (u Unread, err error) {
	var stored unreadFact
	if err := json.Unmarshal([]byte(value), &stored); err != nil {
		return u, err
	}
	u.Prompt = stored.Prompt
	for _, p := range stored.Problems {
		u.Problems = append(u.Problems, verdict.Problem(p))
	}
	return u, nil
}

// hasAttempt reports whether an attempt has any result.
func (m memory) hasAttempt(attempt string) bool {
	return slices.ContainsFunc(m.taken, func(g takenResult) bool { return g.Attempt == attempt })
}

// hasResult reports whether an attempt has this very result.
func (m memory) hasResult(attempt, output string) bool {
	return attempt != "" && slices.Contains(m.taken, takenResult{attempt, digestOf(output)})
}

// withResult adds a result of an attempt.
func (m memory) withResult(attempt, output string) memory {
	if attempt != "" {
		m.taken = append(slices.Clone(m.taken), takenResult{attempt, digestOf(output)})
		m.taken = m.taken[max(0, len(m.taken)-maxTaken):]
	}
	return m
}

// withAccepted adds an accepted text of a role. The next prompt of the role has another key.
func (m memory) withAccepted(role core.Role, digest string) memory {
	m.accepted.Counts[role-1]++
	m.accepted.Texts = append(slices.Clone(m.accepted.Texts), acceptedText{role.String(), digest})
	m.accepted.forget()
	return m
}

// acceptedAs returns the role whose result a text was accepted as, preferably a role other than the given one.
func (m memory) acceptedAs(role core.Role, digest string) (by core.Role, ok bool) {
	for _, text := range m.accepted.Texts {
		if text.Digest != digest {
			continue
		}
		if by, ok = core.ParseRole(text.Role); ok && by != role {
			return by, true
		}
	}
	return by, ok
}

func digestOf(output string) string {
	sum := sha256.Sum256([]byte(output))
	return hex.EncodeToString(sum[:8])
}

// withProblems replaces the problems of a role's last result.
func (m memory) withProblems(role core.Role, problems []verdict.Problem, prompt string) memory {
	m.unread[role-1] = Unread{}
	if len(problems) > 0 {
		if len(prompt) > maxPrompt {
			prompt = ""
		}
		m.unread[role-1] = Unread{problems, prompt}
	}
	return m
}

// mergeInto returns the facts with those of the memory replaced.
func (m memory) mergeInto(facts []ledger.Fact) ([]ledger.Fact, error) {
	facts = slices.DeleteFunc(facts, func(f ledger.Fact) bool {
		return f.Key == takenKey || f.Key == acceptedKey || strings.HasPrefix(f.Key, unreadKey)
	})
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
	if len(m.accepted.Texts) > 0 {
		if err := add(acceptedKey, m.accepted); err != nil {
			return nil, err
		}
	}
	if len(m.taken) == 0 {
		return facts, nil
	}
	return facts, add(takenKey, m.taken)
}

// forget drops the oldest texts beyond maxTaken, but never the newest of a role.
func (a *accepted) forget() {
	for i := 0; len(a.Texts) > maxTaken; {
		if slices.ContainsFunc(a.Texts[i+1:], func(later acceptedText) bool { return later.Role == a.Texts[i].Role }) {
			a.Texts = slices.Delete(a.Texts, i, i+1)
		} else {
			i++
		}
	}
}

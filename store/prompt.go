package store

import (
	"fmt"

	"waybill/core"
)

// MaxPromptText is the most bytes of a Prompt.Text, and of a Prompt.Cursor, that a store keeps.
const MaxPromptText = 1 << 20

// A Prompt is the last prompt compiled for a role of a run. It only serves to show the changes since then.
type Prompt struct {
	RunID   string
	Role    core.Role
	At      core.Instant
	Version string // of the fixed parts of prompts, at most 64 bytes
	Cursor  string // of its packet
	Tokens  int64  // its size, 0 or more
	// Text is the prompt, or "" if it was too large to store.
	Text string
}

const longestPromptVersion = 64

// Check returns the reason why no store accepts the prompt, or nil.
func (p Prompt) Check() error {
	if p.Role < core.Worker || p.Role > core.Roles {
		return fmt.Errorf("a prompt is for a role, and %v is none", p.Role)
	}
	for _, field := range []struct {
		name          string
		length, limit int
	}{
		{"version", len(p.Version), longestPromptVersion},
		{"cursor", len(p.Cursor), MaxPromptText},
		{"text", len(p.Text), MaxPromptText},
	} {
		if field.length > field.limit {
			return fmt.Errorf("the %s of the prompt for %v has %d bytes, and %d is the most that is kept",
				field.name, p.Role, field.length, field.limit)
		}
	}
	if p.Tokens < 0 {
		return fmt.Errorf("the prompt for %v has %d tokens, and none has less than 0", p.Role, p.Tokens)
	}
	return nil
}

package prompt_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/ledger"
	"waybill/prompt"
)

// ask compiles a prompt for a role. Its agent knows what it knew after any packet that reached it, mostly the last
// one, and the new one may be cut, or get lost.
func (l *life) ask(role ledger.Role) {
	in, heard := l.in, l.heard[role]
	in.Role, in.MaxInputTokens = role, 1<<20
	from := heard[len(heard)-1]
	if l.pick(4) == 0 {
		from = heard[l.pick(len(heard))]
	}
	in.Since = from.cursor
	if l.pick(8) == 0 {
		from = l.stranger(&in)
	}
	c := compile(l.t, in)
	want := l.whole(in, &c)
	l.requireNews(from.facts, want, in, &c)
	next := hearing{c.Packet.Cursor, fold(from.facts, c.Packet)}
	require.Equal(l.t, want, next.facts)
	if l.pick(3) == 0 {
		var fits bool
		if next, fits = l.cut(in, from, want, c.TokensAfter); !fits {
			return
		}
	}
	if l.pick(3) == 0 {
		return
	}
	l.heard[role] = append(heard, next)
}

// stranger names the cursor of another role, by which nobody knows anything.
func (l *life) stranger(in *prompt.CompileInput) hearing {
	other := roles[(slices.Index(roles, in.Role)+1)%len(roles)]
	theirs := l.heard[other]
	in.Since = theirs[len(theirs)-1].cursor
	if in.Since != "" {
		require.Equal(l.t, ledger.FullOtherPrompt, compile(l.t, *in).Packet.WhyFull)
	}
	return hearing{}
}

// whole returns the facts as they are stored, but for the files that no packet names, and wants them in the full packet.
func (l *life) whole(in prompt.CompileInput, c *prompt.Compiled) map[string]string {
	since := in.Since
	in.Since = ""
	full := compile(l.t, in).Packet
	require.Equal(l.t, full.Cursor, c.Packet.Cursor, "where the agent comes from does not matter")
	if c.Packet.Mode == ledger.PacketDelta {
		require.Equal(l.t, since, c.Packet.Base)
	}
	if more := len(in.Task.FilesChanged) - 50; more > 0 {
		in.Task.FilesChanged = in.Task.FilesChanged[more:]
	}
	want := told(&in)
	require.Equal(l.t, want, fold(nil, full))
	return want
}

// requireNews wants in a delta nothing that the agent knows, unless it is in every packet, and nothing removed that it
// does not know.
func (l *life) requireNews(knew, want map[string]string, in prompt.CompileInput, c *prompt.Compiled) {
	if c.Packet.Mode == ledger.PacketFull {
		require.Empty(l.t, c.Packet.Removed)
		return
	}
	always := inSections(&in)
	for _, f := range c.Packet.Facts {
		require.True(l.t, always[f.Key] || knew[f.Key] != f.Value, "%s is known", f.Key)
	}
	for key := range knew {
		_, still := want[key]
		require.NotEqual(l.t, still, slices.Contains(c.Packet.Removed, key), key)
	}
	for _, key := range c.Packet.Removed {
		require.Contains(l.t, knew, key)
	}
}

// cut compiles the prompt again for a budget that is too small for it. What the agent does not know then was cut, and
// the packet after it makes up for that.
func (l *life) cut(in prompt.CompileInput, from hearing, want map[string]string, size int) (hearing, bool) {
	const usualOutput = 1200
	in.MaxInputTokens = usualOutput + size*(99-8*l.pick(4))/100
	c, err := prompt.Compile(in)
	if err != nil {
		var overflow *prompt.OverflowError
		require.True(l.t, errors.As(err, &overflow))
		return hearing{}, false
	}
	next := hearing{c.Packet.Cursor, fold(from.facts, c.Packet)}
	for key, value := range next.facts {
		require.Contains(l.t, want, key, "%s is no fact any more", key)
		if want[key] != value {
			require.Contains(l.t, c.Packet.Facts, ledger.Fact{Key: key, Value: value}, "an old value of %s", key)
		}
	}
	for key, value := range want {
		if next.facts[key] != value {
			require.Contains(l.t, c.Cut, key)
		}
	}
	in.Since, in.MaxInputTokens = next.cursor, 1<<20
	require.Equal(l.t, want, fold(next.facts, compile(l.t, in).Packet), "what was cut comes with the next packet")
	return next, true
}

// fold returns what an agent knows that knew facts and gets a packet.
func fold(facts map[string]string, p ledger.Packet) map[string]string {
	next := map[string]string{}
	if p.Mode == ledger.PacketDelta {
		for k, v := range facts {
			next[k] = v
		}
	}
	for _, f := range p.Facts {
		next[f.Key] = f.Value
	}
	for _, k := range p.Removed {
		delete(next, k)
	}
	return next
}

// lifeOf returns the choices of a life by its number.
func lifeOf(seed int) (choices []byte) {
	for i := range 16 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d.%d", seed, i))
		choices = append(choices, sum[:]...)
	}
	return choices
}

// Everything that a run goes through happens, to all roles. Whichever packets get lost or are cut, an agent knows after
// a packet what the full one says.
func TestNoChangeOfARunGoesUnnoticedInDeltas(t *testing.T) {
	for seed := range 40 {
		newLife(t, lifeOf(seed)).live()
	}
}

func FuzzDeltas(f *testing.F) {
	for seed := range 3 {
		f.Add(lifeOf(seed))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		newLife(t, choices[:min(len(choices), len(lifeOf(0)))]).live()
	})
}

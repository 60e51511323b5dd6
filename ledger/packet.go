package ledger

// Packet is the set of ledger facts in a prompt, after the stable prefix.
type Packet struct {
	// Cursor is opaque; packets of one run and role with equal facts have equal cursors.
	Cursor string
	// Base is the cursor that a delta builds on, "" in a full packet.
	Base string
	Mode PacketMode
	// WhyFull says why the packet is not a delta.
	WhyFull FullReason
	// Facts are in a fixed order and never empty.
	Facts []Fact
	// Removed lists keys of Base that the agent must no longer rely on: the fact has no value any more, or it changed
	// and is omitted here.
	Removed []string
}

// PacketMode says whether a packet is complete. It is a wire word.
type PacketMode string

const (
	// PacketFull means that the packet has all facts.
	PacketFull PacketMode = "full"
	// PacketDelta means that the packet has the changed facts, and the few facts that are in every packet.
	PacketDelta PacketMode = "delta"
)

// FullReason says why a packet is not a delta. It is a wire word.
type FullReason string

const (
	// FullNoCursor means that the caller passed no cursor.
	FullNoCursor FullReason = "no_cursor"
	// FullUnknownCursor means that this version cannot read the cursor.
	FullUnknownCursor FullReason = "unknown_cursor"
	// FullOtherRun means that the cursor belongs to another run.
	FullOtherRun FullReason = "other_run"
	// FullOtherPrompt means that the cursor belongs to the prompt of another role, or to an older version of this
	// prompt.
	FullOtherPrompt FullReason = "other_prompt"
)

// Value returns the value of a fact, "" if the packet lacks it.
func (p *Packet) Value(key string) string {
	for i := range p.Facts {
		if p.Facts[i].Key == key {
			return p.Facts[i].Value
		}
	}
	return ""
}

package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Packet is the set of ledger facts behind a prompt.
type Packet struct {
	// Cursor is opaque; packets with equal facts have equal cursors.
	Cursor string
	// Mode is "full".
	Mode string
	// WhyFull says why the packet is not a delta.
	WhyFull string
	// Facts are in a fixed order, those without a value left out.
	Facts []Fact
	// Removed names keys that an earlier packet had and this one has not.
	Removed []string
}

// fullPacket holds all facts an agent may need. The fingerprint is not among
// them: a file that was only touched gives the same packet.
func fullPacket(in *CompileInput) Packet {
	facts := appendTaskFacts(planFacts(&in.Progress, 11), &in.Task)
	kept := facts[:0]
	for _, f := range facts {
		if f.Value != "" && f.Value != "[]" {
			kept = append(kept, f)
		}
	}
	return Packet{Cursor: cursorOf(kept), Mode: "full", WhyFull: "no_cursor", Facts: kept}
}

// cursorOf is a hash over keys and values, each with its length before it so
// that no two sets of facts run into one text.
func cursorOf(facts []Fact) string {
	buf := make([]byte, 0, 1024)
	for _, f := range facts {
		for _, s := range [...]string{f.Key, f.Value} {
			buf = strconv.AppendInt(buf, int64(len(s)), 10)
			buf = append(buf, ':')
			buf = append(buf, s...)
		}
	}
	sum := sha256.Sum256(buf)
	return "p1_" + hex.EncodeToString(sum[:16])
}

// factForm says how a fact stands in the facts line of a prompt.
type factForm uint8

const (
	asText factForm = iota
	asJSON
	elsewhere // it has a section of its own
)

func form(key string) factForm {
	switch key {
	case factItemID, factIssues, factBlockers, factFixes, factReplanHint:
		return elsewhere
	case factTotals, factStalled, factReviewLoop, factPlanVersion, factRejections, factAttempts:
		return asJSON
	}
	return asText
}

// writeFacts writes the facts as one line of JSON.
func writeFacts(b *strings.Builder, facts []Fact, clean *neutraliser) {
	b.WriteByte('{')
	first := true
	for _, f := range facts {
		how := form(f.Key)
		if how == elsewhere {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString(`"` + f.Key + `":`)
		if how == asJSON {
			b.WriteString(f.Value)
			continue
		}
		b.WriteString(compact(clean.text(f.Value)))
	}
	b.WriteString("}\n")
}

package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
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
func fullPacket(in *CompileInput) (Packet, []Omission) {
	facts := appendTaskFacts(planFacts(&in.Progress, 14), &in.Task)
	omitted := clipFiles(facts, in.Task.FilesChanged)
	kept := facts[:0]
	for _, f := range facts {
		if f.Value != "" && f.Value != "[]" {
			kept = append(kept, f)
		}
	}
	return Packet{Cursor: cursorOf(kept), Mode: "full", WhyFull: "no_cursor", Facts: kept}, omitted
}

// mostFiles is how many changed files a packet names. Nobody needs all of them to go on, and a list that only
// grows would one day leave no room for what a prompt must have.
const mostFiles = 50

// clipFiles leaves of a long list of changed files those that were named last.
func clipFiles(facts []Fact, files []string) []Omission {
	more := len(files) - mostFiles
	if more <= 0 {
		return nil
	}
	i := slices.IndexFunc(facts, func(f Fact) bool { return f.Key == factFilesChanged })
	facts[i].Value = list(files[more:])
	return []Omission{{What: factFilesChanged, Why: fmt.Sprintf("the first %d of %d files", more, len(files))}}
}

// cursorOf is a hash over keys and values.
func cursorOf(facts []Fact) string {
	buf := make([]byte, 0, 1024)
	for _, f := range facts {
		buf = appendSized(buf, f.Key, f.Value)
	}
	sum := sha256.Sum256(buf)
	return "p1_" + hex.EncodeToString(sum[:16])
}

// appendSized appends texts, each with its length before it, so that no two lists of texts give the same
// bytes.
func appendSized(buf []byte, texts ...string) []byte {
	for _, s := range texts {
		buf = strconv.AppendInt(buf, int64(len(s)), 10)
		buf = append(buf, ':')
		buf = append(buf, s...)
	}
	return buf
}

// factForm says how a fact stands in the facts line of a prompt.
type factForm uint8

const (
	asText factForm = iota
	asJSON
	asList    // JSON with foreign texts in it
	elsewhere // it has a section of its own
)

func form(key string) factForm {
	switch key {
	case factItemID, factIssues, factBlockers, factFixes, factReplanHint:
		return elsewhere
	case factTotals, factStalled, factReviewLoop, factPlanVersion, factRejections, factAttempts:
		return asJSON
	case factPlanItems, factFilesChanged:
		return asList
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
		switch how {
		case asJSON:
			b.WriteString(f.Value)
		case asList:
			b.WriteString(cleanList(f.Value, clean))
		case asText, elsewhere:
			b.WriteString(compact(clean.text(f.Value)))
		}
	}
	b.WriteString("}\n")
}

// cleanList neutralises the entries of a list that we wrote.
func cleanList(value string, clean *neutraliser) string {
	var entries []string
	if err := json.Unmarshal([]byte(value), &entries); err != nil {
		panic(fmt.Sprintf("ledger: decode our own list: %v", err))
	}
	for i, entry := range entries {
		entries[i] = clean.text(entry)
	}
	return compact(entries)
}

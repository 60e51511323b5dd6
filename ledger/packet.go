package ledger

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Packet is the set of ledger facts behind a prompt.
type Packet struct {
	// Cursor is opaque; packets of one run and role with equal facts have equal cursors.
	Cursor string
	// Base is the cursor that a delta builds on, "" in a full packet.
	Base string
	Mode PacketMode
	// WhyFull says why the packet is not a delta.
	WhyFull FullReason
	// Facts are in a fixed order, those without a value left out.
	Facts []Fact
	// Removed names, in the same order, the keys that the agent knows a value of and that have none any more.
	Removed []string
}

// PacketMode says whether a packet is all there is. It is a wire word.
type PacketMode string

const (
	// PacketFull means that the packet has all facts.
	PacketFull PacketMode = "full"
	// PacketDelta means that it has those that differ from what the agent knows, and those that are in every packet.
	PacketDelta PacketMode = "delta"
)

// FullReason says why a packet has all facts. It is a wire word.
type FullReason string

const (
	// FullNoCursor means that nobody said what the agent knows.
	FullNoCursor FullReason = "no_cursor"
	// FullUnknownCursor means that the cursor is none that this version can read.
	FullUnknownCursor FullReason = "unknown_cursor"
	// FullOtherRun means that the cursor is of another run.
	FullOtherRun FullReason = "other_run"
	// FullOtherPrompt means that it came with the prompt of another role, or with a former version of this one.
	FullOtherPrompt FullReason = "other_prompt"
)

// pack puts the facts into the draft that the agent needs. The fingerprint is not among
// them: a file that was only touched gives the same packet.
func (d *draft) pack() {
	facts := appendTaskFacts(planFacts(&d.in.Progress, 16), &d.in.Task)
	d.whole = runes(facts)
	d.omitted = clipFiles(facts, d.in.Task.FilesChanged)
	d.omitted = append(d.omitted, d.in.notThere()...)
	if d.in.CriteriaMissing != "" {
		d.omitted = append(d.omitted, d.in.noCriteria())
	}
	kept := facts[:0]
	for _, f := range facts {
		if f.Value != "" && f.Value != "[]" {
			kept = append(kept, f)
		}
	}
	d.packet = Packet{Mode: PacketFull, Facts: kept}
	if d.before, d.packet.WhyFull = d.in.known(); d.packet.WhyFull == "" {
		d.packet.Mode, d.packet.Base = PacketDelta, d.in.Since
		d.leaveSame()
	}
	d.settle()
}

// known reads what the agent knows, or says why that is of no use.
func (in *CompileInput) known() (knowledge, FullReason) {
	if in.Since == "" {
		return knowledge{}, FullNoCursor
	}
	before, ok := readCursor(in.Since)
	now := knowsNothing(in)
	switch {
	case !ok:
		return before, FullUnknownCursor
	case before.run != now.run:
		return before, FullOtherRun
	case before.prompt != now.prompt:
		return before, FullOtherPrompt
	}
	return before, ""
}

// value gives the value of a fact, "" if the packet does not have it.
func (p *Packet) value(key string) string {
	for i := range p.Facts {
		if p.Facts[i].Key == key {
			return p.Facts[i].Value
		}
	}
	return ""
}

// leaveSame takes the facts out of the packet that the agent knows, but for those that are never left out.
func (d *draft) leaveSame() {
	var news []Fact
	for _, f := range d.packet.Facts {
		now := knownOf(f)
		if old, known := d.before.find(now.code); !known || old != now.hash || d.form(f.Key) == elsewhere {
			news = append(news, f)
			continue
		}
		d.same = append(d.same, f)
		d.omitted = omit(d.omitted, f.Key, whyUnchanged)
	}
	d.packet.Facts = news
}

// settle says what the agent knows with the facts that are in the packet now. Of what it was told before
// and is neither the same nor in the packet, it must not go on thinking that it knows it.
func (d *draft) settle() {
	now := knowledgeOf(d.in, append(slices.Clip(d.packet.Facts), d.same...))
	d.packet.Cursor, d.packet.Removed = now.cursor(), nil
	for _, f := range d.before.facts {
		if _, still := now.find(f.code); !still && d.packet.Mode == PacketDelta {
			d.packet.Removed = append(d.packet.Removed, factKeys[f.code])
		}
	}
}

// whyUnchanged is said of a fact that was not cut but told before.
const whyUnchanged = "unchanged since the packet that the agent has"

// runes is how many characters facts take in a prompt, about.
func runes(facts []Fact) (n int) {
	const around = 4 // quotes, colon, comma
	for i := range facts {
		if value := facts[i].Value; value != "" && value != "[]" {
			n += utf8.RuneCountInString(value) + len(facts[i].Key) + around
		}
	}
	return n
}

// spared estimates the tokens of what a prompt leaves to the packets before it and to the plan: a host
// without them would send all facts and the whole file each time.
func (d *draft) spared() int {
	return Tokens(d.whole-runes(d.packet.Facts)) + Tokens(int(d.in.Progress.Fingerprint.Size))
}

// neverCut reports whether a fact is in every packet whole, whatever the budget: who does not have one of
// these does the wrong work.
func (d *draft) neverCut(key string) bool {
	return d.form(key) == elsewhere && key != factFilesChanged
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

// The bounds that a result, and its summary, have when they are taken in.
const (
	whyLost      = "%d entries of results are missing or cut short: of a list, 1,000 entries of 4 KiB and 64 KiB in all are kept"
	whyClipped   = "its first 2,000 characters are kept"
	whyTaskAsked = "task_prompt takes its place"
)

// notThere lists what a prompt cannot have since it was never kept, or since the host asks for something else.
func (in *CompileInput) notThere() (list []Omission) {
	issues, fixes, blockers := in.Task.lost()
	for _, l := range [...]struct {
		key   string
		count int
	}{{factFixes, fixes}, {factBlockers, blockers}, {factIssues, issues}} {
		if l.count > 0 {
			list = append(list, Omission{l.key, fmt.Sprintf(whyLost, l.count)})
		}
	}
	if clipped(in.Task.Summary) {
		list = append(list, Omission{factSummary, whyClipped})
	}
	if in.TaskPrompt != "" && in.Progress.CurrentItem.Prompt != "" {
		list = append(list, Omission{"item.prompt", whyTaskAsked})
	}
	return list
}

// factForm says how a fact stands in the facts line of a prompt.
type factForm uint8

const (
	asText factForm = iota
	asJSON
	asList    // JSON with foreign texts in it
	elsewhere // it has a section of its own, and is in every packet, whatever the agent knows
)

// form says it. How the last attempt went has its section if it failed.
func (d *draft) form(key string) factForm {
	switch key {
	case factSummary, factAssessment:
		if d.in.Task.failing() {
			return elsewhere
		}
	case factItemID, factIssues, factBlockers, factFixes, factReplanHint:
		return elsewhere
	case factTotals, factStalled, factReviewLoop, factPlanVersion, factRejections, factAttempts, factReviewAttempts:
		return asJSON
	case factGitRange:
		if d.in.Role.reviewer() {
			return elsewhere
		}
	case factFilesChanged:
		if d.in.Role.reviewer() {
			return elsewhere
		}
		return asList
	case factPlanItems:
		return asList
	}
	return asText
}

// writeFacts writes the facts as one line of JSON.
func (d *draft) writeFacts(b *strings.Builder, clean *neutraliser) {
	b.WriteByte('{')
	first := true
	for _, f := range d.packet.Facts {
		how := d.form(f.Key)
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
			writeString(b, clean.text(f.Value))
		}
	}
	b.WriteString("}\n")
}

// writeString writes a string of JSON. Most are such that nothing in them is escaped.
func writeString(b *strings.Builder, s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			b.WriteString(compact(s))
			return
		}
	}
	b.WriteByte('"')
	b.WriteString(s)
	b.WriteByte('"')
}

// cleanList neutralises the entries of a list that we wrote.
func cleanList(value string, clean *neutraliser) string {
	entries := entriesOf(value)
	for i, entry := range entries {
		entries[i] = clean.text(entry)
	}
	return compact(entries)
}

// entriesOf reads a list that we wrote.
func entriesOf(value string) (entries []string) {
	if err := json.Unmarshal([]byte(value), &entries); err != nil {
		panic(fmt.Sprintf("ledger: decode our own list: %v", err))
	}
	return entries
}

package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"waybill/ledger"
	"waybill/prompt/sanitize"
)

// pack adds the facts that the agent needs to the draft. It omits the fingerprint, so that a new modification time
// alone does not change the packet.
func (d *draft) pack() {
	facts := ledger.AppendTaskFacts(ledger.PlanFacts(&d.in.Progress, 16), &d.in.Task)
	d.whole = runes(facts)
	d.omitted = clipFiles(facts, d.in.Task.FilesChanged)
	d.omitted = append(d.omitted, d.in.notThere()...)
	if d.in.Criteria.Missing != "" {
		d.omitted = append(d.omitted, d.in.noCriteria())
	}
	kept := facts[:0]
	for _, f := range facts {
		if f.Value != "" && f.Value != "[]" {
			kept = append(kept, f)
		}
	}
	d.packet = ledger.Packet{Mode: ledger.PacketFull, Facts: kept}
	if d.before, d.packet.WhyFull = d.in.known(); d.packet.WhyFull == "" {
		d.packet.Mode, d.packet.Base = ledger.PacketDelta, d.in.Since
		d.leaveSame()
	}
	d.settle()
}

// known decodes the caller's cursor, or returns why it cannot be used.
func (in *CompileInput) known() (knowledge, ledger.FullReason) {
	if in.Since == "" {
		return knowledge{}, ledger.FullNoCursor
	}
	before, ok := readCursor(in.Since)
	now := in.knowsNothing()
	switch {
	case !ok:
		return before, ledger.FullUnknownCursor
	case before.run != now.run:
		return before, ledger.FullOtherRun
	case before.prompt != now.prompt:
		return before, ledger.FullOtherPrompt
	}
	return before, ""
}

// knowsNothing returns the knowledge of an agent that has no facts yet.
func (in *CompileInput) knowsNothing() knowledge {
	return knowsNothing(in.RunID, prefixOf(in.Role, in.Block))
}

// leaveSame removes the facts that the agent already knows from the packet, except facts that are in every packet.
func (d *draft) leaveSame() {
	var news []ledger.Fact
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

// settle computes what the agent knows after this packet. A changed fact that the packet omits is listed as removed,
// so that the agent does not rely on the old value.
func (d *draft) settle() {
	now := d.in.knowsNothing().with(append(slices.Clip(d.packet.Facts), d.same...))
	d.packet.Cursor, d.packet.Removed = now.cursor(), nil
	for _, f := range d.before.facts {
		if _, still := now.find(f.code); !still && d.packet.Mode == ledger.PacketDelta {
			d.packet.Removed = append(d.packet.Removed, factKeys.Get()[f.code])
		}
	}
}

// whyUnchanged is the reason for omitting a fact that the agent already knows.
const whyUnchanged = "unchanged since the packet that the agent has"

// runes estimates the number of characters of the facts in a prompt.
func runes(facts []ledger.Fact) (n int) {
	const around = 4 // quotes, colon, comma
	for i := range facts {
		if value := facts[i].Value; value != "" && value != "[]" {
			n += utf8.RuneCountInString(value) + len(facts[i].Key) + around
		}
	}
	return n
}

// spared estimates the tokens saved by earlier packets and by selecting one item. Without them, a host would send all
// facts and the whole plan file each time.
func (d *draft) spared() int {
	return Tokens(d.whole-runes(d.packet.Facts)) + Tokens(int(d.in.Progress.Fingerprint.Size))
}

// neverCut reports whether the complete fact is in every packet, regardless of the budget. Without such a fact, the
// agent would do the wrong work.
func (d *draft) neverCut(key string) bool {
	return d.form(key) == elsewhere && key != ledger.FactFilesChanged
}

// mostFiles limits the changed files in a packet, because a longer list would leave no room for required facts.
const mostFiles = 50

// clipFiles keeps the most recently reported files of a long list, and returns the omission.
func clipFiles(facts []ledger.Fact, files []string) []Omission {
	more := len(files) - mostFiles
	if more <= 0 {
		return nil
	}
	i := slices.IndexFunc(facts, func(f ledger.Fact) bool { return f.Key == ledger.FactFilesChanged })
	facts[i].Value = ledger.EncodeList(files[more:])
	return []Omission{{What: ledger.FactFilesChanged, Why: fmt.Sprintf("the first %d of %d files", more, len(files))}}
}

// These limits apply when a result and its summary are stored.
const (
	whyLost      = "%d entries of results are missing or cut short: of a list, 1,000 entries of 4 KiB and 64 KiB in all are kept"
	whyClipped   = "its first 2,000 characters are kept"
	whyTaskAsked = "task_prompt takes its place"
)

// notThere lists facts that were not stored completely, or that the host's request replaces.
func (in *CompileInput) notThere() (list []Omission) {
	issues, fixes, blockers := in.Task.Lost()
	for _, l := range [...]struct {
		key   string
		count int
	}{{ledger.FactFixes, fixes}, {ledger.FactBlockers, blockers}, {ledger.FactIssues, issues}} {
		if l.count > 0 {
			list = append(list, Omission{l.key, fmt.Sprintf(whyLost, l.count)})
		}
	}
	if ledger.SummaryClipped(in.Task.Summary) {
		list = append(list, Omission{ledger.FactSummary, whyClipped})
	}
	if in.TaskPrompt != "" && in.Progress.CurrentItem.Prompt != "" {
		list = append(list, Omission{"item.prompt", whyTaskAsked})
	}
	return list
}

// factForm is the form of a fact in a prompt.
type factForm uint8

const (
	asText factForm = iota
	asJSON
	asList    // a JSON list of untrusted texts
	elsewhere // the fact has a section of its own and is in every packet
)

// form returns the form of a fact. The last outcome has a section of its own if it failed.
func (d *draft) form(key string) factForm {
	switch key {
	case ledger.FactSummary, ledger.FactAssessment:
		if d.in.Task.Failing() {
			return elsewhere
		}
	case ledger.FactItemID, ledger.FactIssues, ledger.FactBlockers, ledger.FactFixes, ledger.FactReplanHint:
		return elsewhere
	case ledger.FactTotals, ledger.FactStalled, ledger.FactReviewLoop, ledger.FactPlanVersion, ledger.FactRejections, ledger.FactAttempts, ledger.FactReviewAttempts:
		return asJSON
	case ledger.FactGitRange:
		if d.in.Role.Reviewer() {
			return elsewhere
		}
	case ledger.FactFilesChanged:
		if d.in.Role.Reviewer() {
			return elsewhere
		}
		return asList
	case ledger.FactPlanItems:
		return asList
	}
	return asText
}

// writeFacts writes the facts as one line of JSON.
func (d *draft) writeFacts(b *strings.Builder, clean *sanitize.Cleaner) {
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
			writeString(b, clean.Text(f.Value))
		}
	}
	b.WriteString("}\n")
}

// writeString writes a JSON string. Most strings need no escaping and are copied.
func writeString(b *strings.Builder, s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			b.WriteString(ledger.Encode(s))
			return
		}
	}
	b.WriteByte('"')
	b.WriteString(s)
	b.WriteByte('"')
}

// cleanList neutralises the entries of a list written by EncodeList.
func cleanList(value string, clean *sanitize.Cleaner) string {
	entries := ledger.DecodeList(value)
	for i, entry := range entries {
		entries[i] = clean.Text(entry)
	}
	return ledger.Encode(entries)
}

package prompt

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"waybill/ledger"
)

// This file shrinks a prompt that exceeds its budget. Required facts are never cut: title, prompt and details of the
// item; the outcome of a failed attempt; required fixes; blockers; open review issues with their remedies; the replan
// hint. If they alone exceed the budget, compilation fails.

// A Stage is one step of compaction. It is a wire word.
type Stage string

const (
	// StageNone is the uncompacted prompt.
	StageNone Stage = "none"
	// StagePrune clips long facts and drops optional ones.
	StagePrune Stage = "prune_packet"
	// StageShorten replaces the secondary fields of the item by a reference to the plan, and applies PromptOverride.
	StageShorten Stage = "compact_prompt"
	// StageEmergency keeps only the facts that are never cut.
	StageEmergency Stage = "emergency"
)

// draft is an unfinished prompt. The stages shrink it.
type draft struct {
	in      *CompileInput
	packet  ledger.Packet
	whole   int           // characters of all facts, including those that the packet omits
	before  knowledge     // the facts that earlier packets told the agent
	same    []ledger.Fact // facts that the agent already knows, so that the packet omits them
	omitted []Omission
	short   bool
}

// stages are tried in this order until the prompt fits. shrink returns false if it changed nothing.
var stages = [...]struct {
	name   Stage
	shrink func(draft) (draft, bool)
}{
	{StagePrune, prune},
	{StageShorten, shorten},
	{StageEmergency, emergency},
}

const (
	mostSummary = 240 // characters
	fewFiles    = 10
)

// prune keeps the most useful parts of the summary and of the file list, and drops optional facts.
func prune(d draft) (draft, bool) {
	return d.without(func(f ledger.Fact) (string, string) {
		if d.neverCut(f.Key) {
			return f.Value, ""
		}
		switch f.Key {
		case ledger.FactSummary:
			return clipText(f.Value, mostSummary)
		case ledger.FactFilesChanged:
			files := d.in.Task.FilesChanged
			if len(files) <= fewFiles {
				return f.Value, ""
			}
			return ledger.EncodeList(files[len(files)-fewFiles:]), fmt.Sprintf("the first %d of %d files", len(files)-fewFiles, len(files))
		case ledger.FactPlan, ledger.FactSourcePath, ledger.FactTotals, ledger.FactActive, ledger.FactPlanVersion, ledger.FactPlanSummary, ledger.FactPlanItems,
			ledger.FactStalled, ledger.FactReviewLoop, ledger.FactRejections, ledger.FactReviewAttempts:
			return "", "dropped to fit the budget"
		}
		return f.Value, ""
	})
}

// emergency drops every fact that is not required.
func emergency(d draft) (draft, bool) {
	return d.without(func(f ledger.Fact) (string, string) {
		if d.neverCut(f.Key) {
			return f.Value, ""
		}
		return "", "dropped to fit the budget"
	})
}

// clipText cuts a text to most characters. why describes the removed part, and is empty if the text was short enough.
func clipText(text string, most int) (clipped, why string) {
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text, ""
	}
	end := 0
	for range most - 1 {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return text[:end] + "…", fmt.Sprintf("the last %d of %d characters", n-most+1, n)
}

// without replaces each fact's value by the value that cut returns, and drops facts whose value becomes empty. cut
// returns why, a reason, if it removed something.
func (d draft) without(cut func(ledger.Fact) (value, why string)) (draft, bool) {
	var kept []ledger.Fact
	omitted := slices.Clone(d.omitted)
	for _, f := range d.packet.Facts {
		value, why := cut(f)
		if why != "" {
			omitted = omit(omitted, f.Key, why)
		}
		if value != "" {
			kept = append(kept, ledger.Fact{Key: f.Key, Value: value})
		}
	}
	done := !slices.Equal(omitted, d.omitted)
	d.packet.Facts, d.omitted = kept, omitted
	d.settle()
	return d, done
}

// omit records an omission. A later reason replaces an earlier one.
func omit(omitted []Omission, what, why string) []Omission {
	omitted = slices.DeleteFunc(omitted, func(o Omission) bool { return o.What == what })
	return append(omitted, Omission{What: what, Why: why})
}

// shorten drops the secondary fields of the item, and refers to the plan line that contains them.
func shorten(d draft) (draft, bool) {
	it := d.in.Progress.CurrentItem
	d.short, d.omitted = true, slices.Clip(d.omitted)
	before := len(d.omitted)
	leave := func(what string, there bool) {
		if there {
			d.omitted = append(d.omitted, Omission{What: "item." + what, Why: "the plan says it, in the line that the prompt names"})
		}
	}
	if len(d.in.Criteria.List) > 0 {
		why := "the requirements say it, in the lines that the prompt names"
		if d.in.Criteria.Missing != "" {
			why += "; " + d.in.Criteria.Missing
		}
		d.omitted = omit(slices.Clone(d.omitted), acceptanceCriteria, why)
	}
	leave("purpose", it.Purpose != "")
	leave("depends_on", len(it.DependsOn) > 0)
	leave("below", len(it.Below) > 0)
	leave("requirements", len(it.Requirements) > 0)
	leave("files", len(it.Files) > 0)
	leave("leverage", it.Leverage != "")
	if d.in.Compaction.PromptOverride != "" {
		d.omitted = append(d.omitted, Omission{What: "task_prompt", Why: "compaction.prompt_override takes its place"})
	}
	return d, len(d.omitted) > before
}

// cut returns the names of the omitted facts that the agent does not already know.
func (d *draft) cut() (keys []string) {
	for _, o := range d.omitted {
		if o.Why != whyUnchanged && o.Why != whyTaskAsked && o != d.in.noCriteria() {
			keys = append(keys, o.What)
		}
	}
	return keys
}

// acceptanceCriteria is the name of the criteria in an Omission.
const acceptanceCriteria = "acceptance_criteria"

// noCriteria returns the omission that explains why a prompt has no criteria.
func (in *CompileInput) noCriteria() Omission {
	return Omission{What: acceptanceCriteria, Why: in.Criteria.Missing}
}

// unused lists the caller's compaction input that a prompt without StageShorten does not use.
func (d *draft) unused() (list []Omission) {
	const why = "the prompt fits its budget without being shortened"
	if len(d.in.Compaction.Context) > 0 && !d.short {
		list = append(list, Omission{What: "compaction.context", Why: why})
	}
	if d.in.Compaction.PromptOverride != "" && !d.short {
		list = append(list, Omission{What: "compaction.prompt_override", Why: why})
	}
	return list
}

package ledger

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// This file makes a prompt smaller that is over its budget. What the agent must have is never cut: the
// title, the prompt and the details of the item, how a failed attempt went, required fixes, blockers, open
// review issues with what to do about them, and the replan hint. If that alone is too much, there is no prompt.

// Compaction steers what is done with a prompt that is over its budget. One that fits is not touched.
type Compaction struct {
	// Off makes a prompt over its budget an error at once.
	Off bool
	// KeepPacket leaves out the stage that prunes the packet.
	KeepPacket bool
	// Context is what the caller wants said in a prompt that was shortened.
	Context []string
	// PromptOverride takes the place of the task prompt in one that was shortened, word for word. Only the
	// caller can say what is as good as the whole.
	PromptOverride string
}

// A Stage is a way to make a prompt smaller. It is a wire word.
type Stage string

const (
	// StageNone is the prompt as it is.
	StageNone Stage = "none"
	// StagePrune clips long facts and drops those that the agent can do without.
	StagePrune Stage = "prune_packet"
	// StageShorten points to the plan for what else it says about the item, and takes the caller's override.
	StageShorten Stage = "compact_prompt"
	// StageEmergency leaves of the facts only those that are never cut.
	StageEmergency Stage = "emergency"
)

// draft is a prompt in the making: what the stages take things out of.
type draft struct {
	in      *CompileInput
	packet  Packet
	whole   int       // characters of all facts
	before  knowledge // what the agent was told before
	same    []Fact    // what it knows of that and is not told again
	omitted []Omission
	short   bool
}

// stages are tried in this order until the prompt fits. One that has nothing to do says so.
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

// prune keeps of the summary and of the files what says most, and drops what is only good to know.
func prune(d draft) (draft, bool) {
	return d.without(func(f Fact) (string, string) {
		if d.neverCut(f.Key) {
			return f.Value, ""
		}
		switch f.Key {
		case factSummary:
			return clipText(f.Value, mostSummary)
		case factFilesChanged:
			files := d.in.Task.FilesChanged
			if len(files) <= fewFiles {
				return f.Value, ""
			}
			return list(files[len(files)-fewFiles:]), fmt.Sprintf("the first %d of %d files", len(files)-fewFiles, len(files))
		case factPlan, factSourcePath, factTotals, factActive, factPlanVersion, factPlanSummary, factPlanItems,
			factStalled, factReviewLoop, factRejections, factReviewAttempts:
			return "", "dropped to fit the budget"
		}
		return f.Value, ""
	})
}

// emergency drops every fact that may be dropped.
func emergency(d draft) (draft, bool) {
	return d.without(func(f Fact) (string, string) {
		if d.neverCut(f.Key) {
			return f.Value, ""
		}
		return "", "dropped to fit the budget"
	})
}

// clipText cuts a text and says so.
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

// without replaces the values of facts by what cut says, and drops those of which nothing is left. cut
// gives a reason if something is missing then.
func (d draft) without(cut func(Fact) (value, why string)) (draft, bool) {
	var kept []Fact
	omitted := slices.Clone(d.omitted)
	for _, f := range d.packet.Facts {
		value, why := cut(f)
		if why != "" {
			omitted = omit(omitted, f.Key, why)
		}
		if value != "" {
			kept = append(kept, Fact{f.Key, value})
		}
	}
	done := !slices.Equal(omitted, d.omitted)
	d.packet.Facts, d.omitted = kept, omitted
	d.settle()
	return d, done
}

// omit notes what was left out, once, with the last reason.
func omit(omitted []Omission, what, why string) []Omission {
	omitted = slices.DeleteFunc(omitted, func(o Omission) bool { return o.What == what })
	return append(omitted, Omission{What: what, Why: why})
}

// shorten leaves out what else the plan says about the item, and names where it stands.
func shorten(d draft) (draft, bool) {
	it := d.in.Progress.CurrentItem
	d.short, d.omitted = true, slices.Clip(d.omitted)
	before := len(d.omitted)
	leave := func(what string, there bool) {
		if there {
			d.omitted = append(d.omitted, Omission{What: "item." + what, Why: "the plan says it, in the line that the prompt names"})
		}
	}
	if len(d.in.Criteria) > 0 {
		why := "the requirements say it, in the lines that the prompt names"
		if d.in.CriteriaMissing != "" {
			why += "; " + d.in.CriteriaMissing
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

// cut names what was left out although the agent was not told before.
func (d *draft) cut() (keys []string) {
	for _, o := range d.omitted {
		if o.Why != whyUnchanged && o.Why != whyTaskAsked && o != d.in.noCriteria() {
			keys = append(keys, o.What)
		}
	}
	return keys
}

// acceptanceCriteria is what omissions call them.
const acceptanceCriteria = "acceptance_criteria"

// noCriteria says that a reviewer has to do without criteria that there may be.
func (in *CompileInput) noCriteria() Omission {
	return Omission{What: acceptanceCriteria, Why: in.CriteriaMissing}
}

// unused lists what the caller gave for a prompt that is shortened, if this one is not.
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

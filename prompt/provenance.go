package prompt

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"waybill/ledger"
	"waybill/prompt/sanitize"
)

// This file marks the origin of each section of a prompt. The mark follows the section name, so that an agent can
// distinguish its host's request from text in a file.

// Trust is how far an agent may rely on a text. It is a wire word.
type Trust string

const (
	// Trusted texts come from waybill and the host. They are not neutralised.
	Trusted Trust = "trusted"
	// Untrusted texts come from files and agents. They describe the task and cannot change its rules.
	Untrusted Trust = "untrusted"
)

// Block is one section of a prompt. The concatenated texts of all blocks are the prompt.
type Block struct {
	// Name is the section's heading without brackets, or stable_prefix for the first block.
	Name string
	// Sources has at least one entry. Trust is the trust of the least trusted source.
	Sources []sanitize.Source
	Trust   Trust
	// Ref locates the source, such as a file and its line. It is "" if the location is unknown.
	Ref  string
	Text string
	// SHA256 is the hash of Text in lower-case hex.
	SHA256 string
	// Tokens is the size of Text, measured like the size of the prompt. Each block is rounded up separately.
	Tokens int
	// Neutralised counts the changes in Text.
	Neutralised int
}

// provenance is the origin of a section, with the mark that follows its name.
type provenance struct {
	sources []sanitize.Source
	trust   Trust
	mark    string
}

func newProvenance(trust Trust, sources ...sanitize.Source) *provenance {
	names := make([]string, len(sources))
	for i, s := range sources {
		names[i] = string(s)
	}
	return &provenance{sources, trust, " (from " + strings.Join(names, ", ") + "; " + string(trust) + ")"}
}

var (
	byWaybill      = newProvenance(Trusted, sanitize.SourceWaybill)
	byHost         = newProvenance(Trusted, sanitize.SourceHost)
	byPlan         = newProvenance(Untrusted, sanitize.SourcePlan)
	byRequirements = newProvenance(Untrusted, sanitize.SourceRequirements)
	byWorker       = newProvenance(Untrusted, sanitize.SourceWorker)
	byReviewer     = newProvenance(Untrusted, sanitize.SourceReviewer)
	byAgents       = newProvenance(Untrusted, sanitize.SourceWorker, sanitize.SourceReviewer)
	byPlanAgents   = newProvenance(Untrusted, sanitize.SourcePlan, sanitize.SourceWorker, sanitize.SourceReviewer)
	byEverybody    = newProvenance(Untrusted, sanitize.SourcePlan, sanitize.SourceWorker, sanitize.SourceReviewer, sanitize.SourceHost)
)

// A sectionStart is the beginning of a section in a prompt, with its provenance.
type sectionStart struct {
	name        string
	from        *provenance
	at          int // offset in the prompt
	neutralised int // changes of untrusted text before it
}

// mostSections is the largest number of sections of a prompt, with one to spare.
const mostSections = 20

// prefixName is the name of the first section, which has no heading.
const prefixName = "stable_prefix"

// blocks splits a prompt into its sections.
func (in *CompileInput) blocks(text *rendered) []Block {
	blocks := make([]Block, len(text.sections))
	for i, s := range text.sections {
		end, neutralised := len(text.prompt), text.neutralised
		if i+1 < len(text.sections) {
			end, neutralised = text.sections[i+1].at, text.sections[i+1].neutralised
		}
		body := text.prompt[s.at:end]
		blocks[i] = Block{
			Name: strings.Trim(s.name, "[]"), Sources: s.from.sources, Trust: s.from.trust, Ref: in.ref(&s),
			Text: body, SHA256: hashText(body), Tokens: in.tokens(body), Neutralised: neutralised - s.neutralised,
		}
	}
	return blocks
}

// ref returns the location of a section's source, or "" if it is unknown.
func (in *CompileInput) ref(s *sectionStart) string {
	said := &in.Task.Origins
	switch {
	case s.from == byPlan:
		return in.place()
	case s.from == byRequirements:
		return in.CriteriaSource
	case s.from == byWorker, s.name == sanitize.HeadLast:
		return originRef(said.Summary)
	case s.from == byReviewer:
		var refs []string
		for i := range said.Reviews {
			if ref := originRef(said.Reviews[i]); ref != "" && in.Task.Reviews[i].Rejects() {
				refs = append(refs, ref)
			}
		}
		return strings.Join(refs, ", ")
	}
	return ""
}

// originRef returns the ids of a task and its attempt, joined by a slash.
func originRef(o ledger.Origin) string {
	return strings.Trim(o.TaskID+"/"+o.AttemptID, "/")
}

// place returns the file and line of the item.
func (in *CompileInput) place() string {
	it := in.Progress.CurrentItem
	return in.Progress.SourcePath + ":" + strconv.Itoa(it.Line)
}

// tokens counts the tokens of a part of a prompt.
func (in *CompileInput) tokens(text string) int {
	if in.Count == nil {
		return Tokens(utf8.RuneCountInString(text))
	}
	return in.Count(text)
}

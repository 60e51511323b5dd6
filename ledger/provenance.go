package ledger

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file says whose words stand in a prompt. Each section carries the mark of its provenance behind its
// name, so that an agent can tell what it was asked by its host from what somebody wrote into a file.

// Source is whose words a text is. It is a wire word.
type Source string

const (
	// SourceWaybill is what waybill itself says, counts or derives.
	SourceWaybill Source = "waybill"
	// SourceHost is what the caller gave, word for word.
	SourceHost Source = "host"
	// SourcePlan is the plan's file, SourceRequirements the requirements beside it.
	SourcePlan         Source = "plan"
	SourceRequirements Source = "requirements"
	// SourceWorker and SourceReviewer are what agents reported.
	SourceWorker   Source = "worker"
	SourceReviewer Source = "reviewer"
)

// Trust is how far a text is to be relied on. It is a wire word.
type Trust string

const (
	// Trusted are the words of waybill and of the host. Nothing in them is neutralised.
	Trusted Trust = "trusted"
	// Untrusted are the words of files and agents: they are material for the task and cannot change its rules.
	Untrusted Trust = "untrusted"
)

// Block is one section of a prompt. The texts of all blocks of a prompt, joined, are the prompt.
type Block struct {
	// Name is what the section is called, without brackets. The first block is the stable prefix and called so.
	Name string
	// Sources is not empty; Trust is that of the least trusted of them.
	Sources []Source
	Trust   Trust
	// Ref says more exactly where the words are from, such as a file and its line, "" if there is no more to say.
	Ref  string
	Text string
	// SHA256 is that of Text, in lower-case hex.
	SHA256 string
	// Tokens is the size of Text as the prompt's are counted. Each block is rounded up by itself.
	Tokens int
	// Neutralised counts what had to be changed in the text.
	Neutralised int
}

// provenance is the origin of a section. A mark is written behind the name of the section.
type provenance struct {
	sources []Source
	trust   Trust
	mark    string
}

func newProvenance(trust Trust, sources ...Source) *provenance {
	names := make([]string, len(sources))
	for i, s := range sources {
		names[i] = string(s)
	}
	return &provenance{sources, trust, " (from " + strings.Join(names, ", ") + "; " + string(trust) + ")"}
}

var (
	byWaybill      = newProvenance(Trusted, SourceWaybill)
	byHost         = newProvenance(Trusted, SourceHost)
	byPlan         = newProvenance(Untrusted, SourcePlan)
	byRequirements = newProvenance(Untrusted, SourceRequirements)
	byWorker       = newProvenance(Untrusted, SourceWorker)
	byReviewer     = newProvenance(Untrusted, SourceReviewer)
	byAgents       = newProvenance(Untrusted, SourceWorker, SourceReviewer)
	byPlanAgents   = newProvenance(Untrusted, SourcePlan, SourceWorker, SourceReviewer)
	byEverybody    = newProvenance(Untrusted, SourcePlan, SourceWorker, SourceReviewer, SourceHost)
)

// A sectionStart says where a section begins in a prompt, and whose it is.
type sectionStart struct {
	name        string
	from        *provenance
	at          int // of the prompt
	neutralised int // before it
}

// mostSections is how many there can be in a prompt, and one to spare.
const mostSections = 20

// prefixName is what the first section is called, which has no heading.
const prefixName = "stable_prefix"

// blocks cuts a prompt at the beginnings of its sections.
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

// ref says where exactly the words of a section are from, as far as that is known.
func (in *CompileInput) ref(s *sectionStart) string {
	said := &in.Task.Origins
	switch {
	case s.from == byPlan:
		return in.place()
	case s.from == byRequirements:
		return in.CriteriaSource
	case s.from == byWorker, s.name == headLast:
		return said.Summary.ref()
	case s.from == byReviewer:
		var refs []string
		for i := range in.Task.Reviews {
			if ref := said.Reviews[i].ref(); ref != "" && in.Task.Reviews[i].rejects() {
				refs = append(refs, ref)
			}
		}
		return strings.Join(refs, ", ")
	}
	return ""
}

// ref names a task and the attempt at it.
func (o Origin) ref() string {
	return strings.Trim(o.TaskID+"/"+o.AttemptID, "/")
}

// place names the line of the plan at which the item stands.
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

package prompt

import (
	"strings"

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

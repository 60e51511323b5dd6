package prompt

import (
	"strings"

	"waybill/ledger"
	"waybill/prompt/sanitize"
)

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
		return in.Criteria.Source
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

package sanitize

// This file declares the structure of waybill's prompts. Untrusted text must not be able to imitate it.

// The headings of the sections of a prompt, in order. The sections that change with each attempt come last.
const (
	HeadTask         = "[Task]"
	HeadPrompt       = "[Task Prompt]"
	HeadDetails      = "[Details]"
	HeadContext      = "[Context]"
	HeadRequirements = "[Requirements]"
	HeadFiles        = "[Files]"
	HeadLeverage     = "[Leverage]"
	HeadCriteria     = "[Acceptance Criteria]"
	HeadWork         = "[Work]"
	HeadLast         = "[Last Attempt]"
	HeadFixes        = "[Required Fixes]"
	HeadBlockers     = "[Blockers]"
	HeadIssues       = "[Review Issues]"
	HeadHint         = "[Replan Hint]"
	HeadFacts        = "[Ledger Facts]"
	HeadNow          = "[Now]"
)

// The headings of a continuation's sections.
const (
	HeadPrevious = "[Previous Output]"
	HeadReply    = "[User Reply]"
	HeadContinue = "[Continue Task]"
)

// The headings that only a resumption has.
const (
	HeadProgress = "[Progress]"
	HeadOutcome  = "[Last Outcome]"
	HeadStale    = "[Stale Plan]"
	HeadNext     = "[Next Action]"
)

// The headings that only an anchor has.
const (
	HeadResume       = "[Resume]"
	HeadProven       = "[Proven]"
	HeadSaid         = "[Said Done]"
	HeadQuestions    = "[Open Questions]"
	HeadInstructions = "[Instructions]"
	HeadOmitted      = "[Left Out]"
)

// The markers around a result.
const (
	MarkerBegin = "BEGIN_DISPATCH_RESULT"
	MarkerEnd   = "END_DISPATCH_RESULT"
)

// QuoteMark precedes a line of untrusted text that looks like structure.
const QuoteMark = "│ "

// Source is the author of a text. It is a wire word.
type Source string

const (
	// SourceWaybill is text that waybill writes, counts or derives.
	SourceWaybill Source = "waybill"
	// SourceHost is text of the host, unchanged.
	SourceHost Source = "host"
	// SourcePlan is the plan file, and SourceRequirements the requirements file next to it.
	SourcePlan         Source = "plan"
	SourceRequirements Source = "requirements"
	// SourceWorker and SourceReviewer are reports of agents.
	SourceWorker   Source = "worker"
	SourceReviewer Source = "reviewer"
)

package verdict

import (
	"slices"

	"waybill/core"
)

// Verdicts lists the verdicts.
func Verdicts() []Verdict { return []Verdict{Pass, Gaps, Error, Invalid} }

// Grammars lists the grammars.
func Grammars() []Grammar { return []Grammar{JSONBlock, V2, Legacy, None} }

// Faults lists the faults.
func Faults() []Fault {
	return []Fault{
		Missing, NotAllowed, WrongType, Contradictory, TaskIDMismatch, RoleMismatch, KeyMismatch, KeyMisplaced, KeyMissing, Quoted, BlockBroken, Ambiguous,
		NothingRecognised, AndMore,
	}
}

// A Tolerance is a kind of warning and what it is about.
type Tolerance struct {
	Remark Remark
	About  string
}

// Tolerances lists what is tolerated, and what is remarked on without being wrong.
func Tolerances() []Tolerance {
	return []Tolerance{
		{byteOrderMark, "the text begins with one"},
		{carriageReturns, "lines end in CR LF"},
		{brokenUTF8, "bytes were replaced"},
		{leadingBlank, "blank lines before the headers"},
		{codeFence, "the result is in a code fence"},
		{preamble, "text before the headers"},
		{epilogue, "text after the result block"},
		{oneLine, "markers that are not alone on their lines"},
		{mentionedMarkers, "markers that enclose nothing"},
		{brokenBlock, "a result block that was passed over"},
		{furtherResult, "further results are ignored; this one counts"},
		{quotations, "a result without the key, beside one that has it"},
		{keyMissing, "the prompt asks for a key, and the result has none"},
		{unknownKey, "a key that is not defined"},
		{duplicateKey, "the last one counts"},
		{keyOrder, "role is not the first header"},
		{letterCase, "a word in another case or form"},
		{decoration, "bullets, asterisks, back quotes"},
		{blankBetween, "blank lines between headers"},
		{noBlankLine, "text right behind the headers"},
		{listedItems, "items on lines of their own"},
		{placeholder, "a word such as 'none' for nothing"},
		{gitRangeForm, "not <base>..<head>"},
		{confidenceForm, "not high, medium or low"},
		{notForRole, "a key that this role does not use"},
		{issuesOnPass, "issues, although it passes"},
		{fixesOnApproval, "required fixes, although it is approved"},
		{nothingToFix, "a rejection without issues"},
		{legacyStatement, "the result has no form; a clear statement was taken for one"},
		{controlCharacters, "invisible characters were replaced"},
		{entryCut, "the end of a text over the limit was left out"},
		{listCut, "entries over the limit were left out"},
		{andMoreWarnings, "how many warnings of a kind are not listed"},
	}
}

// Vocabularies lists the vocabularies.
func Vocabularies() []Vocabulary {
	return []Vocabulary{V2Status, WorkerBlock, ReviewerBlock, AttemptStatus, QueueStatus, SnapshotStatus}
}

// Words returns every status word of every vocabulary once. Each vocabulary has its own field: a word
// of one never decides about another, even if it is spelled the same.
func Words() []Word { return slices.Clone(words) }

// A Rule is a row of the acceptance matrix: which fields a result of this role with this status must
// have, and which it may have besides. Judge follows the same data.
type Rule struct {
	Grammar  Grammar
	Role     core.Role
	Status   string
	Verdict  Verdict
	Required []string
	Optional []string
}

// Matrix returns the acceptance matrix. A legacy statement has no fields and no row.
func Matrix() []Rule {
	var rules []Rule
	for _, word := range words {
		for i := range core.Roles {
			if rule, ok := ruleFor(word, core.Role(i+1)); ok {
				rules = append(rules, rule)
			}
		}
	}
	return rules
}

// ruleFor returns the row of a status word for a role; not every role has every word.
func ruleFor(word Word, role core.Role) (Rule, bool) {
	rule := Rule{Role: role, Status: word.Word, Verdict: Verdict(word.Means)}
	worker := role == core.Worker
	switch word.In {
	case V2Status:
		rule.Grammar, rule.Required = V2, slices.Clone(requiredHeaders(rule.Verdict, worker))
		rule.Optional = without(headerKeys(worker), rule.Required)
		return rule, true
	case WorkerBlock:
		rule.Grammar, rule.Required = JSONBlock, names(workerContract(&Result{}), false)
		rule.Optional = names(workerContract(&Result{}), true)
		return rule, worker
	case ReviewerBlock:
		rule.Grammar, rule.Required = JSONBlock, names(reviewerContract(&Result{}), false)
		rule.Optional = names(reviewerContract(&Result{}), true)
		return rule, !worker
	case AttemptStatus, QueueStatus, SnapshotStatus: // not said in results
	}
	return Rule{}, false
}

// headerKeys returns the v2 headers that a result of a role may have. They do not depend on its status, so that issues on
// a pass are a remark and not an error.
func headerKeys(worker bool) []string {
	if worker {
		return slices.DeleteFunc(slices.Clone(reviewerKeys), func(key string) bool { return key == "confidence" })
	}
	return reviewerKeys
}

// names returns the keys of a contract that must be there, or those that may be.
func names(contract []key, optional bool) (list []string) {
	for _, k := range contract {
		if k.optional == optional {
			list = append(list, k.name)
		}
	}
	return list
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

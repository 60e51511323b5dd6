package verdict

// A Remark names a kind of warning.
type Remark string

const (
	byteOrderMark     Remark = "byte_order_mark"
	carriageReturns   Remark = "carriage_returns"
	brokenUTF8        Remark = "broken_utf8"
	leadingBlank      Remark = "leading_blank"
	codeFence         Remark = "code_fence"
	preamble          Remark = "preamble"
	epilogue          Remark = "epilogue"
	oneLine           Remark = "one_line"
	mentionedMarkers  Remark = "mentioned_markers"
	brokenBlock       Remark = "broken_block"
	furtherBlock      Remark = "further_block"
	furtherHeaders    Remark = "further_headers"
	unknownKey        Remark = "unknown_key"
	duplicateKey      Remark = "duplicate_key"
	keyOrder          Remark = "key_order"
	letterCase        Remark = "letter_case"
	decoration        Remark = "decoration"
	blankBetween      Remark = "blank_between"
	noBlankLine       Remark = "no_blank_line"
	listedItems       Remark = "listed_items"
	placeholder       Remark = "placeholder"
	roleDiffers       Remark = "role_differs"
	gitRangeForm      Remark = "git_range_form"
	confidenceForm    Remark = "confidence_form"
	notForRole        Remark = "not_for_role"
	issuesOnPass      Remark = "issues_on_pass"
	fixesOnApproval   Remark = "fixes_on_approval"
	nothingToFix      Remark = "nothing_to_fix"
	legacyStatement   Remark = "legacy_statement"
	controlCharacters Remark = "control_characters"
	entryCut          Remark = "entry_cut"
	listCut           Remark = "list_cut"
	andMoreWarnings   Remark = "and_more"
)

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
		{furtherBlock, "a well-formed one that was passed over"},
		{furtherHeaders, "headers that were passed over"},
		{unknownKey, "a key that means nothing"},
		{duplicateKey, "the last one counts"},
		{keyOrder, "role is not the first header"},
		{letterCase, "a word in another case or form"},
		{decoration, "bullets, asterisks, back quotes"},
		{blankBetween, "blank lines between headers"},
		{noBlankLine, "text right behind the headers"},
		{listedItems, "items on lines of their own"},
		{placeholder, "a word such as 'none' for nothing"},
		{roleDiffers, "the text speaks for another role"},
		{gitRangeForm, "not <base>..<head>"},
		{confidenceForm, "not high, medium or low"},
		{notForRole, "a key that this role does not use"},
		{issuesOnPass, "issues, although it passes"},
		{fixesOnApproval, "required fixes, although it is approved"},
		{nothingToFix, "a rejection that says nothing"},
		{legacyStatement, "the result has no form; a clear statement was taken for one"},
		{controlCharacters, "characters that nobody can see were replaced"},
		{entryCut, "the end of a text over the limit was left out"},
		{listCut, "entries over the limit were left out"},
		{andMoreWarnings, "how many warnings of a kind are not listed"},
	}
}

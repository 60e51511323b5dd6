package verdict

// A Remark names a kind of warning.
type Remark string

// The remarks. docs/results.md has their comments.
const (
	byteOrderMark     Remark = "byte_order_mark"    // the text begins with one
	carriageReturns   Remark = "carriage_returns"   // lines end in CR LF
	brokenUTF8        Remark = "broken_utf8"        // bytes were replaced
	leadingBlank      Remark = "leading_blank"      // blank lines before the headers
	codeFence         Remark = "code_fence"         // the result is in a code fence
	preamble          Remark = "preamble"           // text before the headers
	epilogue          Remark = "epilogue"           // text after the result block
	oneLine           Remark = "one_line"           // markers that are not alone on their lines
	mentionedMarkers  Remark = "mentioned_markers"  // markers that enclose nothing
	brokenBlock       Remark = "broken_block"       // a result block that was passed over
	furtherResult     Remark = "further_result"     // further results are ignored; this one counts
	quotations        Remark = "quoted_result"      // a result without the key, beside one that has it
	keyMissing        Remark = "key_missing"        // the prompt asks for a key, and the result has none
	unknownKey        Remark = "unknown_key"        // a key that is not defined
	duplicateKey      Remark = "duplicate_key"      // the last one counts
	keyOrder          Remark = "key_order"          // role is not the first header
	letterCase        Remark = "letter_case"        // a word in another case or form
	decoration        Remark = "decoration"         // bullets, asterisks, back quotes
	blankBetween      Remark = "blank_between"      // blank lines between headers
	noBlankLine       Remark = "no_blank_line"      // text right behind the headers
	listedItems       Remark = "listed_items"       // items on lines of their own
	placeholder       Remark = "placeholder"        // a word such as 'none' for nothing
	gitRangeForm      Remark = "git_range_form"     // not <base>..<head>
	confidenceForm    Remark = "confidence_form"    // not high, medium or low
	notForRole        Remark = "not_for_role"       // a key that this role does not use
	issuesOnPass      Remark = "issues_on_pass"     // issues, although it passes
	fixesOnApproval   Remark = "fixes_on_approval"  // required fixes, although it is approved
	nothingToFix      Remark = "nothing_to_fix"     // a rejection without issues
	legacyStatement   Remark = "legacy_statement"   // the result has no form; a clear statement was taken for one
	controlCharacters Remark = "control_characters" // invisible characters were replaced
	entryCut          Remark = "entry_cut"          // the end of a text over the limit was left out
	listCut           Remark = "list_cut"           // entries over the limit were left out
	andMoreWarnings   Remark = "and_more"           // how many warnings of a kind are not listed
)

package markdown

// Kinds are all kinds of nodes, for the tests that hold them against what the page draws.
var Kinds = []string{
	kindText, kindPlain, kindParagraph, kindHeading, kindEmphasis, kindStrong, kindStrikethrough, kindCode, kindCodeBlock, kindQuote, kindList, kindItem,
	kindLink, kindImage, kindRule, kindBreak, kindTable, kindRow, kindCell,
}

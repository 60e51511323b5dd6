// Package markdown reads text that others have written as GitHub's Markdown, and gives what it says as a tree of
// nodes of a few kinds: words, and what they are, for a page to draw.
//
// It refuses to write HTML, to pass any on as such, and to lead anywhere but to http, https and mailto. A tag is text,
// as it stands; a picture is a link, because to load it would tell somebody that the text was read; a link to anything
// else is its words with the address behind them. What Markdown never shows stays hidden here as well: the titles of
// links, the definitions that links refer to, and the language of a block of code.
//
// # How much it takes
//
// The text is of strangers, so its cost is bounded by construction, and grows with its length and not with what it
// says:
//
//   - A text over MaxBytes is not read at all. It is given as it was written, and the answer says so.
//   - A block over 4 KiB has no markup within its lines. To find where an emphasis or a link ends can take the square of
//     the length of a block, and so of no more than that.
//   - Quotes and lists are opened within one another 16 times. A mark beyond that is text.
//   - A text has tables of 4,000 cells at most; what would go beyond stays a paragraph. A row is as wide as the head of
//     its table, so few characters can ask for very many cells.
//   - Nodes are nested 64 deep. What is below is given as its words.
//   - An address over 2 KiB leads nowhere. Nodes and their addresses take 1 MiB at most, beside the words. A text that
//     asks for more is given as it was written, and the answer says so.
package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

const (
	// MaxBytes is how long a text may be whose markup is read.
	MaxBytes = 64 << 10

	maxBlock  = 4 << 10
	maxNested = 16
	maxCells  = 4000
	maxDepth  = 64
	maxURL    = 2 << 10
	maxTaken  = 1 << 20
	// nodeTakes is what a node counts as, which is about what it is in JSON.
	nodeTakes = 64
)

// Why a text was given as it was written.
const (
	// TooLong says that it has more than MaxBytes.
	TooLong = "too_long"
	// TooMuch says that its markup would make more nodes than are given.
	TooMuch = "too_much"
)

// A Document is what a text says.
type Document struct {
	Nodes []Node `json:"nodes"`
	// Plain says why the text was given as it was written, in one node of the kind "plain"; "" if its markup was read.
	Plain string `json:"plain,omitzero"`
}

// A Node is a piece of a text. Which of its fields there are depends on its kind.
type Node struct {
	Kind string `json:"kind"`
	// Text is what "text", "code", "code_block" and "plain" say. In the last two, lines are lines.
	Text string `json:"text,omitzero"`
	// URL is where a "link" or an "image" leads: to http, https or mailto.
	URL string `json:"url,omitzero"`
	// Level is that of a "heading", from 1 to 6.
	Level int `json:"level,omitzero"`
	// Ordered and Start say that a "list" is numbered, and from where.
	Ordered bool `json:"ordered,omitzero"`
	Start   *int `json:"start,omitzero"`
	// Checked is the box of an "item", if it has one.
	Checked *bool `json:"checked,omitzero"`
	// Header says that a "cell" is of the head of its table.
	Header   bool   `json:"header,omitzero"`
	Children []Node `json:"children,omitzero"`
}

// The kinds of nodes.
const (
	kindText          = "text"
	kindPlain         = "plain"
	kindParagraph     = "paragraph"
	kindHeading       = "heading"
	kindEmphasis      = "emphasis"
	kindStrong        = "strong"
	kindStrikethrough = "strikethrough"
	kindCode          = "code"
	kindCodeBlock     = "code_block"
	kindQuote         = "quote"
	kindList          = "list"
	kindItem          = "item"
	kindLink          = "link"
	kindImage         = "image"
	kindRule          = "rule"
	kindBreak         = "break"
	kindTable         = "table"
	kindRow           = "row"
	kindCell          = "cell"
)

// Read gives what a text says. It has an answer for every text, of which each URL is one that may be followed. Bytes
// that are no UTF-8 are given as U+FFFD.
func Read(written string) Document {
	written = strings.ToValidUTF8(written, "\uFFFD")
	if len(written) > MaxBytes {
		return plain(written, TooLong)
	}
	source := []byte(strings.ReplaceAll(written, "\r\n", "\n"))
	d := drawer{source: source, left: maxTaken}
	nodes := d.below(newParser().Parse(text.NewReader(source)), 0)
	if d.left < 0 {
		return plain(written, TooMuch)
	}
	return Document{Nodes: nodes}
}

func plain(written, why string) Document {
	return Document{Nodes: []Node{{Kind: kindPlain, Text: written}}, Plain: why}
}

// A drawer makes nodes of what was parsed.
type drawer struct {
	source []byte
	left   int  // of what nodes may take; below zero nothing is drawn any more
	linked bool // whether what is drawn is in a link, in which there can be no other
}

// below draws what is below a node of the parser, at a depth.
func (d *drawer) below(parent ast.Node, depth int) []Node {
	s := strip{d: d}
	s.drawBelow(parent, depth)
	s.settle()
	return s.nodes
}

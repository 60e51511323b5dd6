// Package markdown parses untrusted text as GitHub's Markdown and returns a tree of nodes of a few kinds, for a page to
// draw.
//
// It produces no HTML, and links only to http, https and mailto. An HTML tag becomes text. An image becomes a link,
// because loading it would tell another server that the text was read. Another link becomes its text, followed by its
// address. Titles of links, link definitions and the language of a code block stay hidden, as in every Markdown.
//
// # Limits
//
// The text is untrusted, so its cost is limited and grows only with its length:
//
//   - A text over MaxBytes is not parsed. It is returned as one plain node with the reason.
//   - A block over 4 KiB has no inline markup, because finding the end of an emphasis or link can take quadratic time.
//   - Quotes and lists nest at most 16 times. Further marks are text.
//   - The tables of a text have at most 4,000 cells; a further table stays a paragraph. A row is as wide as the head of
//     its table, so a few characters can create very many cells.
//   - Nodes nest at most 64 times. Deeper ones become text.
//   - An address over 2 KiB is no link. Nodes and their addresses take at most 1 MiB beside the text; otherwise the
//     text is returned as one plain node with the reason.
package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

const (
	// MaxBytes is the length of the longest text that is parsed.
	MaxBytes = 64 << 10

	maxBlock   = 4 << 10
	maxNesting = 16
	maxCells   = 4000
	maxDepth   = 64
	maxURL     = 2 << 10
	maxCost    = 1 << 20
	// nodeCost is the assumed cost of a node, about its size in JSON.
	nodeCost = 64
)

// These are the reasons why a text is not parsed.
const (
	// TooLong means that the text has more than MaxBytes.
	TooLong = "too_long"
	// TooMuch means that the nodes of the text would cost too much.
	TooMuch = "too_much"
)

// A Document is a parsed text.
type Document struct {
	Nodes []Node `json:"nodes"`
	// Plain is the reason why the text was not parsed and is one node of the kind "plain"; "" if it was parsed.
	Plain string `json:"plain,omitzero"`
}

// A Node is a piece of a text. Its kind determines which fields are set.
type Node struct {
	Kind string `json:"kind"`
	// Text is the content of "text", "code", "code_block" and "plain". The last two keep their line breaks.
	Text string `json:"text,omitzero"`
	// URL is the target of a "link" or an "image": http, https or mailto.
	URL string `json:"url,omitzero"`
	// Level is the level of a "heading", from 1 to 6.
	Level int `json:"level,omitzero"`
	// Ordered reports that a "list" is numbered; Start is its first number.
	Ordered bool `json:"ordered,omitzero"`
	Start   *int `json:"start,omitzero"`
	// Checked is the state of the checkbox of an "item", if it has one.
	Checked *bool `json:"checked,omitzero"`
	// Header reports that a "cell" belongs to the head of its table.
	Header   bool   `json:"header,omitzero"`
	Children []Node `json:"children,omitzero"`
}

// These are the kinds of nodes.
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

// Read parses a text. It succeeds for every text, and every URL of its result is safe to follow. It replaces invalid
// UTF-8 by U+FFFD.
func Read(written string) Document {
	written = strings.ToValidUTF8(written, "\uFFFD")
	if len(written) > MaxBytes {
		return plainDocument(written, TooLong)
	}
	source := []byte(strings.ReplaceAll(written, "\r\n", "\n"))
	d := converter{input: source, budget: maxCost}
	nodes := d.children(newParser().Parse(text.NewReader(source)), 0)
	if d.budget < 0 {
		return plainDocument(written, TooMuch)
	}
	return Document{Nodes: nodes}
}

func plainDocument(written, why string) Document {
	return Document{Nodes: []Node{{Kind: kindPlain, Text: written}}, Plain: why}
}

// A converter turns the parser's tree into nodes.
type converter struct {
	input  []byte
	budget int  // remaining cost of nodes; below zero the conversion stops
	inLink bool // whether the current node is in a link, which cannot contain another
}

// children returns the nodes below a node of the parser.
func (d *converter) children(parent ast.Node, depth int) []Node {
	s := nodeList{d: d}
	s.addChildren(parent, depth)
	s.flushText()
	return s.nodes
}

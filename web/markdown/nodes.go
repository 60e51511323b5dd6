package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// A nodeList collects sibling nodes.
type nodeList struct {
	d           *converter
	nodes       []Node
	pendingText []byte // not in a node yet
}

// addText adds text. The parser returns text in many pieces; adjacent pieces become one node.
func (s *nodeList) addText(words string) { s.pendingText = append(s.pendingText, words...) }

// add adds a node.
func (s *nodeList) add(n Node) {
	s.flushText()
	s.nodes = append(s.nodes, n)
	s.d.budget -= nodeCost + len(n.URL)
}

// flushText adds a node with the pending text.
func (s *nodeList) flushText() {
	if len(s.pendingText) == 0 {
		return
	}
	words := string(s.pendingText)
	s.pendingText = nil
	s.add(Node{Kind: kindText, Text: words})
}

// addNode adds a node of the parser and its children. A node of an unknown kind becomes text.
func (s *nodeList) addNode(n ast.Node, depth int) {
	if depth >= maxDepth-1 {
		s.addText(s.d.textOf(n))
		return
	}
	switch n := n.(type) {
	case *ast.Text:
		s.addText(s.d.textOfSegment(n))
		if n.HardLineBreak() {
			s.add(Node{Kind: kindBreak})
		} else if n.SoftLineBreak() {
			s.addText("\n")
		}
	case *ast.String:
		s.addText(string(n.Value))
	case *ast.RawHTML:
		s.addText(s.d.source(n.Segments))
	case *ast.CodeSpan:
		s.add(Node{Kind: kindCode, Text: s.d.textOf(n)})
	case *ast.Link:
		s.link(Node{Kind: kindLink}, n, n.Destination, depth)
	case *ast.Image:
		s.link(Node{Kind: kindImage}, n, n.Destination, depth)
	case *ast.AutoLink:
		s.autoLink(n)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		s.add(Node{Kind: kindCodeBlock, Text: trimLastNewline(s.d.source(n.Lines()))})
	case *ast.HTMLBlock:
		s.add(Node{Kind: kindPlain, Text: trimLastNewline(s.d.htmlSource(n))})
	case *ast.ThematicBreak:
		s.add(Node{Kind: kindRule})
	case *ast.LinkReferenceDefinition: // only links refer to it
	case *ast.TextBlock:
		s.addChildren(n, depth)
	default:
		s.addContainer(n, depth)
	}
}

// addChildren adds the children of a node that has no node of its own.
func (s *nodeList) addChildren(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil && s.d.budget >= 0; c = c.NextSibling() {
		s.addNode(c, depth)
	}
}

// addContainer adds a node that has only a kind and children.
func (s *nodeList) addContainer(n ast.Node, depth int) {
	drawn, known := nodeOf(n)
	if !known {
		s.addText(s.d.textOf(n))
		return
	}
	drawn.Children = s.d.children(n, depth+1)
	s.add(drawn)
}

// nodeOf returns the node for one of the parser, without children.
func nodeOf(n ast.Node) (_ Node, known bool) {
	switch n := n.(type) {
	case *ast.Paragraph:
		return Node{Kind: kindParagraph}, true
	case *ast.Heading:
		return Node{Kind: kindHeading, Level: n.Level}, true
	case *ast.Emphasis:
		if n.Level > 1 {
			return Node{Kind: kindStrong}, true
		}
		return Node{Kind: kindEmphasis}, true
	case *extast.Strikethrough:
		return Node{Kind: kindStrikethrough}, true
	case *ast.Blockquote:
		return Node{Kind: kindQuote}, true
	case *ast.List:
		if n.IsOrdered() {
			return Node{Kind: kindList, Ordered: true, Start: &n.Start}, true
		}
		return Node{Kind: kindList}, true
	case *ast.ListItem:
		return Node{Kind: kindItem, Checked: checked(n)}, true
	case *extast.Table:
		return Node{Kind: kindTable}, true
	case *extast.TableHeader, *extast.TableRow:
		return Node{Kind: kindRow}, true
	case *extast.TableCell:
		_, header := n.Parent().(*extast.TableHeader)
		return Node{Kind: kindCell, Header: header}, true
	}
	return Node{}, false
}

// checked returns the state of the checkbox at the start of an item, or nil.
func checked(item *ast.ListItem) *bool {
	if first := item.FirstChild(); first != nil {
		if box, ok := first.FirstChild().(*extast.TaskCheckBox); ok {
			return &box.IsChecked
		}
	}
	return nil
}

// link adds a link with an allowed address. Another link becomes its text followed by the address, so that a reader sees
// its target.
func (s *nodeList) link(drawn Node, n ast.Node, destination []byte, depth int) {
	if s.d.inLink {
		s.addChildren(n, depth)
		return
	}
	drawn.URL = linkURL(destination)
	if drawn.URL == "" {
		s.addChildren(n, depth)
		s.d.budget -= len(destination) // many links can refer to one definition
		if to := unescape(destination); to != "" && to != s.d.textOf(n) {
			s.addText(" (" + to + ")")
		}
		return
	}
	s.d.inLink = true
	drawn.Children = s.d.children(n, depth+1)
	s.d.inLink = false
	s.add(drawn)
}

// autoLink adds an address that is written in the text.
func (s *nodeList) autoLink(n *ast.AutoLink) {
	label := string(n.Label(s.d.input))
	to := n.URL(s.d.input)
	if n.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(to), []byte("mailto:")) {
		to = append([]byte("mailto:"), to...)
	}
	url := plainLinkURL(to)
	if url == "" || s.d.inLink {
		s.addText(label)
		return
	}
	s.d.budget -= nodeCost
	s.add(Node{Kind: kindLink, URL: url, Children: []Node{{Kind: kindText, Text: label}}})
}

// textOf returns the text of a node and its descendants.
func (d *converter) textOf(n ast.Node) string {
	var b strings.Builder
	d.collectText(&b, n)
	return b.String()
}

func (d *converter) collectText(b *strings.Builder, n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		b.WriteString(d.textOfSegment(n))
		if n.SoftLineBreak() || n.HardLineBreak() {
			b.WriteByte('\n')
		}
	case *ast.String:
		b.Write(n.Value)
	case *ast.LinkReferenceDefinition:
	case *ast.RawHTML:
		b.WriteString(d.source(n.Segments))
	case *ast.AutoLink:
		b.Write(n.Label(d.input))
	case *ast.HTMLBlock:
		b.WriteString(d.htmlSource(n))
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		b.WriteString(d.source(n.Lines()))
	default:
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			d.collectText(b, c)
		}
		if n.Type() == ast.TypeBlock {
			b.WriteByte('\n')
		}
	}
}

// textOfSegment returns a piece of text. In code it unescapes nothing and turns line ends into spaces.
func (d *converter) textOfSegment(n *ast.Text) string {
	if n.IsRaw() {
		return strings.ReplaceAll(string(n.Value(d.input)), "\n", " ")
	}
	return unescape(n.Value(d.input))
}

// source returns lines of the text as written.
func (d *converter) source(segments *text.Segments) string {
	var b strings.Builder
	for i := range segments.Len() {
		at := segments.At(i)
		b.Write(at.Value(d.input))
	}
	return b.String()
}

// htmlSource returns a block of HTML as written.
func (d *converter) htmlSource(n *ast.HTMLBlock) string {
	written := d.source(n.Lines())
	if n.HasClosure() {
		written += string(n.ClosureLine.Value(d.input))
	}
	return written
}

// trimLastNewline returns the lines without the last line end.
func trimLastNewline(written string) string { return strings.TrimSuffix(written, "\n") }

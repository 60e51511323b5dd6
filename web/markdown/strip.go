package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// A strip is nodes side by side, as they are drawn one after another.
type strip struct {
	d     *drawer
	nodes []Node
	words []byte // that were said and are in no node yet
}

// say adds words. The parser gives them in many pieces; what stands together is one node.
func (s *strip) say(words string) { s.words = append(s.words, words...) }

// add adds a node.
func (s *strip) add(n Node) {
	s.settle()
	s.nodes = append(s.nodes, n)
	s.d.left -= nodeTakes + len(n.URL)
}

// settle makes a node of the words that are in none yet.
func (s *strip) settle() {
	if len(s.words) == 0 {
		return
	}
	words := string(s.words)
	s.words = nil
	s.add(Node{Kind: kindText, Text: words})
}

// draw draws a node of the parser and what is below it. What has a kind of its own becomes a node; all else, its words.
func (s *strip) draw(n ast.Node, depth int) {
	if depth >= maxDepth-1 {
		s.say(s.d.wordsOf(n))
		return
	}
	switch n := n.(type) {
	case *ast.Text:
		s.say(s.d.said(n))
		if n.HardLineBreak() {
			s.add(Node{Kind: kindBreak})
		} else if n.SoftLineBreak() {
			s.say("\n")
		}
	case *ast.String:
		s.say(string(n.Value))
	case *ast.RawHTML:
		s.say(s.d.asItStands(n.Segments))
	case *ast.CodeSpan:
		s.add(Node{Kind: kindCode, Text: s.d.wordsOf(n)})
	case *ast.Link:
		s.link(Node{Kind: kindLink}, n, n.Destination, depth)
	case *ast.Image:
		s.link(Node{Kind: kindImage}, n, n.Destination, depth)
	case *ast.AutoLink:
		s.autoLink(n)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		s.add(Node{Kind: kindCodeBlock, Text: lines(s.d.asItStands(n.Lines()))})
	case *ast.HTMLBlock:
		s.add(Node{Kind: kindPlain, Text: lines(s.d.tags(n))})
	case *ast.ThematicBreak:
		s.add(Node{Kind: kindRule})
	case *ast.LinkReferenceDefinition: // it says where others lead
	case *ast.TextBlock:
		s.drawBelow(n, depth)
	default:
		s.whole(n, depth)
	}
}

// drawBelow draws what is below a node that is none itself.
func (s *strip) drawBelow(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil && s.d.left >= 0; c = c.NextSibling() {
		s.draw(c, depth)
	}
}

// whole draws a node that is nothing but its kind and what is below it.
func (s *strip) whole(n ast.Node, depth int) {
	drawn, known := shape(n)
	if !known {
		s.say(s.d.wordsOf(n))
		return
	}
	drawn.Children = s.d.below(n, depth+1)
	s.add(drawn)
}

// shape gives the node for one of the parser, without what is below it.
func shape(n ast.Node) (_ Node, known bool) {
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

// checked gives the box of an item. It stands before the first words, where it says nothing more.
func checked(item *ast.ListItem) *bool {
	if first := item.FirstChild(); first != nil {
		if box, ok := first.FirstChild().(*extast.TaskCheckBox); ok {
			return &box.IsChecked
		}
	}
	return nil
}

// link draws what leads somewhere. What does not is its words, with the address behind them: whoever reads them is to
// see where they were to be led.
func (s *strip) link(drawn Node, n ast.Node, destination []byte, depth int) {
	if s.d.linked {
		s.drawBelow(n, depth)
		return
	}
	drawn.URL = address(destination)
	if drawn.URL == "" {
		s.drawBelow(n, depth)
		s.d.left -= len(destination) // one that is defined once can be referred to often
		if to := unescaped(destination); to != "" && to != s.d.wordsOf(n) {
			s.say(" (" + to + ")")
		}
		return
	}
	s.d.linked = true
	drawn.Children = s.d.below(n, depth+1)
	s.d.linked = false
	s.add(drawn)
}

// autoLink draws an address that stands in the text as such.
func (s *strip) autoLink(n *ast.AutoLink) {
	label := string(n.Label(s.d.source))
	to := n.URL(s.d.source)
	if n.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(to), []byte("mailto:")) {
		to = append([]byte("mailto:"), to...)
	}
	url := plainAddress(to)
	if url == "" || s.d.linked {
		s.say(label)
		return
	}
	s.d.left -= nodeTakes
	s.add(Node{Kind: kindLink, URL: url, Children: []Node{{Kind: kindText, Text: label}}})
}

// wordsOf gives all words of a node and below it.
func (d *drawer) wordsOf(n ast.Node) string {
	var b strings.Builder
	d.gather(&b, n)
	return b.String()
}

func (d *drawer) gather(b *strings.Builder, n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		b.WriteString(d.said(n))
		if n.SoftLineBreak() || n.HardLineBreak() {
			b.WriteByte('\n')
		}
	case *ast.String:
		b.Write(n.Value)
	case *ast.LinkReferenceDefinition:
	case *ast.RawHTML:
		b.WriteString(d.asItStands(n.Segments))
	case *ast.AutoLink:
		b.Write(n.Label(d.source))
	case *ast.HTMLBlock:
		b.WriteString(d.tags(n))
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		b.WriteString(d.asItStands(n.Lines()))
	default:
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			d.gather(b, c)
		}
		if n.Type() == ast.TypeBlock {
			b.WriteByte('\n')
		}
	}
}

// said gives what a piece of text says. In code nothing is escaped, and a line ends like a word.
func (d *drawer) said(n *ast.Text) string {
	if n.IsRaw() {
		return strings.ReplaceAll(string(n.Value(d.source)), "\n", " ")
	}
	return unescaped(n.Value(d.source))
}

// asItStands gives lines of the text as they are written.
func (d *drawer) asItStands(segments *text.Segments) string {
	var b strings.Builder
	for i := range segments.Len() {
		at := segments.At(i)
		b.Write(at.Value(d.source))
	}
	return b.String()
}

// tags gives a block of HTML as it stands.
func (d *drawer) tags(n *ast.HTMLBlock) string {
	written := d.asItStands(n.Lines())
	if n.HasClosure() {
		written += string(n.ClosureLine.Value(d.source))
	}
	return written
}

// lines gives lines without the end of the last one.
func lines(written string) string { return strings.TrimSuffix(written, "\n") }

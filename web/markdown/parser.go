package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// This file puts the library's parsers together, each behind what bounds its cost. None of them is left unbounded whose
// cost can be more than in proportion.

// newParser gives a parser for one text.
func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(shallow{parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(shallow{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(parser.NewHTMLBlockParser(), 900),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(short{extension.NewTaskCheckBoxParser()}, 0),
			util.Prioritized(short{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(short{parser.NewLinkParser()}, 200),
			util.Prioritized(short{parser.NewAutoLinkParser()}, 300),
			util.Prioritized(short{parser.NewRawHTMLParser()}, 400),
			util.Prioritized(short{parser.NewEmphasisParser()}, 500),
			util.Prioritized(short{extension.NewStrikethroughParser()}, 500),
			util.Prioritized(short{extension.NewLinkifyParser()}, 999),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
			util.Prioritized(&small{inner: extension.NewTableParagraphTransformer()}, 200),
		),
		parser.WithASTTransformers(
			util.Prioritized(extension.NewTableASTTransformer(), 0),
		),
	)
}

// shallow opens a quote or a list where there are not too many around it: every line goes through all that are open.
type shallow struct{ parser.BlockParser }

func (p shallow) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, at := reader.Position()
	// The parser is asked all the same, because it remembers that it was.
	node, state := p.BlockParser.Open(parent, reader, pc)
	if node != nil && nested(parent) >= maxNested {
		reader.SetPosition(line, at)
		return nil, parser.NoChildren
	}
	return node, state
}

// nested counts the quotes and lists around what is put into a node.
func nested(n ast.Node) (around int) {
	for ; n != nil; n = n.Parent() {
		switch n.(type) {
		case *ast.Blockquote, *ast.List:
			around++
		}
	}
	return around
}

// short looks for markup in the lines of a block that is not too long.
type short struct{ parser.InlineParser }

func (p short) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if lines := parent.Lines(); lines.Len() > 0 && lines.At(lines.Len()-1).Stop-lines.At(0).Start > maxBlock {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// CloseBlock lets a parser forget what it found in a block.
func (p short) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if closer, ok := p.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(parent, block, pc)
	}
}

// small makes tables of paragraphs as long as their cells are not too many.
type small struct {
	inner parser.ParagraphTransformer
	cells int // of the tables so far
}

func (p *small) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, source, widest := node.Lines(), reader.Source(), 0
	before := lines.Len()
	for i := range before {
		at := lines.At(i)
		widest = max(widest, bytes.Count(source[at.Start:at.Stop], []byte("|"))+1)
	}
	if p.cells+widest*before > maxCells {
		return
	}
	p.inner.Transform(node, reader, pc)
	p.cells += widest * (before - node.Lines().Len())
}

package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// This file combines the parsers of the library with limits, so that no cost grows faster than the text.

// newParser returns a parser for one text.
func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(nestingLimit{parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(nestingLimit{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(parser.NewHTMLBlockParser(), 900),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(lengthLimit{extension.NewTaskCheckBoxParser()}, 0),
			util.Prioritized(lengthLimit{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(lengthLimit{parser.NewLinkParser()}, 200),
			util.Prioritized(lengthLimit{parser.NewAutoLinkParser()}, 300),
			util.Prioritized(lengthLimit{parser.NewRawHTMLParser()}, 400),
			util.Prioritized(lengthLimit{parser.NewEmphasisParser()}, 500),
			util.Prioritized(lengthLimit{extension.NewStrikethroughParser()}, 500),
			util.Prioritized(lengthLimit{extension.NewLinkifyParser()}, 999),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
			util.Prioritized(&cellLimit{inner: extension.NewTableParagraphTransformer()}, 200),
		),
		parser.WithASTTransformers(
			util.Prioritized(extension.NewTableASTTransformer(), 0),
		),
	)
}

// nestingLimit limits the nesting of quotes and lists, because the parser passes every line through all open ones.
type nestingLimit struct{ parser.BlockParser }

func (p nestingLimit) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, at := reader.Position()
	// Open must be called even at the limit, because the parser records the call.
	node, state := p.BlockParser.Open(parent, reader, pc)
	if node != nil && nestingDepth(parent) >= maxNesting {
		reader.SetPosition(line, at)
		return nil, parser.NoChildren
	}
	return node, state
}

// nestingDepth returns the number of quotes and lists around a child of the node.
func nestingDepth(n ast.Node) (around int) {
	for ; n != nil; n = n.Parent() {
		switch n.(type) {
		case *ast.Blockquote, *ast.List:
			around++
		}
	}
	return around
}

// lengthLimit parses inline markup only in blocks up to maxBlock.
type lengthLimit struct{ parser.InlineParser }

func (p lengthLimit) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if lines := parent.Lines(); lines.Len() > 0 && lines.At(lines.Len()-1).Stop-lines.At(0).Start > maxBlock {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// CloseBlock passes the end of a block to the parser.
func (p lengthLimit) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if closer, ok := p.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(parent, block, pc)
	}
}

// cellLimit turns paragraphs into tables until their cells reach maxCells.
type cellLimit struct {
	inner parser.ParagraphTransformer
	cells int // of all tables so far
}

func (p *cellLimit) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
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

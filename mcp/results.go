package mcp

import (
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/schema"
)

// An answer of a tool is a list of facts. They are told twice, because hosts differ in what they show the model: as
// lines of text, and as an object. Both come from the same list, so neither can say more than the other.

// maxText bounds the lines of an answer, without the long texts behind them.
const maxText = 8 << 10

// A fact is something that an answer tells: a string, a bool, an int, a []string, a []facts or a long.
type fact struct {
	name  string
	value any
}

type facts []fact

// add adds a fact, unless there is nothing to tell.
func (f *facts) add(name string, value any) {
	if !empty(value) {
		f.put(name, value)
	}
}

func empty(value any) bool {
	switch v := value.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case int:
		return v == 0
	case []string:
		return len(v) == 0
	case []facts:
		return len(v) == 0
	case long:
		return v.text == ""
	}
	return false
}

// put adds a fact, also a false and a 0.
func (f *facts) put(name string, value any) { *f = append(*f, fact{name, value}) }

// some adds the first few elements of a list, and how many there are if that is more.
func some[E any](f *facts, name string, all []E, tell func(E) facts) {
	f.add(name, listOf(all[:min(len(all), maxTold)], tell))
	f.total(name, len(all))
}

// words is some for words of others.
func (f *facts) words(name string, all []string) {
	f.add(name, folds(all[:min(len(all), maxTold)]))
	f.total(name, len(all))
}

func (f *facts) total(name string, n int) {
	if n > maxTold {
		f.put(name+"_total", n)
	}
}

// listOf tells of each element.
func listOf[E any](all []E, tell func(E) facts) []facts {
	out := make([]facts, len(all))
	for i, each := range all {
		out[i] = tell(each)
	}
	return out
}

// A long is a text that is worth a block of its own. What is over its size is told by pages.
type long struct {
	text string
	size int
}

// A page is as much of a long as one answer tells.
type page struct {
	text   string
	from   int // the first byte
	total  int
	cursor string // for what follows; "" if nothing does
	block  int    // the place of its block in the answer, from 1
}

// where says where a page is, and how to get what follows.
func (p *page) where() string {
	s := fmt.Sprintf("in block %d of this answer", p.block)
	if p.from > 0 || p.cursor != "" {
		s += fmt.Sprintf(", bytes %d to %d of %d", p.from, p.from+len(p.text), p.total)
	}
	if p.cursor != "" {
		s += "; for the rest call this tool again with cursor " + p.cursor
	}
	return s
}

// result makes an answer of facts. What does not fit goes on the shelf.
func (s *shelf) result(f facts) *sdk.CallToolResult {
	b := builder{shelf: s}
	f = b.paged(f)
	var text strings.Builder
	f.write(&text)
	head := strings.TrimSuffix(text.String(), "\n")
	if head == "" {
		head = "done"
	}
	content := []sdk.Content{&sdk.TextContent{Text: s.bounded(head)}}
	for _, p := range b.blocks {
		content = append(content, &sdk.TextContent{Text: p})
	}
	return &sdk.CallToolResult{Content: content, StructuredContent: f}
}

// bounded cuts the lines of an answer that has too many, and says so.
func (s *shelf) bounded(text string) string {
	if len(text) <= maxText {
		return text
	}
	p := s.page(text, 0, maxText-200)
	return strings.TrimSuffix(p.text, "\n") +
		fmt.Sprintf("\ncut: bytes 0 to %d of %d; for the rest call this tool again with cursor %s", len(p.text), p.total, p.cursor)
}

// A builder puts the long texts of an answer into blocks.
type builder struct {
	shelf  *shelf
	blocks []string
}

// paged gives the facts with pages in place of the long texts.
func (b *builder) paged(f facts) facts {
	out := make(facts, 0, len(f))
	for _, each := range f {
		switch v := each.value.(type) {
		case long:
			p := b.shelf.page(v.text, 0, v.size)
			b.blocks = append(b.blocks, p.text)
			p.block = len(b.blocks) + 1
			each.value = p
		case page:
			b.blocks = append(b.blocks, v.text)
			v.block = len(b.blocks) + 1
			each.value = v
		case []facts:
			inner := make([]facts, len(v))
			for i := range v {
				inner[i] = b.paged(v[i])
			}
			each.value = inner
		}
		out = append(out, each)
	}
	return out
}

// write writes a line for each fact, and one for each element of a list.
func (f facts) write(b *strings.Builder) {
	for _, each := range f {
		switch v := each.value.(type) {
		case []facts:
			if len(v) == 0 {
				fmt.Fprintf(b, "%s: none\n", each.name)
				continue
			}
			fmt.Fprintf(b, "%s:\n", each.name)
			for _, inner := range v {
				fmt.Fprintf(b, "- %s\n", inner.line())
			}
		case string:
			writeText(b, each.name, v)
		default:
			fmt.Fprintf(b, "%s: %s\n", each.name, spell(v))
		}
	}
}

// inlined gives the facts with the beginnings of the long texts in place of pages, for what has no pages.
func (f facts) inlined() facts {
	out := make(facts, len(f))
	for i, each := range f {
		if v, ok := each.value.(long); ok {
			each.value = marked(v.text, v.size)
		}
		out[i] = each
	}
	return out
}

// writeText writes a string. One of several lines is indented, so that it cannot pass for facts.
func writeText(b *strings.Builder, name, text string) {
	if !strings.Contains(text, "\n") {
		fmt.Fprintf(b, "%s: %s\n", name, text)
		return
	}
	fmt.Fprintf(b, "%s:\n", name)
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "  %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// line tells facts on one line.
func (f facts) line() string {
	parts := make([]string, len(f))
	for i, each := range f {
		parts[i] = each.name + ": " + strings.Join(strings.Fields(spell(each.value)), " ")
	}
	return strings.Join(parts, ", ")
}

// spell gives a value as text.
func spell(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case []string:
		if len(v) == 0 {
			return "none"
		}
		return strings.Join(v, ", ")
	case page:
		return v.where()
	}
	panic(fmt.Sprintf("mcp: a fact cannot be a %T", value))
}

// MarshalJSON gives the facts as an object, in their order.
func (f facts) MarshalJSON() ([]byte, error) { return schema.Encode(f.members()) }

func (f facts) members() schema.Ordered {
	out := schema.Ordered{}
	for _, each := range f {
		switch v := each.value.(type) {
		case page:
			out.Put(each.name, v.text)
			if v.from > 0 || v.cursor != "" {
				out.Put(each.name+"_from_byte", v.from)
				out.Put(each.name+"_bytes", v.total)
			}
			if v.cursor != "" {
				out.Put(each.name+"_cursor", v.cursor)
			}
		case []facts:
			list := make([]schema.Ordered, len(v))
			for i := range v {
				list[i] = v[i].members()
			}
			out.Put(each.name, list)
		default:
			out.Put(each.name, v)
		}
	}
	return out
}

// refusal makes an answer of an error: its code, what is wrong, and what to do about it.
func refusal(fault *schema.Error) *sdk.CallToolResult {
	text := string(fault.Data.Code) + ": " + sentence(said(fault.Message, maxFault))
	if fault.Data.Hint != "" {
		text += " " + sentence(strings.ToUpper(fault.Data.Hint[:1])+fault.Data.Hint[1:])
	}
	if fault.Data.RetryAfterMS > 0 {
		text += fmt.Sprintf(" Try again in %d ms.", fault.Data.RetryAfterMS)
	}
	if fault.Data.Outcome == schema.OutcomeUnknown {
		text += " It may have taken effect."
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// maxFault bounds the message of an error.
const maxFault = 2 << 10

// sentence ends a text as a sentence ends.
func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

package mcp

import (
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"waybill/schema"
	"waybill/schema/codec"
)

// The answer of a tool is a list of facts. It is written twice, as lines of text and as an object, because hosts differ
// in which one they show to the model. Both come from the same list.

// maxText limits the lines of an answer, without its long texts.
const maxText = 8 << 10

// A fact is a named value of an answer: a string, bool, int, []string, []facts or longText.
type fact struct {
	name  string
	value any
}

type facts []fact

// add adds a fact unless its value is empty.
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
	case longText:
		return v.text == ""
	}
	return false
}

// put adds a fact even if its value is empty.
func (f *facts) put(name string, value any) { *f = append(*f, fact{name, value}) }

// addSome adds the first elements of a list, and the total if there are more.
func addSome[E any](f *facts, name string, all []E, tell func(E) facts) {
	f.add(name, listOf(all[:min(len(all), maxListed)], tell))
	f.total(name, len(all))
}

// addNeutral is addSome for untrusted texts.
func (f *facts) addNeutral(name string, all []string) {
	f.add(name, neutralLines(all[:min(len(all), maxListed)]))
	f.total(name, len(all))
}

func (f *facts) total(name string, n int) {
	if n > maxListed {
		f.put(name+"_total", n)
	}
}

// listOf returns the facts of each element.
func listOf[E any](all []E, tell func(E) facts) []facts {
	out := make([]facts, len(all))
	for i, each := range all {
		out[i] = tell(each)
	}
	return out
}

// A longText is a text in a block of its own, of which one answer shows up to size bytes.
type longText struct {
	text string
	size int
}

// A page is the part of a longText that one answer shows.
type page struct {
	text   string
	from   int // the first byte
	total  int
	cursor string // of the next page, or ""
	block  int    // index of its block in the answer, from 1
}

// where returns a text that says where a page is and how to get the next one.
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

// result returns an answer with the facts. It keeps the text that does not fit.
func (s *pager) result(f facts) *sdk.CallToolResult {
	b := builder{pager: s}
	f = b.paged(f)
	var text strings.Builder
	f.write(&text)
	head := strings.TrimSuffix(text.String(), "\n")
	if head == "" {
		head = "done"
	}
	content := []sdk.Content{&sdk.TextContent{Text: s.boundLines(head)}}
	for _, p := range b.blocks {
		content = append(content, &sdk.TextContent{Text: p})
	}
	return &sdk.CallToolResult{Content: content, StructuredContent: f}
}

// boundLines cuts the lines of an answer at maxText and adds the cursor of the rest.
func (s *pager) boundLines(text string) string {
	if len(text) <= maxText {
		return text
	}
	p := s.page(text, 0, maxText-200)
	return strings.TrimSuffix(p.text, "\n") +
		fmt.Sprintf("\ncut: bytes 0 to %d of %d; for the rest call this tool again with cursor %s", len(p.text), p.total, p.cursor)
}

// A builder collects the long texts of an answer as blocks.
type builder struct {
	pager  *pager
	blocks []string
}

// paged returns the facts with their long texts replaced by pages.
func (b *builder) paged(f facts) facts {
	out := make(facts, 0, len(f))
	for _, each := range f {
		switch v := each.value.(type) {
		case longText:
			p := b.pager.page(v.text, 0, v.size)
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

// withoutPages returns the facts with their long texts cut, for answers that have no pages.
func (f facts) withoutPages() facts {
	out := make(facts, len(f))
	for i, each := range f {
		if v, ok := each.value.(longText); ok {
			each.value = cutNote(v.text, v.size)
		}
		out[i] = each
	}
	return out
}

// writeText writes a string. It indents a text of several lines, so that it cannot pass for facts.
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

// line returns the facts as one line.
func (f facts) line() string {
	parts := make([]string, len(f))
	for i, each := range f {
		parts[i] = each.name + ": " + strings.Join(strings.Fields(spell(each.value)), " ")
	}
	return strings.Join(parts, ", ")
}

// spell returns a value as text.
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

// MarshalJSON returns the facts as an object, in their order.
func (f facts) MarshalJSON() ([]byte, error) { return codec.Encode(f.members()) }

func (f facts) members() codec.Ordered {
	out := codec.Ordered{}
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
			list := make([]codec.Ordered, len(v))
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

// refusal returns an answer for an error: its code, its message and its hint.
func refusal(fault *schema.Error) *sdk.CallToolResult {
	text := string(fault.Data.Code) + ": " + withFullStop(neutralCut(fault.Message, maxFault))
	if fault.Data.Hint != "" {
		text += " " + withFullStop(strings.ToUpper(fault.Data.Hint[:1])+fault.Data.Hint[1:])
	}
	if fault.Data.RetryAfterMS > 0 {
		text += fmt.Sprintf(" Try again in %d ms.", fault.Data.RetryAfterMS)
	}
	if fault.Data.Outcome == schema.OutcomeUnknown {
		text += " It may have taken effect."
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// maxFault limits the message of an error.
const maxFault = 2 << 10

// withFullStop returns the text with a full stop if it has no end mark.
func withFullStop(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

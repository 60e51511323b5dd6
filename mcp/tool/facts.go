package tool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"waybill/mcp/inert"
	"waybill/mcp/message"
	"waybill/mcp/pages"
	"waybill/schema"
	"waybill/schema/codec"
)

// The answer of a tool is a list of facts. It is written twice, as one text and as an object, because hosts differ in which
// one they show to the model, and in how they join several texts. Both come from the same list and say the same.

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
	f.add(name, inert.Lines(all[:min(len(all), maxListed)]))
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

// A longText is a text of which one answer shows up to size bytes.
type longText struct {
	text string
	size int
}

// A block is a text that has lines of its own.
type block string

// paged returns the facts with the first page of each long text, and the facts about its other pages.
func paged(keep *pages.Pager, f facts) facts {
	out := make(facts, 0, len(f))
	for _, each := range f {
		switch v := each.value.(type) {
		case longText:
			out = append(out, pageFacts(each.name, keep.Page(v.text, 0, v.size))...)
		case pages.Page:
			out = append(out, pageFacts(each.name, v)...)
		case []facts:
			inner := make([]facts, len(v))
			for i := range v {
				inner[i] = paged(keep, v[i])
			}
			out = append(out, fact{each.name, inner})
		default:
			out = append(out, each)
		}
	}
	return out
}

func pageFacts(name string, p pages.Page) (f facts) {
	f.put(name, block(p.Text))
	if p.From > 0 || p.Cursor != "" {
		f.put(name+"_from_byte", p.From)
		f.put(name+"_bytes", p.Total)
	}
	f.add(name+"_cursor", p.Cursor)
	return f
}

// bounded returns the facts with their longest list cut if their lines have more than maxText bytes. The first element stays,
// however long it is. The cursor of the list leads to the text of the other elements.
func bounded(keep *pages.Pager, f facts) facts {
	longest, size := -1, 0
	for i, each := range f {
		if v, ok := each.value.([]facts); ok && lineBytes(facts{each}) > size {
			longest, size = i, lineBytes(facts{{each.name, v}})
		}
	}
	room := maxText - 200 - lineBytes(f) + size
	if longest < 0 || lineBytes(f) <= maxText {
		return f
	}
	all := f[longest].value.([]facts)
	shown := 1
	for room -= lineBytes(all[0]); shown < len(all); shown++ {
		if room -= lineBytes(all[shown]); room < 0 {
			break
		}
	}
	if shown == len(all) {
		return f
	}
	name := f[longest].name
	rest := facts{{name, all[shown:]}}.text()
	out := append(slices.Clone(f[:longest]), fact{name, all[:shown]}, fact{name + "_total", len(all)}, fact{name + "_cursor", keep.Page(rest, 0, 0).Cursor})
	return append(out, f[longest+1:]...)
}

// lineBytes returns the length of the facts as text, without their blocks.
func lineBytes(f facts) (n int) {
	for _, each := range f {
		switch v := each.value.(type) {
		case block:
			n += len(each.name) + 5
			if !strings.Contains(string(v), "\n") {
				n += len(v)
			}
		case []facts:
			for _, inner := range v {
				n += lineBytes(inner)
			}
		default:
			n += len(each.name) + len(spell(v)) + 5
		}
	}
	return n
}

// text returns a line for each fact, and for each fact of an element of a list.
func (f facts) text() string {
	var b strings.Builder
	f.write(&b, "", "")
	return b.String()
}

// write writes the facts. The first line begins with first, the others with indent. where is the place of the facts in a
// list, or "".
func (f facts) write(b *strings.Builder, indent, where string) {
	for i, each := range f {
		if i > 0 || where == "" {
			b.WriteString(indent)
		}
		switch v := each.value.(type) {
		case []facts:
			fmt.Fprintf(b, "%s:", each.name)
			if len(v) == 0 {
				b.WriteString(" none")
			}
			b.WriteByte('\n')
			for n, inner := range v {
				b.WriteString(indent + "- ")
				inner.write(b, indent+"  ", fmt.Sprintf(" of %s %d", each.name, n+1))
			}
		case string:
			writeText(b, each.name, where, v)
		case block:
			writeText(b, each.name, where, string(v))
		default:
			fmt.Fprintf(b, "%s: %s\n", each.name, spell(v))
		}
	}
}

// writeText writes a text. One of several lines stands between borders with its name, which it does not contain, so that it
// cannot pass for facts.
func writeText(b *strings.Builder, name, where, text string) {
	if !strings.Contains(text, "\n") {
		fmt.Fprintf(b, "%s: %s\n", name, text)
		return
	}
	label := name + where
	for n := 2; strings.Contains(text, "--- end "+label+" ---"); n++ {
		label = fmt.Sprintf("%s%s (%d)", name, where, n)
	}
	fmt.Fprintf(b, "%s:\n--- begin %s ---\n%s\n--- end %s ---\n", name, label, strings.TrimSuffix(text, "\n"), label)
}

// withoutPages returns the facts with their long texts cut, for answers that have no pages.
func (f facts) withoutPages() facts {
	out := make(facts, len(f))
	for i, each := range f {
		if v, ok := each.value.(longText); ok {
			each.value = inert.Shorten(v.text, v.size)
		}
		out[i] = each
	}
	return out
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
	}
	panic(fmt.Sprintf("mcp: a fact cannot be a %T", value))
}

// MarshalJSON returns the facts as an object, in their order.
func (f facts) MarshalJSON() ([]byte, error) { return codec.Encode(f.members()) }

func (f facts) members() codec.Ordered {
	out := codec.Ordered{}
	for _, each := range f {
		value := each.value
		if list, ok := value.([]facts); ok {
			all := make([]codec.Ordered, len(list))
			for i := range list {
				all[i] = list[i].members()
			}
			value = all
		}
		out.Put(each.name, value)
	}
	return out
}

// refusal returns an answer for an error: its code, its message and its hint.
func refusal(fault *schema.Error) *message.ToolResult {
	says := string(fault.Data.Code) + ": " + withFullStop(inert.Cut(fault.Message, maxFault))
	if fault.Data.Hint != "" {
		says += " " + withFullStop(strings.ToUpper(fault.Data.Hint[:1])+fault.Data.Hint[1:])
	}
	if fault.Data.RetryAfterMS > 0 {
		says += fmt.Sprintf(" Try again in %d ms.", fault.Data.RetryAfterMS)
	}
	if fault.Data.Outcome == schema.OutcomeUnknown {
		says += " It may have taken effect."
	}
	return &message.ToolResult{IsError: true, Content: []message.Text{message.TextOf(says)}}
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

package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"waybill/cli/output"
	"waybill/hostconfig"
	"waybill/hostconfig/notation"
	"waybill/internal/safetext"
)

// show prints what would be changed.
func (a commands) show(r report) {
	shown := map[string]string{}
	for _, f := range r.Files {
		if f.Error != "" {
			continue
		}
		what := "is as it should be"
		switch {
		case f.Action == notation.Unchanged:
		case f.draft.Before == nil:
			what = "is new"
		case f.draft.After == nil:
			what = "is removed"
		default:
			what = "is changed"
		}
		path := safetext.Printable(f.File)
		if same, there := shown[f.Diff]; there && f.Diff != "" {
			_, _ = fmt.Fprintf(a.Out, "%s %s, like %s\n\n", path, what, same)
			continue
		}
		shown[f.Diff] = path
		_, _ = fmt.Fprintf(a.Out, "%s %s\n%s", path, what, output.Diff(beginning(f.Diff), a.Style))
		if f.Diff != "" {
			_, _ = fmt.Fprintln(a.Out)
		}
	}
}

// mostLines is how much of one difference is shown. Only a plugin has more, and --json has all of it.
const mostLines = 120

// beginning returns the first lines of a long text.
func beginning(text string) string {
	lines := strings.SplitAfterN(text, "\n", mostLines+1)
	if len(lines) <= mostLines {
		return text
	}
	return strings.Join(lines[:mostLines], "") + fmt.Sprintf("… and %s\n", output.Count(strings.Count(lines[mostLines], "\n"), "more line"))
}

// difference returns a unified difference without context. Text of others may have secrets, so it has only lines that are waybill's
// as a whole, and what was added to other lines, or taken from them.
func difference(d hostconfig.Draft) string {
	if d.Action == notation.Unchanged {
		return ""
	}
	before, after := text(d.Before), text(d.After)
	ours := map[byte]map[int]bool{'-': own(before, d.OldRest), '+': own(after, d.NewRest)}
	var b strings.Builder
	for _, h := range hunks(before, after) {
		b.WriteString("@@ " + h.head + "\n")
		for _, r := range h.regions {
			b.WriteString(r.shown(ours))
		}
	}
	return b.String()
}

// A line is removed or added.
type line struct {
	side   byte // - or +
	number int  // in its text
	text   string
}

// A region has the changed lines between two lines that stay.
type region []line

type hunk struct {
	head    string
	regions []region
}

func hunks(before, after string) (all []hunk) {
	_, body, _ := strings.Cut(string(diff.Diff("before", []byte(before), "after", []byte(after))), "\n+++ after\n")
	for _, part := range strings.Split("\n"+strings.TrimSuffix(body, "\n"), "\n@@ ")[1:] {
		head, rest, _ := strings.Cut(part, "\n")
		var from, to, count int
		_, _ = fmt.Sscanf(head, "-%d,%d +%d", &from, &count, &to) // the form of package diff
		h := hunk{head: head}
		stays := true
		for _, text := range strings.Split(rest, "\n") {
			if text == "" || text[0] == '\\' { // of a file without a last line end
				continue
			}
			if text[0] != '-' && text[0] != '+' {
				from, to, stays = from+1, to+1, true
				continue
			}
			if stays {
				h.regions, stays = append(h.regions, nil), false
			}
			number := &from
			if text[0] == '+' {
				number = &to
			}
			last := len(h.regions) - 1
			h.regions[last] = append(h.regions[last], line{text[0], *number, text[1:]})
			*number++
		}
		all = append(all, h)
	}
	return all
}

// own returns the numbers of the lines of a text that have nothing of its rest, which others wrote.
func own(text, rest string) map[int]bool {
	numbers := map[int]bool{}
	for _, h := range hunks(text, rest) {
		for _, r := range h.regions {
			if lines := r.withoutCommas(); !slices.ContainsFunc(lines, func(l line) bool { return l.side == '+' }) {
				for _, l := range lines {
					numbers[l.number] = true
				}
			}
		}
	}
	return numbers
}

// withoutCommas returns the lines whose other side does not have the same line, or the same with a comma more or less.
func (r region) withoutCommas() (rest region) {
	rest = slices.Clone(r)
	for _, removed := range r {
		bare := strings.TrimSuffix(removed.text, ",")
		other := slices.IndexFunc(rest, func(l line) bool { return l.side == '+' && strings.TrimSuffix(l.text, ",") == bare })
		if removed.side == '-' && other >= 0 {
			rest = slices.Delete(rest, other, other+1)
			rest = slices.DeleteFunc(rest, func(l line) bool { return l == removed })
		}
	}
	return rest
}

// mixed stands for lines that cannot be shown.
const mixed = "…a line that also has text of others is changed…\n"

// shown returns a region for a person. ours are the numbers of waybill's lines on both sides.
func (r region) shown(ours map[byte]map[int]bool) string {
	var b strings.Builder
	others := map[byte][]string{}
	for _, l := range r.withoutCommas() {
		if ours[l.side][l.number] {
			b.WriteString(string(l.side) + l.text + "\n")
		} else {
			others[l.side] = append(others[l.side], l.text)
		}
	}
	if len(others) == 0 {
		return b.String()
	}
	part, ok := within(strings.Join(others['-'], "\n"), strings.Join(others['+'], "\n"))
	if !ok {
		return b.String() + mixed
	}
	return b.String() + strings.ReplaceAll(part, "\n", "\n"+part[:1]) + "\n"
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// within returns what was added to a line, or taken from it, if that is all that changed.
func within(before, after string) (shown string, ok bool) {
	start := 0
	for start < min(len(before), len(after)) && before[start] == after[start] {
		start++
	}
	end := 0
	for end < min(len(before), len(after))-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	switch {
	case start+end == 0:
		return "", false
	case start+end == len(before):
		return "+…" + strings.ToValidUTF8(after[start:len(after)-end], "") + "…", true
	case start+end == len(after):
		return "-…" + strings.ToValidUTF8(before[start:len(before)-end], "") + "…", true
	}
	return "", false
}

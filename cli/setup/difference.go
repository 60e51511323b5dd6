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

// difference returns a unified difference without context. Lines that stay may have secrets of other programs. Of a line
// to which something is added, such as a comma, only that is shown.
func difference(d hostconfig.Draft) string {
	if d.Action == notation.Unchanged {
		return ""
	}
	before, after := text(d.Before), text(d.After)
	_, body, _ := strings.Cut(string(diff.Diff("before", []byte(before), "after", []byte(after))), "\n+++ after\n")
	var b strings.Builder
	for i, hunk := range strings.Split("\n"+strings.TrimSuffix(body, "\n"), "\n@@ ") {
		if i > 0 {
			head, lines, _ := strings.Cut(hunk, "\n")
			b.WriteString("@@ " + head + "\n" + touched(strings.Split(lines, "\n")))
		}
	}
	return b.String()
}

// touched returns the lines of a hunk that differ in more than a comma.
func touched(lines []string) string {
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, `\`) }) // of a file without a last line end
	var b strings.Builder
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "-"), strings.HasPrefix(line, "+"):
		default:
			continue
		}
		if comma(lines, line) {
			continue
		}
		if i+1 < len(lines) && line[0] == '-' && strings.HasPrefix(lines[i+1], "+") {
			if shown, ok := within(line[1:], lines[i+1][1:]); ok {
				lines[i+1] = ""
				line = shown
			}
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// comma reports whether the other side of a hunk has the same line with a comma more or less.
func comma(lines []string, line string) bool {
	other := "+"
	if line[0] == '+' {
		other = "-"
	}
	return slices.Contains(lines, other+line[1:]+",") || strings.HasSuffix(line, ",") && slices.Contains(lines, other+strings.TrimSuffix(line[1:], ","))
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

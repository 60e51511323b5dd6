package task

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"waybill/cli/output"
	"waybill/internal/lazy"
	"waybill/internal/safetext"
	"waybill/schema"
)

// The attempts of a task are drawn as bars on a common time scale, one row each. The state of an attempt shows in a
// word, in the character of its bar and, on a terminal, in a colour. Even a short attempt has a bar of one character.

// A stroke is how attempts of one status are drawn.
type stroke struct{ word, fill, colour string }

// strokes are in the order of the legend: future, current and past attempts.
var strokes = lazy.Value[map[string]stroke]{Of: func() map[string]stroke {
	return map[string]stroke{
		"pending":           {"pending", "·", "2"},
		"running":           {"running", "▒", "34"},
		"completed":         {"completed", "█", "32"},
		"awaiting_response": {"asked", "░", "33"},
		"error":             {"error", "x", "31"},
		"lost":              {"lost", "?", "31"},
		"interrupted":       {"interrupted", "!", "35"},
		"cancelled":         {"cancelled", "-", "35"},
	}
}}

// The widths of the columns next to the bar.
const (
	wordWidth   = len("interrupted")
	spanWidth   = len("23h 59m+")
	modelWidth  = 24
	modelsFrom  = 60 // the least width at which models are shown
	spaceBefore = 2  // before each column
)

// A drawing is where and when attempts are drawn.
type drawing struct {
	width int
	now   time.Time
	style func(code string) func(string) string
}

// A row is an attempt in the drawing.
type row struct {
	schema.Attempt
	stroke
	from, to time.Time
}

// attempts draws the attempts. Where numbers are missing, a line has the number of omitted attempts.
func (d drawing) attempts(attempts []schema.Attempt) string {
	if len(attempts) == 0 {
		return ""
	}
	rows := make([]row, len(attempts))
	for i, a := range attempts {
		rows[i] = d.row(a)
	}
	begin, end := rows[0].from, rows[0].to
	for _, r := range rows {
		begin, end = earlier(begin, r.from), later(end, r.to)
	}
	digits := len(strconv.Itoa(rows[len(rows)-1].AttemptNumber))
	models := d.modelWidth(rows)
	at := spaceBefore + digits + spaceBefore + wordWidth + spaceBefore
	bar := max(10, d.width-at-spaceBefore-spanWidth-models)
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", at) + scale(end.Sub(begin), bar) + "\n")
	for i, r := range rows {
		if i > 0 && r.AttemptNumber > rows[i-1].AttemptNumber+1 {
			fmt.Fprintf(&b, "  … %s more\n", output.Count(r.AttemptNumber-rows[i-1].AttemptNumber-1, "attempt"))
		}
		line := fmt.Sprintf("  %*d  %s  %s  %s", digits, r.AttemptNumber, output.Left(r.word, wordWidth),
			d.style(r.colour)(r.bar(begin, end.Sub(begin), bar)), output.Right(r.took(), spanWidth))
		if models > 0 {
			line += "  " + output.Fit(modelName(r.Model), models-spaceBefore)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n" + d.why(r.Attempt, spaceBefore+digits+spaceBefore))
	}
	return b.String()
}

func (d drawing) row(a schema.Attempt) row {
	r := row{Attempt: a, from: output.Moment(a.StartedAt), to: output.Moment(a.CompletedAt)}
	var known bool
	if r.stroke, known = strokes.Get()[a.Status]; !known {
		r.stroke = stroke{output.Fit(safetext.Printable(a.Status), wordWidth), "#", ""}
	}
	if r.from.IsZero() {
		r.from = output.Moment(a.CreatedAt)
	}
	if r.to.IsZero() {
		r.to = d.now
	}
	r.to = later(r.from, r.to) // a clock may have been set back
	return r
}

// modelWidth returns the width of the model column with the space before it, or 0 without models.
func (d drawing) modelWidth(rows []row) int {
	longest := 0
	for _, r := range rows {
		longest = max(longest, output.Columns(modelName(r.Model)))
	}
	if longest == 0 || d.width < modelsFrom {
		return 0
	}
	return spaceBefore + min(longest, modelWidth)
}

// bar draws the row's share of a time that is width columns long.
func (r row) bar(begin time.Time, total time.Duration, width int) string {
	from, to := place(r.from.Sub(begin), total, width), place(r.to.Sub(begin), total, width)
	from = min(from, width-1)
	to = max(to, from+1)
	return strings.Repeat(" ", from) + strings.Repeat(r.fill, to-from) + strings.Repeat(" ", width-to)
}

// place returns the column of a moment, from 0 to width.
func place(at, total time.Duration, width int) int {
	if total <= 0 {
		return 0
	}
	return int(float64(at)/float64(total)*float64(width) + 0.5)
}

// took returns the duration of the attempt, with a plus if it still runs.
func (r row) took() string {
	switch {
	case r.StartedAt == "":
		return ""
	case r.CompletedAt == "":
		return output.Span(r.to.Sub(r.from)) + "+"
	}
	return output.Span(r.to.Sub(r.from))
}

// why returns a line with the failure of an attempt.
func (d drawing) why(a schema.Attempt, indent int) string {
	if a.Error == "" {
		return ""
	}
	text := safetext.Printable(a.Error)
	if a.ErrorClass != "" {
		text = safetext.Printable(a.ErrorClass) + ": " + text
	}
	return strings.Repeat(" ", indent) + output.Fit(text, d.width-indent) + "\n"
}

// scale returns the line with the start and end of the drawing, and its middle if there is room.
func scale(total time.Duration, width int) string {
	begin, middle, end := "0s", output.Span(total/2), output.Span(total)
	if total <= 0 {
		return begin
	}
	before := width/2 - len(middle)/2
	behind := width - before - len(middle) - len(end)
	if before < len(begin)+2 || behind < 2 {
		return begin + output.Right(end, width-len(begin))
	}
	return output.Left(begin, before) + middle + strings.Repeat(" ", behind) + end
}

// modelName is provider/model:variant, or "" for a model that is not known.
func modelName(m *schema.Model) string {
	if m == nil {
		return ""
	}
	name := safetext.Printable(m.ProviderID + "/" + m.ModelID)
	if m.Variant != "" {
		name += ":" + safetext.Printable(m.Variant)
	}
	return name
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

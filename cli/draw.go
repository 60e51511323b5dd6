package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"waybill/schema"
)

// The attempts of a task are drawn as bars over one scale of time, a row each. How an attempt stands is
// said three times: by a word, by what its bar is made of, and, on a terminal, by a colour. However short
// an attempt was, its bar has a character.

// A stroke is how attempts of one status are drawn.
type stroke struct{ word, fill, colour string }

// strokes are ordered as the legend of a life: what is to come, what goes on, what is over.
var strokes = map[string]stroke{
	"pending":           {"pending", "·", "2"},
	"running":           {"running", "▒", "34"},
	"completed":         {"completed", "█", "32"},
	"awaiting_response": {"asked", "░", "33"},
	"error":             {"error", "x", "31"},
	"lost":              {"lost", "?", "31"},
	"interrupted":       {"interrupted", "!", "35"},
	"cancelled":         {"cancelled", "-", "35"},
}

// The columns of a row beside the bar.
const (
	wordWidth   = len("interrupted")
	spanWidth   = len("23h 59m+")
	modelWidth  = 24
	modelsFrom  = 60 // the least width at which there is a place for models
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

// attempts draws all of them. Where numbers are missing between two, a line says how many.
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
			fmt.Fprintf(&b, "  … %s more\n", count(r.AttemptNumber-rows[i-1].AttemptNumber-1, "attempt"))
		}
		line := fmt.Sprintf("  %*d  %s  %s  %s", digits, r.AttemptNumber, left(r.word, wordWidth),
			d.style(r.colour)(r.bar(begin, end.Sub(begin), bar)), right(r.took(), spanWidth))
		if models > 0 {
			line += "  " + fit(modelName(r.Model), models-spaceBefore)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n" + d.why(r.Attempt, spaceBefore+digits+spaceBefore))
	}
	return b.String()
}

func (d drawing) row(a schema.Attempt) row {
	r := row{Attempt: a, from: moment(a.StartedAt), to: moment(a.CompletedAt)}
	var known bool
	if r.stroke, known = strokes[a.Status]; !known {
		r.stroke = stroke{fit(plain(a.Status), wordWidth), "#", ""}
	}
	if r.from.IsZero() {
		r.from = moment(a.CreatedAt)
	}
	if r.to.IsZero() {
		r.to = d.now
	}
	r.to = later(r.from, r.to) // a clock may have been set back
	return r
}

// modelWidth is the width of the column of models with the space before it, or 0 if there is none.
func (d drawing) modelWidth(rows []row) int {
	longest := 0
	for _, r := range rows {
		longest = max(longest, columns(modelName(r.Model)))
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

// place is the column of a moment, from 0 to width.
func place(at, total time.Duration, width int) int {
	if total <= 0 {
		return 0
	}
	return int(float64(at)/float64(total)*float64(width) + 0.5)
}

// took says how long the attempt ran; one that still does has a plus.
func (r row) took() string {
	switch {
	case r.StartedAt == "":
		return ""
	case r.CompletedAt == "":
		return span(r.to.Sub(r.from)) + "+"
	}
	return span(r.to.Sub(r.from))
}

// why gives what went wrong in an attempt, a line of its own.
func (d drawing) why(a schema.Attempt, indent int) string {
	if a.Error == "" {
		return ""
	}
	text := plain(a.Error)
	if a.ErrorClass != "" {
		text = plain(a.ErrorClass) + ": " + text
	}
	return strings.Repeat(" ", indent) + fit(text, d.width-indent) + "\n"
}

// scale writes where the drawing begins and ends, and its middle if there is a place for it.
func scale(total time.Duration, width int) string {
	begin, middle, end := "0s", span(total/2), span(total)
	if total <= 0 {
		return begin
	}
	before := width/2 - len(middle)/2
	behind := width - before - len(middle) - len(end)
	if before < len(begin)+2 || behind < 2 {
		return begin + right(end, width-len(begin))
	}
	return left(begin, before) + middle + strings.Repeat(" ", behind) + end
}

// modelName is provider/model:variant, or "" for a model that is not known.
func modelName(m *schema.Model) string {
	if m == nil {
		return ""
	}
	name := plain(m.ProviderID + "/" + m.ModelID)
	if m.Variant != "" {
		name += ":" + plain(m.Variant)
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

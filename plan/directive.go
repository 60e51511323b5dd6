package plan

import (
	"fmt"
	"strings"
)

// Directives are settings of an item for its run. They are defaults, which the caller that starts the run can
// override.
type Directives struct {
	Review Reviewing
	Model  string // as the plan spells it, such as anthropic/opus, or ""
}

// Reviewing says which reviewers review the work on an item.
type Reviewing string

// The reviews that a plan can request. The zero Reviewing requests none.
const (
	ReviewSpecOnly Reviewing = "spec-only"
	ReviewNone     Reviewing = "none"
	ReviewFull     Reviewing = "full"
)

// Directives returns the directives of the item. It returns the stricter of two reviews and the first of two models.
// It ignores unknown values.
func (it *Item) Directives() (d Directives) {
	for _, detail := range it.Details {
		fenced := false
		for line := range strings.SplitSeq(detail, "\n") {
			if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
				fenced = !fenced
			}
			name, value, ok := directive(line)
			switch {
			case fenced || !ok || unfit(name, value) != "":
			case name == "review":
				d.Review = stricter(d.Review, Reviewing(strings.ToLower(value)))
			case name == "model" && d.Model == "":
				d.Model = value
			}
		}
	}
	return d
}

// stricter returns the review that demands more.
func stricter(a, b Reviewing) Reviewing {
	for _, review := range [...]Reviewing{ReviewFull, ReviewSpecOnly} {
		if a == review || b == review {
			return review
		}
	}
	return b
}

// directive parses a line such as "**Review:** spec-only (it is small)". name is review or model.
func directive(line string) (name, value string, ok bool) {
	inside, ok := strings.CutPrefix(line, bold)
	if !ok {
		return "", "", false
	}
	name, value, ok = strings.Cut(inside, ":")
	name = strings.ToLower(trim(strings.TrimRight(name, "*")))
	if !ok || name != "review" && name != "model" {
		return "", "", false
	}
	value, _, _ = strings.Cut(strings.TrimLeft(value, "*"), "(")
	return name, strings.Trim(trim(value), "`*."), true
}

// unfit explains why the value of a directive is invalid, or returns "".
func unfit(name, value string) string {
	switch {
	case name == "review":
		switch Reviewing(strings.ToLower(value)) {
		case ReviewSpecOnly, ReviewNone, ReviewFull:
			return ""
		}
		return "a review must be spec-only, none or full"
	case value == "" || strings.ContainsAny(value, " \t"):
		return "a model must be one name, such as provider/model"
	}
	return ""
}

// misdirected reports a directive with an unknown value, and one that contradicts another directive of its item.
func (n *numbered) misdirected(ln *line, m *marker) {
	if n.item != nil || n.r.Len() == 0 {
		return
	}
	from := ln.body
	if m.kind == markerBullet && m.spaced(ln.text) {
		from = m.next
	}
	if from >= len(ln.text) || ln.text[from] != '*' {
		return
	}
	name, value, ok := directive(ln.text[from:])
	if !ok {
		return
	}
	if why := unfit(name, value); why != "" {
		n.report(ln, from, SeverityWarning, "unknown_directive", clip(value)+" is ignored: "+why)
		return
	}
	if n.owner < 0 {
		return
	}
	if n.directed == nil {
		n.directed = map[int]Directives{}
	}
	d := n.directed[n.owner]
	if said := d.contradicts(name, value); said != "" {
		n.report(ln, from, SeverityWarning, "contradictory_directive", said)
	}
	n.directed[n.owner] = d
}

// contradicts adds a directive. It returns a message if the item already has a different one of that name, and ""
// otherwise.
func (d *Directives) contradicts(name, value string) string {
	if name == "model" {
		if d.Model == "" {
			d.Model = value
		}
		if d.Model == value {
			return ""
		}
		return fmt.Sprintf("the item names the models %s and %s: %s counts because it comes first", clip(d.Model), clip(value), clip(d.Model))
	}
	before, review := d.Review, Reviewing(strings.ToLower(value))
	d.Review = stricter(before, review)
	if before == "" || before == review {
		return ""
	}
	return fmt.Sprintf("the item asks for the reviews %s and %s: %s counts because it is stricter", before, review, d.Review)
}

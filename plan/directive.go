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
			name, value, ok := Directive(line)
			switch {
			case fenced || !ok || Unfit(name, value) != "":
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

// Directive parses a line such as "**Review:** spec-only (it is small)". name is review or model.
func Directive(line string) (name, value string, ok bool) {
	inside, ok := strings.CutPrefix(line, "**")
	if !ok {
		return "", "", false
	}
	name, value, ok = strings.Cut(inside, ":")
	name = strings.ToLower(strings.TrimSpace(strings.TrimRight(name, "*")))
	if !ok || name != "review" && name != "model" {
		return "", "", false
	}
	value, _, _ = strings.Cut(strings.TrimLeft(value, "*"), "(")
	return name, strings.Trim(strings.TrimSpace(value), "`*."), true
}

// Unfit explains why the value of a directive is invalid, or returns "".
func Unfit(name, value string) string {
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

// Add adds a directive. It returns a message if the item already has a different one of that name, and ""
// otherwise.
func (d *Directives) Add(name, value string) string {
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

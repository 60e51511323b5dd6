package read

import (
	"fmt"
	"strings"

	"waybill/plan"
	"waybill/plan/block"
	"waybill/plan/dialect"
	"waybill/plan/legend"
)

// marks determines the status from the mark in a checkbox. The result for a one-byte mark is kept, unless each use of
// the mark needs a diagnostic.
type marks struct {
	text  string
	read  *legend.Legend // read on demand, because few plans have one
	d     *dialect.Dialect
	notes *plan.Remarks
	known [256]plan.Status
}

// legend returns the legend of the text. It may be below the marks that it explains.
func (k *marks) legend() *legend.Legend {
	if k.read == nil {
		k.read = legend.Read(k.text)
	}
	return k.read
}

// status returns the status for the mark in a checkbox.
func (k *marks) status(ln *block.Line, b *block.Box, withdrawn bool) plan.Status {
	if withdrawn {
		return plan.Skipped // also with another mark
	}
	mark := b.Mark(ln.Text)
	if len(mark) != 1 {
		status, _ := k.lookUp(ln, b, mark)
		return status
	}
	known := &k.known[mark[0]]
	if *known == 0 {
		status, plain := k.lookUp(ln, b, mark)
		if !plain {
			return status
		}
		*known = status
	}
	return *known
}

// lookUp returns the status for a mark. plain means that the mark has this status in every checkbox without a
// diagnostic.
func (k *marks) lookUp(ln *block.Line, b *block.Box, mark string) (status plan.Status, plain bool) {
	if status := legend.Usual(mark); status != 0 {
		return status, true
	}
	at := ln.Start + b.Open + 1
	if m, ok := k.unusual(mark); ok {
		if m.Warning != "" {
			k.notes.Add(at, plan.SeverityWarning, "ambiguous_mark", m.Warning)
		}
		return m.Status, m.Warning == ""
	}
	if mark != "" {
		k.notes.Add(at, plan.SeverityWarning, "unknown_mark",
			fmt.Sprintf("the mark %q has no meaning here, so the item is open: use %s", mark, k.d.Usable))
	}
	return plan.Pending, false
}

// unusual returns the meaning of a mark that not all plans use.
func (k *marks) unusual(mark string) (m dialect.Meaning, ok bool) {
	if said, ok := k.legend().Of(mark); ok {
		return dialect.Meaning{Mark: mark, Status: said.Status}, true
	}
	for i := range k.d.Marks {
		if m := &k.d.Marks[i]; mark == m.Mark {
			return *m, true
		}
	}
	return dialect.Meaning{}, false
}

// opens reports whether a checkbox with this mark would be an open item.
func (k *marks) opens(mark string) bool {
	if status := legend.Usual(mark); status != 0 {
		return status.Open()
	}
	m, known := k.unusual(mark)
	return !known || m.Status.Open()
}

// evidence adds the legend to the evidence, and reports the marks whose meaning it cannot change.
func (k *marks) evidence(dialect string, all []plan.Evidence) []plan.Evidence {
	if k.read == nil {
		return all
	}
	for _, mark := range k.read.Order() {
		said, _ := k.read.Of(mark)
		all = append(all, plan.Evidence{
			Line: said.Line, Dialect: dialect, Signal: fmt.Sprintf("legend: [%s] means %s", mark, strings.ReplaceAll(said.Status.String(), "_", " ")),
		})
	}
	for _, no := range k.read.Ignored {
		k.notes.Add(no.At, plan.SeverityWarning, "legend_ignored", no.Message)
	}
	return all
}

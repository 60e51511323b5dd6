package coretest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"waybill/core"
	"waybill/core/instruction"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/test/golden"
)

// Matrix returns a table with a cell for each row and column. Adjacent rows with the same cells are written as one. The
// refusals of the cells follow the table.
func Matrix(rows, columns []string, cell func(row, column int, refusals *golden.Footnotes) string) string {
	header := []string{""}
	for _, column := range columns {
		header = append(header, strings.ReplaceAll(column, ", ", ",\n"))
	}
	table, refusals := [][]string{header}, &golden.Footnotes{}
	for i, row := range rows {
		cells := []string{row}
		for j := range columns {
			cells = append(cells, cell(i, j, refusals))
		}
		if above := table[len(table)-1]; slices.Equal(above[1:], cells[1:]) {
			above[0] += "\n" + row
			continue
		}
		table = append(table, cells)
	}
	return golden.Table(table) + "\n" + refusals.String()
}

// Cell returns the cell of a step: the letter of its refusal, "unchanged", or its news and its effects, one per line.
func Cell(refusals *golden.Footnotes, news []string, changed bool, effects []core.Effect, err error) string {
	if refusal, refused := errors.AsType[*core.Refusal](err); refused {
		return "refused (" + refusals.Mark(fmt.Sprintf("%s: %s", refusal.Kind, refusal.Message)) + ")"
	}
	switch {
	case err != nil:
		return "error: " + err.Error()
	case !changed && len(effects) == 0:
		return "unchanged"
	}
	return strings.Join(append(news, Words(effects)...), "\n")
}

// Words returns effects as text.
func Words(effects []core.Effect) (words []string) {
	for _, effect := range effects {
		words = append(words, word(effect))
	}
	return words
}

// News returns the facts that were no facts before.
func News(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(after), func(fact string) bool { return slices.Contains(before, fact) })
}

// word returns an effect as text.
func word(effect core.Effect) string {
	switch e := effect.(type) {
	case instruction.Deliver:
		return fmt.Sprintf("deliver %d", e.Send)
	case task.Keep:
		return fmt.Sprintf("keep #%d %s", e.Attempt.Number, e.Attempt.Status())
	case run.Decide:
		if e.Decision.Limit == 0 {
			return "by " + string(e.Decision.Rule)
		}
		return fmt.Sprintf("by %s %d of %d", e.Decision.Rule, e.Decision.Count, e.Decision.Limit)
	case core.Record:
		return "log " + string(e.Type)
	case core.Post:
		return "notice " + string(e.Kind)
	case core.Withdraw:
		return "no notice " + string(e.Kind)
	}
	return fmt.Sprintf("unknown effect %T", effect)
}

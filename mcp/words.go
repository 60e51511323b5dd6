package mcp

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"waybill/ledger"
)

// What agents and persons wrote is data, wherever it is told. What is for the model to work by, a prompt or a retry
// prompt, comes as the method gives it: there, waybill has done so already.

// neutral gives a text of others as one that cannot pass for structure.
func neutral(text string) string { return strings.TrimSpace(ledger.Neutralise(text)) }

// said is neutral for a text that is one fact among others. Of a long one it is the beginning, marked as such.
func said(text string, limit int) string {
	clean := neutral(text)
	if len(clean) <= limit {
		return clean
	}
	return clip(clean, limit) + fmt.Sprintf(" [cut: %d bytes in all]", len(clean))
}

// folded is said on one line.
func folded(text string) string { return strings.Join(strings.Fields(said(text, maxLine)), " ") }

// folds is folded for each.
func folds(all []string) []string {
	out := make([]string, len(all))
	for i, each := range all {
		out[i] = folded(each)
	}
	return out
}

// clip gives the beginning of a text, without half a character.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

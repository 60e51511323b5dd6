package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"waybill/plan"
)

// Replanned returns the ledger with a new plan version: its summary, and the steps that replace those of the previous
// version. Demands of reviewers stay open. Counted removes the replan hint.
func (t TaskLedger) Replanned(version int, summary string, items []string) TaskLedger {
	t = t.clone()
	t.PlanVersion, t.PlanSummary, t.PlanItems = version, strings.TrimSpace(summary), nil
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" {
			t.PlanItems = append(t.PlanItems, item) // a repeated step counts twice
		}
	}
	return t
}

// Frontier returns a hash of the next work: the item's identity, what it asks for, and the steps of the newest plan
// version. Status, line and spacing do not count. The item is nil if the plan file lacks it.
func Frontier(item *plan.Item, planItems []string) string {
	var buf []byte
	list := func(texts []string) {
		folded := make([]string, 0, len(texts))
		for _, s := range texts {
			if s = fold(s); s != "" {
				folded = append(folded, s)
			}
		}
		buf = appendSized(buf, strconv.Itoa(len(folded)))
		buf = appendSized(buf, folded...)
	}
	if item != nil {
		buf = appendSized(buf, fold(item.Title), fold(item.Prompt))
		for _, texts := range [...][]string{item.Details, item.Requirements, item.Files, item.DependsOn} {
			list(texts)
		}
	}
	list(planItems)
	sum := sha256.Sum256(buf)
	return identity(item) + "." + hex.EncodeToString(sum[:])
}

// SameItem reports whether the item still has the id and title in a frontier. An id alone is not enough, because it
// can belong to another item after a plan is renumbered. A frontier without an item, such as "", matches every item.
func SameItem(frontier string, it *plan.Item) bool {
	made, _, named := strings.Cut(frontier, ".")
	return !named || made == identity(it)
}

// identity returns a hash of the item's id and title, "" without an item.
func identity(it *plan.Item) string {
	if it == nil {
		return ""
	}
	sum := sha256.Sum256(appendSized(nil, it.ID, fold(it.Title)))
	return hex.EncodeToString(sum[:16])
}

// appendSized appends texts, each after its length, so that different lists never yield the same bytes.
func appendSized(buf []byte, texts ...string) []byte {
	for _, s := range texts {
		buf = strconv.AppendInt(buf, int64(len(s)), 10)
		buf = append(buf, ':')
		buf = append(buf, s...)
	}
	return buf
}

package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Replanned gives the ledger with a new version of the plan: what is to be done differently, and the steps
// from here on in their order, in the place of those of the version before. What reviewers demand stays open,
// and the replan hint goes with Counted.
func (t TaskLedger) Replanned(version int, summary string, items []string) TaskLedger {
	t = t.clone()
	t.PlanVersion, t.PlanSummary, t.PlanItems = version, strings.TrimSpace(summary), nil
	for _, item := range items {
		if item = strings.TrimSpace(item); item != "" {
			t.PlanItems = append(t.PlanItems, item) // twice the same step is two steps
		}
	}
	return t
}

// Frontier gives a hash of what is to be done next: which item it is, what it asks for, and the steps that the
// newest plan version has for it. Two frontiers are equal exactly if the same is to be done: how the item is
// marked, on which line it stands and how its text is spaced is not about that. The item is nil if the plan
// file does not have it.
func Frontier(item *Item, planItems []string) string {
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

// SameItem reports whether an item is still the one that a frontier was made for: one with its id and title,
// however the title is spaced and whatever else the item asks for. An id alone is not enough, because another
// item takes it over where a plan is numbered anew. A frontier that names no item, such as "", is that of any.
func SameItem(frontier string, it *Item) bool {
	made, _, named := strings.Cut(frontier, ".")
	return !named || made == identity(it)
}

// identity gives a hash of what an item is known by, "" for none.
func identity(it *Item) string {
	if it == nil {
		return ""
	}
	sum := sha256.Sum256(appendSized(nil, it.ID, fold(it.Title)))
	return hex.EncodeToString(sum[:16])
}

// appendSized appends texts, each with its length before it, so that no two lists of texts give the same
// bytes.
func appendSized(buf []byte, texts ...string) []byte {
	for _, s := range texts {
		buf = strconv.AppendInt(buf, int64(len(s)), 10)
		buf = append(buf, ':')
		buf = append(buf, s...)
	}
	return buf
}

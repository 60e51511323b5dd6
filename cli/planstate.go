package cli

import (
	"fmt"
	"slices"
	"strings"

	"waybill/ledger"
)

// An itemState is how an item stands for somebody who looks for work.
type itemState string

const (
	stateReady      itemState = "ready"
	stateWaiting    itemState = "waiting"
	stateInProgress itemState = "in_progress"
	stateBlocked    itemState = "blocked"
	stateDone       itemState = "done"
	stateSkipped    itemState = "skipped"
	stateGroup      itemState = "group" // has children that are not all done
)

// An outlookItem is an item with what is known about beginning it.
type outlookItem struct {
	ledger.Item
	state   itemState
	because []ledger.Hold
}

// outlook joins the items of a plan with what each of them waits for. Both are in the order of the plan; ok
// is false if they are not about the same plan.
func outlook(items []ledger.Item, waiting []ledger.Waiting) (joined []outlookItem, ok bool) {
	joined = make([]outlookItem, len(items))
	for i, item := range items {
		joined[i] = outlookItem{Item: item, state: stateReady}
		if len(waiting) > 0 && waiting[0].ItemID == item.ID {
			joined[i].because = waiting[0].Because
			joined[i].state = stateOf(item, waiting[0].Because)
			waiting = waiting[1:]
		}
	}
	return joined, len(waiting) == 0
}

func stateOf(item ledger.Item, because []ledger.Hold) itemState {
	switch {
	case len(because) == 0:
		return stateReady
	case slices.Contains(because, ledger.Hold{Kind: ledger.HeldByBlock, ItemID: item.ID}):
		return stateBlocked
	}
	switch because[0].Kind {
	case ledger.HeldByEnd:
		if item.Status == ledger.Skipped {
			return stateSkipped
		}
		return stateDone
	case ledger.HeldByWork:
		return stateInProgress
	case ledger.HeldByParent:
		return stateGroup
	case ledger.HeldByDependency, ledger.HeldByBlock:
	}
	return stateWaiting
}

// mostNamed bounds the ids that one reason names: a plan in which all wait for all is not to be drawn in the
// square of its size.
const mostNamed = 8

// reason says why an item is as it is, or "" where its mark says it all. known reports whether the plan has
// an item.
func (it outlookItem) reason(known func(id string) bool) string {
	w := whyHeld{known: known}
	own := it.ownDependencies()
	for _, hold := range it.because {
		switch hold.Kind {
		case ledger.HeldByEnd:
			return it.ended()
		case ledger.HeldByWork:
			if it.Status != ledger.InProgress {
				w.parts = append(w.parts, "a run is at it")
			}
		case ledger.HeldByBlock:
			if hold.ItemID == it.ID {
				w.parts = append(w.parts, it.block())
				continue
			}
			w.blocked = append(w.blocked, hold.ItemID)
		case ledger.HeldByDependency:
			if own != nil && !own[hold.ItemID] {
				w.say("") // those of the item are over, and those of an ancestor begin
				own = nil
			}
			w.depends = append(w.depends, hold.ItemID)
		case ledger.HeldByParent:
			w.say(plain(hold.ItemID) + " ")
		}
	}
	w.say("")
	return strings.Join(w.parts, "; ")
}

// A whyHeld collects the reasons of one item.
type whyHeld struct {
	known            func(id string) bool
	depends, blocked []string // that have not been said yet
	parts            []string
}

// say makes a part of what was collected; whose is the ancestor that depends, with a space behind it, or ""
// for the item itself.
func (w *whyHeld) say(whose string) {
	var words []string
	if len(w.depends) > 0 {
		words = append(words, whose+"depends on "+named(w.depends, w.known))
	}
	if len(w.blocked) > 0 {
		words = append(words, "blocked by "+named(w.blocked, w.known))
	}
	if len(words) > 0 {
		w.parts = append(w.parts, strings.Join(words, ", "))
	}
	w.depends, w.blocked = nil, nil
}

// ownDependencies are those that the plan gives the item, and not an ancestor of it; never nil.
func (it outlookItem) ownDependencies() map[string]bool {
	own := make(map[string]bool, len(it.DependsOn))
	if it.state == stateReady || it.state == stateDone {
		return own // nobody asks
	}
	for _, id := range it.DependsOn {
		own[id] = true
	}
	return own
}

// ended says what the file does not: that the work was approved.
func (it outlookItem) ended() string {
	if it.state == stateDone && it.DerivedStatus == 0 && it.Status != ledger.Completed {
		return "done by its run; the file says " + it.Status.String()
	}
	return ""
}

func (it outlookItem) block() string {
	switch {
	case it.Status != ledger.Blocked:
		return "its run is blocked"
	case it.BlockedReason == "":
		return "blocked"
	}
	return "blocked: " + plain(it.BlockedReason)
}

// named lists ids, of many the first ones, and says which of them the plan does not have.
func named(ids []string, known func(id string) bool) string {
	shown := make([]string, 0, mostNamed)
	for _, id := range ids[:min(mostNamed, len(ids))] {
		text := plain(id)
		if !known(id) {
			text += " (not in the plan)"
		}
		shown = append(shown, text)
	}
	list := strings.Join(shown, ", ")
	if more := len(ids) - mostNamed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

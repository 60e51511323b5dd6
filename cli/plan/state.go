package plan

import (
	"fmt"
	"slices"
	"strings"

	"waybill/internal/safetext"
	"waybill/plan"
)

// An itemState is the state of an item, as a worker sees it.
type itemState string

const (
	stateReady      itemState = "ready"
	stateWaiting    itemState = "waiting"
	stateInProgress itemState = "in_progress"
	stateBlocked    itemState = "blocked"
	stateDone       itemState = "done"
	stateSkipped    itemState = "skipped"
	stateGroup      itemState = "group"  // has children that are not all done
	stateUnread     itemState = "unread" // an open box that is no item
)

// An outlookItem is an item with its state and the reasons why it cannot begin.
type outlookItem struct {
	plan.Item
	state   itemState
	because []plan.Hold
}

// outlook joins the items of a plan with their reasons to wait. Both are in plan order. ok is false if they belong to
// different plans.
func outlook(items []plan.Item, waiting []plan.Waiting) (joined []outlookItem, ok bool) {
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

func stateOf(item plan.Item, because []plan.Hold) itemState {
	switch {
	case len(because) == 0:
		return stateReady
	case slices.Contains(because, plan.Hold{Kind: plan.HeldByBlock, ItemID: item.ID}):
		return stateBlocked
	}
	switch because[0].Kind {
	case plan.HeldByEnd:
		if item.Status == plan.Skipped {
			return stateSkipped
		}
		return stateDone
	case plan.HeldByWork:
		return stateInProgress
	case plan.HeldByParent:
		return stateGroup
	case plan.HeldByDependency, plan.HeldByBlock:
	}
	return stateWaiting
}

// mostNamed bounds the ids that one reason names. Otherwise a plan in which all items wait for all others would be
// drawn in quadratic size.
const mostNamed = 8

// reason returns why an item is in its state, or "" if its mark shows that.
func (it outlookItem) reason() string {
	var w whyHeld
	own := it.ownDependencies()
	for _, hold := range it.because {
		switch hold.Kind {
		case plan.HeldByEnd:
			return it.ended()
		case plan.HeldByWork:
			if it.Status != plan.InProgress {
				w.parts = append(w.parts, "a run is at it")
			}
		case plan.HeldByBlock:
			if hold.ItemID == it.ID {
				w.parts = append(w.parts, it.block())
				continue
			}
			w.blocked = append(w.blocked, hold.ItemID)
		case plan.HeldByDependency:
			if own != nil && !own[hold.ItemID] {
				w.say("") // the dependencies of an ancestor follow
				own = nil
			}
			w.depends = append(w.depends, hold.ItemID)
		case plan.HeldByParent:
			w.say(safetext.Printable(hold.ItemID) + " ")
		}
	}
	w.say("")
	return strings.Join(w.parts, "; ")
}

// A whyHeld collects the reasons of one item.
type whyHeld struct {
	depends, blocked []string // that are not in parts yet
	parts            []string
}

// say adds the collected ids to parts as text. whose is the ancestor that depends, with a space after it, or "" for the
// item itself.
func (w *whyHeld) say(whose string) {
	var words []string
	if len(w.depends) > 0 {
		words = append(words, whose+"depends on "+named(w.depends))
	}
	if len(w.blocked) > 0 {
		words = append(words, "blocked by "+named(w.blocked))
	}
	if len(words) > 0 {
		w.parts = append(w.parts, strings.Join(words, ", "))
	}
	w.depends, w.blocked = nil, nil
}

// ownDependencies returns the dependencies of the item itself, without those of its ancestors; never nil.
func (it outlookItem) ownDependencies() map[string]bool {
	own := make(map[string]bool, len(it.DependsOn))
	if it.state == stateReady || it.state == stateDone {
		return own // such an item waits for no dependency
	}
	for _, id := range it.DependsOn {
		own[id] = true
	}
	return own
}

// ended returns a sentence if the run of the item is done and the file says otherwise, or "".
func (it outlookItem) ended() string {
	if it.state == stateDone && it.DerivedStatus == 0 && it.Status != plan.Completed {
		return "done by its run; the file says " + it.Status.String()
	}
	return ""
}

func (it outlookItem) block() string {
	switch {
	case it.Status != plan.Blocked:
		return "its run is blocked"
	case it.BlockedReason == "":
		return "blocked"
	}
	return "blocked: " + safetext.Printable(it.BlockedReason)
}

// named lists ids, if there are many only the first.
func named(ids []string) string {
	shown := make([]string, 0, mostNamed)
	for _, id := range ids[:min(mostNamed, len(ids))] {
		shown = append(shown, safetext.Printable(id))
	}
	list := strings.Join(shown, ", ")
	if more := len(ids) - mostNamed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

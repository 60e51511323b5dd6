package plan

// ItemRun is the state of the newest run of an item.
type ItemRun uint8

const (
	// NoRun means that the item has no run, or only runs that no longer count.
	NoRun ItemRun = iota
	// RunLive means that the run is in progress.
	RunLive
	// RunBlocked means that the run waits for a person.
	RunBlocked
	// RunDone means that the work was approved.
	RunDone
	// RunProven means that the work was approved, and that its required checks prove it.
	RunProven
)

// HoldKind is a reason why an item is not ready.
type HoldKind string

// The kinds of holds.
const (
	// HeldByDependency names an item that must be done first.
	HeldByDependency HoldKind = "depends_on"
	// HeldByBlock names a blocked item: the item itself, or one behind a dependency.
	HeldByBlock HoldKind = "blocked"
	// HeldByWork means that a run works on the item, or that the item is in progress in the plan.
	HeldByWork HoldKind = "in_progress"
	// HeldByEnd means that no work is left.
	HeldByEnd HoldKind = "done"
	// HeldByParent names the ancestor that has the dependencies listed before it. Without an id, it means that the
	// work on the item happens in its children.
	HeldByParent HoldKind = "parent"
)

// Hold is one reason why an item is not ready.
type Hold struct {
	Kind HoldKind
	// ItemID is "" if the kind needs no item.
	ItemID string
}

// Waiting is an item that is not ready, with the reasons.
type Waiting struct {
	ItemID  string
	Because []Hold
}

// Readiness lists the items on which work can start now.
type Readiness struct {
	// Ready and Waiting are in plan order. Each item is in exactly one of them.
	Ready   []string
	Waiting []Waiting
	// Complete means that the plan has items, and that no work is left.
	Complete bool
	// Left is the number of leaves that are not done and not optional, plus Unread. A leaf below an optional item is
	// optional.
	Left int
	// Unread is the number of open checkboxes and signs that are not items. Only a person can close them, because a
	// run needs an item.
	Unread int
	// UnderWay is the number of items with a live run. An item that is in progress in the plan may have no run.
	UnderWay int
	// Progress is the progress of the plan. Only Reading.Ready sets it.
	Progress PlanProgress
}

// mostCauses limits the blocked items named for one dependency, and the ancestors and dependencies named for one item.
// Without a limit, a plan in which every item waits for all others would have quadratic cost.
const mostCauses = 16

// Ready returns the items that are ready, and the reasons why the others are not. It calls run once for each item.
//
// A live or blocked run takes precedence over the plan, because an agent that ticks its own checkbox is not approved.
// A leaf is done if its run is done, or if it has no run and is completed or skipped in the plan. An item with
// children is done when all leaves below it are done, except optional ones and those below an optional child. If only
// its own run is left then, the item counts as a leaf.
//
// A leaf is ready if it is pending and not blocked, and all its dependencies and those of its ancestors are done. A
// blocked item therefore holds back only the items that depend on it. A dependency on an unknown id has no effect.
// Items that depend on each other are never done.
//
// The reasons of an item are in this order: done, as the only reason; in_progress; blocked; and each unmet dependency
// of the item with the new blocked items behind it. The same dependencies of each ancestor follow, nearest ancestor
// first, each group ended by parent.
func Ready(items []Item, run func(itemID string) ItemRun) Readiness {
	w := newWaits(items, run)
	out := Readiness{Left: w.left, Complete: w.left == 0 && len(items) > 0}
	ends := make([]int, 0, len(items))
	for i := range items {
		if w.runs[i] == RunLive {
			out.UnderWay++
		}
		before := len(w.holds)
		w.explain(int32(i))
		if len(w.holds) == before {
			out.Ready = append(out.Ready, items[i].ID)
			continue
		}
		out.Waiting = append(out.Waiting, Waiting{ItemID: items[i].ID})
		ends = append(ends, len(w.holds))
	}
	// The reasons of all items share one array, which no longer moves from here on.
	from := 0
	for i, end := range ends {
		out.Waiting[i].Because = w.holds[from:end:end]
		from = end
	}
	return out
}

// Ready returns the readiness of items, which must be the result of Items. A plan with open work outside its items is
// not complete. A plan without items is not complete either, because an editor may just have truncated the file.
func (r *Reading) Ready(items []Item, run func(itemID string) ItemRun) Readiness {
	out := Ready(items, run)
	out.Unread = r.Totals.Unread
	out.Left += out.Unread
	out.Complete = out.Complete && out.Unread == 0
	out.Progress = r.PlanProgress(run)
	return out
}

// explain adds the reasons why an item is not ready, or none if it is.
func (w *waits) explain(i int32) {
	switch {
	case w.done(i):
		w.hold(HeldByEnd, "")
		return
	case !w.leaf(i):
		w.hold(HeldByParent, "")
		return
	}
	if w.begun(i) {
		w.hold(HeldByWork, "")
	}
	w.asked++
	if w.blocked(i) {
		w.hold(HeldByBlock, w.items[i].ID)
		w.named[i] = w.asked
	}
	w.explainDependencies(i)
}

func (w *waits) explainDependencies(i int32) {
	for _, d := range w.unmet.of(i) {
		w.dependsOn(d)
	}
	inherited, looked := 0, 0
	for a := w.heldAncestor(i); a >= 0 && inherited < mostCauses && looked < mostCauses; a = w.heldAncestor(a) {
		looked++
		news := false
		for _, d := range w.unmet.of(a) {
			if w.reported[d] == w.asked {
				continue
			}
			if inherited == mostCauses {
				break
			}
			inherited++
			w.dependsOn(d)
			news = true
		}
		if news {
			w.hold(HeldByParent, w.items[a].ID)
		}
	}
}

func (w *waits) dependsOn(d int32) {
	w.reported[d] = w.asked
	w.hold(HeldByDependency, w.items[d].ID)
	for _, cause := range w.causesOf(d) {
		if w.named[cause] != w.asked {
			w.named[cause] = w.asked
			w.hold(HeldByBlock, w.items[cause].ID)
		}
	}
}

func (w *waits) hold(kind HoldKind, id string) { w.holds = append(w.holds, Hold{kind, id}) }

package ledger

// ItemRun says how the newest run of an item stands.
type ItemRun uint8

const (
	// NoRun means that the item never had a run, or none that counts any more.
	NoRun ItemRun = iota
	// RunLive means that somebody is at the item.
	RunLive
	// RunBlocked means that the run waits for a person.
	RunBlocked
	// RunDone means that the work was approved.
	RunDone
)

// HoldKind says why an item cannot be begun.
type HoldKind string

// The kinds of holds.
const (
	// HeldByDependency names an item that is to be done before.
	HeldByDependency HoldKind = "depends_on"
	// HeldByBlock names an item that is blocked: the item itself, or one that a dependency waits for.
	HeldByBlock HoldKind = "blocked"
	// HeldByWork means that somebody is at the item, or that the plan says so.
	HeldByWork HoldKind = "in_progress"
	// HeldByEnd means that nothing is left to do.
	HeldByEnd HoldKind = "done"
	// HeldByParent names the ancestor that the dependencies before it are those of. Without an id it means
	// that the item is worked on through its children.
	HeldByParent HoldKind = "parent"
)

// Hold is one reason why an item cannot be begun.
type Hold struct {
	Kind HoldKind
	// ItemID is "" where the kind says all there is to say.
	ItemID string
}

// Waiting is an item that cannot be begun, and why.
type Waiting struct {
	ItemID  string
	Because []Hold
}

// Readiness says where the work on a plan can go on.
type Readiness struct {
	// Ready and Waiting are in the order of the plan, and have each item once.
	Ready   []string
	Waiting []Waiting
	// Complete reports that nothing is left.
	Complete bool
	// Left counts the leaves that are not done and not optional, nor below an optional item, and what is unread.
	Left int
	// Unread is that of the reading: nobody can begin what has no id, but it may be work.
	Unread int
	// UnderWay counts the items with a live run. What the plan calls in progress and has no run waits all the
	// same, but nobody can be waited for.
	UnderWay int
}

// mostCauses bounds the blocked items that are named behind one dependency, the first ones of the plan, and
// of the ancestors that wait for something how many an item is told of, and of how many of their dependencies.
// In some plans all wait for all, and what nobody reads to the end must not cost the square of their size.
const mostCauses = 16

// Ready gives the items of a plan that can be begun now, and what every other item waits for. It asks once
// for the run of each item.
//
// While the newest run of an item is live or blocked, the run decides and not the plan: who ticks its own box
// has not been approved. A leaf is done if its run is, or if it has none and the plan says completed or
// skipped. Anything with children is done when all leaves below it are, but for optional ones and those below
// an optional child; if only a run of its own is left then, it counts as a leaf. A leaf is ready if
// it is pending and not blocked, and everything is done that it or an ancestor depends on; so a blocked item
// holds up nothing but what depends on it. What the plan does not know is never done, and neither are items
// that depend on each other.
//
// The reasons of an item come in this order: done, and then no other; in_progress; blocked; each of its own
// dependencies that is not done, with the blocked items behind it that have not been named for this item;
// and the same for each ancestor, from the nearest up, with parent at the end.
func Ready(items []Item, run func(itemID string) ItemRun) Readiness {
	w := newWaits(items, run)
	out := Readiness{Left: w.left, Complete: w.left == 0}
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
	// The reasons of all items share one array, which has its place only now.
	from := 0
	for i, end := range ends {
		out.Waiting[i].Because = w.holds[from:end:end]
		from = end
	}
	return out
}

// Ready is Ready for the items of the plan, which Items gives. As long as the plan has open boxes that are no
// items, it is not complete.
func (r *Reading) Ready(items []Item, run func(itemID string) ItemRun) Readiness {
	out := Ready(items, run)
	out.Unread = r.Unread
	out.Left += r.Unread
	out.Complete = out.Left == 0
	return out
}

// explain adds the reasons why an item cannot be begun, or none if it can.
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
			if w.told[d] == w.asked {
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
	w.told[d] = w.asked
	w.hold(HeldByDependency, w.name(d))
	for _, cause := range w.causesOf(d) {
		if w.named[cause] != w.asked {
			w.named[cause] = w.asked
			w.hold(HeldByBlock, w.items[cause].ID)
		}
	}
}

func (w *waits) hold(kind HoldKind, id string) { w.holds = append(w.holds, Hold{kind, id}) }

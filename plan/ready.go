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

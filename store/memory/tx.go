package memory

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"waybill/core"
	"waybill/store"
)

// tx is one transaction on a state of its own.
type tx struct {
	cancelled func() error // why the call that the transaction serves is given up, or nil
	state     *state
	writable  bool
	over      bool
	writes    int
	touched   map[string]bool // the tasks that were put, or of which an attempt was
	lost      error           // the *store.Error that a verb returned, after which nothing may be applied
}

var errOver = errors.New("the transaction is over: a Tx must not be kept")

func (t *tx) end() { t.over = true }

// getting reports why a getting verb cannot be carried out, or nil.
func (t *tx) getting() error {
	if t.over {
		return errOver
	}
	if t.lost == nil {
		t.lost = heed(t.cancelled)
	}
	return t.lost
}

// putting reports why a putting verb cannot be carried out, or nil.
func (t *tx) putting() error {
	if err := t.getting(); err != nil {
		return err
	}
	if !t.writable {
		return &store.Error{Kind: store.ReadOnly, Message: "a View cannot put anything; use Update"}
	}
	return nil
}

func (t *tx) Writes() int { return t.writes }

func (t *tx) Run(id string) (run core.Run, ok bool, err error) {
	if err := t.getting(); err != nil {
		return run, false, err
	}
	order, ok := t.state.runOrder.get(id)
	if ok {
		run, _ = t.state.runs.get(order)
	}
	return run, ok, nil
}

func (t *tx) LatestRun(plan, itemID string) (latest core.Run, ok bool, err error) {
	if err := t.getting(); err != nil {
		return latest, false, err
	}
	for _, run := range t.state.runs.all() {
		if run.Plan == plan && run.ItemID == itemID {
			latest, ok = run, true
		}
	}
	return latest, ok, nil
}

func (t *tx) LatestRuns(plan string) ([]core.Run, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	latest := make(map[string]core.Run)
	for _, run := range t.state.runs.all() {
		if run.Plan == plan {
			latest[run.ItemID] = run
		}
	}
	return slices.SortedFunc(maps.Values(latest), func(a, b core.Run) int { return cmp.Compare(a.ItemID, b.ItemID) }), nil
}

func (t *tx) Runs(q store.RunQuery) ([]core.Run, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	before := int64(t.state.runs.count()) + 1
	if q.Behind != "" {
		before, _ = t.state.runOrder.get(q.Behind) // 0, before which there is nothing, if it is not there
	}
	limit := q.Limit
	if limit <= 0 {
		limit = store.DefaultLimit
	}
	var page []core.Run
	for _, run := range t.state.runs.before(before) {
		if len(page) == limit {
			break
		}
		if (q.Plan == "" || run.Plan == q.Plan) && (q.State == "" || run.State == q.State) {
			page = append(page, run)
		}
	}
	return page, nil
}

func (t *tx) PutRun(run core.Run) error {
	if err := t.putting(); err != nil {
		return err
	}
	order, ok := t.state.runOrder.get(run.ID)
	if !ok {
		order = int64(t.state.runs.count()) + 1
		t.state.runOrder = t.state.runOrder.put(run.ID, order)
	}
	t.state.runs = t.state.runs.put(order, run)
	t.writes++
	return nil
}

func (t *tx) RunCounts() (map[core.RunState]int, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	counts := make(map[core.RunState]int)
	for _, state := range core.RunStates() {
		counts[state] = 0
	}
	for _, run := range t.state.runs.all() {
		counts[run.State]++
	}
	return counts, nil
}

func (t *tx) Facts(runID string) ([]store.Fact, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	facts, _ := t.state.facts.get(runID)
	return slices.Clone(facts), nil
}

func (t *tx) PutFacts(runID string, facts []store.Fact) error {
	if err := t.putting(); err != nil {
		return err
	}
	if _, ok := t.state.runOrder.get(runID); !ok {
		return fmt.Errorf("put facts: there is no run %q", runID)
	}
	sorted := slices.SortedFunc(slices.Values(facts), func(a, b store.Fact) int { return cmp.Compare(a.Key, b.Key) })
	for i := 1; i < len(sorted); i++ {
		if sorted[i].Key == sorted[i-1].Key {
			return fmt.Errorf("put facts of run %q: the key %q is given twice", runID, sorted[i].Key)
		}
	}
	t.state.facts = t.state.facts.put(runID, sorted)
	t.writes++
	return nil
}

func (t *tx) PutNotice(n store.Notice) error {
	if err := t.putting(); err != nil {
		return err
	}
	if n.Position < 1 {
		return fmt.Errorf("put notice %s: position %d is below 1", n.ID, n.Position)
	}
	if other, ok := t.state.notices.get(n.Position); ok && other.ID != n.ID {
		return fmt.Errorf("put notice %s: position %d is taken by %s", n.ID, n.Position, other.ID)
	}
	if old, ok := t.state.noticePositions.get(n.ID); ok {
		t.state.notices = t.state.notices.remove(old)
	}
	t.state.notices = t.state.notices.put(n.Position, n)
	t.state.noticePositions = t.state.noticePositions.put(n.ID, n.Position)
	t.writes++
	return nil
}

func (t *tx) Notice(id string) (n store.Notice, ok bool, err error) {
	if err := t.getting(); err != nil {
		return n, false, err
	}
	position, ok := t.state.noticePositions.get(id)
	if ok {
		n, _ = t.state.notices.get(position)
	}
	return n, ok, nil
}

func (t *tx) Notices(session string, after int64, limit int) ([]store.Notice, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	var page []store.Notice
	for _, n := range t.state.notices.after(after) {
		if len(page) >= limit {
			break
		}
		if session == "" || n.Session == session {
			page = append(page, n)
		}
	}
	return page, nil
}

func (t *tx) CountNotices() (int, error) {
	if err := t.getting(); err != nil {
		return 0, err
	}
	return t.state.notices.count(), nil
}

func (t *tx) ConsumeNotice(id string) (ok bool, err error) {
	if err := t.putting(); err != nil {
		return false, err
	}
	position, ok := t.state.noticePositions.get(id)
	if ok {
		t.state.notices = t.state.notices.remove(position)
		t.state.noticePositions = t.state.noticePositions.remove(id)
		t.writes++
	}
	return ok, nil
}

func (t *tx) Answered(key string) (a store.Answer, ok bool, err error) {
	if err := t.getting(); err != nil {
		return a, false, err
	}
	a, ok = t.state.answers.get(key)
	return a, ok, nil
}

func (t *tx) PutAnswer(a store.Answer) error {
	if err := t.putting(); err != nil {
		return err
	}
	if _, ok := t.state.answers.get(a.Key); !ok {
		t.state.answers = t.state.answers.put(a.Key, a)
		t.writes++
	}
	return nil
}

func (t *tx) Answers(after string, limit int) ([]store.Answer, error) {
	if err := t.getting(); err != nil {
		return nil, err
	}
	return pageOf(t.state.answers, after, limit), nil
}

// pageOf gives at most limit values behind the key.
func pageOf[V any](of *node[string, V], after string, limit int) []V {
	var page []V
	for _, v := range of.after(after) {
		if len(page) >= limit {
			break
		}
		page = append(page, v)
	}
	return page
}

package prompt

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"waybill/internal/safetext"
	"waybill/prompt/sanitize"
)

// An anchor is the text from which an agent goes on whose memory was cut. These rules hold:
//
//   - The same facts return the same bytes, and no facts return no text.
//   - The text has at most MaxTokens, whatever the facts are.
//   - A fact that is left out or cut is listed, with the method that returns it. Receipts of finished items go first,
//     then parts of long texts, then the ends of lists.
//   - No text of a plan, an agent or a host can imitate a section.

// AnchorInput holds the facts of an anchor. In each list, the most important fact comes first.
type AnchorInput struct {
	Work         []AnchorWork
	Plans        []AnchorPlan
	Questions    []AnchorQuestion
	Instructions []string // texts that are due
	// MoreWork, MoreQuestions and MoreInstructions count the facts that the lists lack.
	MoreWork, MoreQuestions, MoreInstructions int
	// Unreadable are the ids of runs whose records are damaged.
	Unreadable []string
	MaxTokens  int
	// Count counts the tokens of a text; nil estimates them by Tokens.
	Count func(text string) int
}

// AnchorWork is a live run, or a running task without a run.
type AnchorWork struct {
	RunID, Plan, ItemID string
	TaskID              string // the task that Holder speaks of, or ""
	Title               string
	Next                string // a sentence that says what to do next
	Role                string // the role of the next prompt, or ""
	Holder              AnchorHolder
	Blocked             string // why only a person can continue it, or ""
	Green               []AnchorReceipt
	Due                 []string // checks that must run
	Unreadable          string   // why the plan cannot be read, or ""
}

// An AnchorHolder says why the session does not simply go on with something.
type AnchorHolder int

// The holders. Of several tasks of a run, the one with the smallest holder counts.
const (
	NoHolder      AnchorHolder = iota // the session works on it, or it is free
	UnboundWorker                     // the task runs, and no session is bound to its attempt
	OtherSession                      // another session runs the task
	AskedPerson                       // the task waits for a person's answer
	TaskQueue                         // the task waits for a worker that claims it
)

// AnchorReceipt is the green receipt of a check.
type AnchorReceipt struct{ Check, ID string }

// AnchorPlan is a plan that is being worked on.
type AnchorPlan struct {
	Path         string
	Done, Total  int
	Ready        []string // ids of items that can begin now
	Proven, Said []AnchorSpan
	// Proofs are those of the proven items, the newest first, and MoreProofs counts the others.
	Proofs     []AnchorProof
	MoreProofs int
}

// AnchorSpan is a series of items that follow one another in the plan.
type AnchorSpan struct {
	First, Last string
	Count       int
}

// AnchorProof holds the receipts that prove an item.
type AnchorProof struct {
	ItemID   string
	Receipts []AnchorReceipt
}

// AnchorQuestion is a question that waits for a person.
type AnchorQuestion struct{ TaskID, Text string }

// An Anchor is a compiled anchor.
type Anchor struct {
	Text    string
	Tokens  int
	Omitted []Omission
}

// anchorLevels bound the characters of each text and the entries of each list. The first level that fits is used.
var anchorLevels = [...]struct{ text, list int }{
	{400, 50}, {200, 50}, {200, 20}, {120, 20}, {120, 10}, {80, 5}, {60, 3}, {40, 2}, {20, 1}, {0, 0},
}

// leastText bounds the texts of the next action, which every anchor has.
const leastText = 20

// CompileAnchor returns the anchor of the facts.
func CompileAnchor(in AnchorInput) (a Anchor) {
	if in.empty() {
		return a
	}
	for level := range anchorLevels {
		if a = in.render(level, 0); a.Tokens <= in.MaxTokens {
			return in.withProofs(level, a)
		}
	}
	return a
}

func (in *AnchorInput) empty() bool {
	return len(in.Work)+len(in.Plans)+len(in.Questions)+len(in.Instructions)+len(in.Unreadable) == 0
}

// withProofs adds the receipts of as many items as fit.
func (in *AnchorInput) withProofs(level int, bare Anchor) Anchor {
	all := 0
	for _, p := range in.Plans {
		all += len(p.Proofs)
	}
	if anchorLevels[level].list == 0 || all == 0 {
		return bare
	}
	if full := in.render(level, all); full.Tokens <= in.MaxTokens {
		return full
	}
	most := sort.Search(all, func(n int) bool { return in.render(level, n).Tokens > in.MaxTokens })
	return in.render(level, max(0, most-1))
}

// An anchorWriter writes an anchor at one level.
type anchorWriter struct {
	writer
	text, list int
	short      bool // a text was cut
	omitted    []Omission
}

func (in *AnchorInput) render(level, proofs int) Anchor {
	w := &anchorWriter{text: anchorLevels[level].text, list: anchorLevels[level].list}
	w.head(sanitize.HeadResume, byWaybill)
	w.line("This is where the work stands, as waybill recorded it. Go on from here, whatever you remember.")
	w.entry("Next: ", in.next(w))
	in.writeWork(w)
	in.writeProven(w, proofs)
	in.writeSaid(w)
	in.writeWaiting(w)
	if len(in.Unreadable) > 0 {
		w.omit(len(in.Unreadable), "damaged run", "damaged runs", "explain says what is known of "+in.Unreadable[0])
	}
	if w.short {
		w.omitted = append(w.omitted, Omission{"the ends of texts before …", "get_plan, get_task and list_instructions return them"})
	}
	if len(w.omitted) > 0 {
		w.head(sanitize.HeadOmitted, byWaybill)
		for _, o := range w.omitted {
			w.entry("- ", o.What+": "+o.Why)
		}
	}
	a := Anchor{Text: w.String(), Omitted: w.omitted}
	if in.Count != nil {
		a.Tokens = in.Count(a.Text)
	} else {
		a.Tokens = Tokens(utf8.RuneCountInString(a.Text))
	}
	return a
}

// next says what the agent does first. It is in every anchor. A task without a session may be the agent's own, so its id
// comes before everything else that could be done.
func (in *AnchorInput) next(w *anchorWriter) string {
	for i := range in.Work {
		work := &in.Work[i]
		switch {
		case work.Blocked != "":
		case work.Holder == NoHolder:
			return w.nextOf(work)
		case work.Holder == UnboundWorker:
			return fmt.Sprintf("if you claimed %s or another running task, go on with it; get_task returns its prompt. Otherwise, %s",
				work.TaskID, in.free(w))
		}
	}
	return in.free(w)
}

// free says what an agent does that has no task.
func (in *AnchorInput) free(w *anchorWriter) string {
	for i := range in.Work {
		if work := &in.Work[i]; work.Holder == NoHolder && work.Blocked == "" {
			return w.nextOf(work)
		}
	}
	for i := range in.Plans {
		if p := &in.Plans[i]; len(p.Ready) > 0 {
			return fmt.Sprintf("begin item %s of %s; init_run starts its run.", w.quote(p.Ready[0]), w.quote(p.Path))
		}
	}
	for _, work := range in.Work {
		if work.Holder == TaskQueue {
			return "claim a task from the queue; claim_task returns its prompt."
		}
	}
	switch {
	case slices.ContainsFunc(in.Work, func(work AnchorWork) bool { return work.Blocked != "" }):
		return "nothing, until a person decides about the blocked run."
	case len(in.Questions) > 0:
		return "nothing, until a person answers the open questions."
	case len(in.Instructions) > 0:
		return "follow the instructions."
	}
	return "nothing; other sessions do the work, and no other item can begin."
}

func (w *anchorWriter) nextOf(work *AnchorWork) string {
	switch {
	case work.RunID == "":
		return fmt.Sprintf("go on with task %s; get_task returns its prompt.", work.TaskID)
	case work.Role == "":
		return fmt.Sprintf("in %s, %s.", work.RunID, work.Next)
	}
	return fmt.Sprintf("in %s, %s; compile_prompt with role %s returns all about it.", work.RunID, work.Next, work.Role)
}

func (in *AnchorInput) writeWork(w *anchorWriter) {
	if shown := min(len(in.Work)+len(in.Plans), w.list); shown > 0 {
		w.head(sanitize.HeadWork, byPlanAgents)
	}
	for _, work := range in.Work[:min(len(in.Work), w.list)] {
		w.entry("- ", w.subject(&work))
		switch {
		case work.Holder == OtherSession:
			w.line("  another session works on it; leave it alone")
		case work.Blocked != "":
			w.entry("  blocked, a person decides: ", w.cut(work.Blocked))
		case work.Holder == UnboundWorker:
			w.line("  running; go on if you claimed it")
		case work.Holder == AskedPerson:
			w.line("  waits for the answer to " + work.TaskID)
		case work.Holder == TaskQueue:
			w.line("  waits in the queue; claim_task hands out " + work.TaskID + " when it is due")
		default:
			w.entry("  next: ", work.Next)
		}
		if len(work.Green) > 0 {
			w.entry("  green, and not to be run again on the same files: ", w.receipts(work.Green))
		}
		if len(work.Due) > 0 {
			w.entry("  checks due: ", w.cut(strings.Join(work.Due, ", ")))
		}
		if work.Unreadable != "" {
			w.entry("  the plan cannot be read now: ", w.cut(work.Unreadable))
		}
	}
	w.omit(max(0, len(in.Work)-w.list)+in.MoreWork, "more run or task at work", "more runs or tasks at work", "list_runs and list_tasks return them")
	for _, p := range in.Plans[:min(len(in.Plans), w.list)] {
		text := fmt.Sprintf("plan %s: %d of %d items are done", w.quote(p.Path), p.Done, p.Total)
		if len(p.Ready) > 0 {
			text += "; can begin: " + w.some(p.Ready, "ready_items returns more")
		}
		w.entry("- ", text)
	}
	w.omit(max(0, len(in.Plans)-w.list), "plan", "plans", "list_plans returns them")
}

// subject names the work, and its title.
func (w *anchorWriter) subject(work *AnchorWork) string {
	var names []string
	if work.RunID != "" {
		names = append(names, fmt.Sprintf("%s, item %s of %s", work.RunID, w.quote(work.ItemID), w.quote(work.Plan)))
	}
	if work.TaskID != "" {
		names = append(names, work.TaskID)
	}
	text := strings.Join(names, ", ")
	if work.Title != "" {
		text += ": " + w.cut(work.Title)
	}
	return text
}

// mostReady bounds the items of a plan that can begin now. The first is enough to go on.
const mostReady = 5

// some names the first ids, and where the others are.
func (w *anchorWriter) some(ids []string, where string) string {
	shown := min(len(ids), w.list, mostReady)
	text := make([]string, shown)
	for i, id := range ids[:shown] {
		text[i] = w.cut(id)
	}
	if more := len(ids) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more; %s", strings.Join(text, ", "), more, where)
	}
	return strings.Join(text, ", ")
}

func (in *AnchorInput) writeProven(w *anchorWriter, proofs int) {
	items, receipts, begun := 0, 0, false
	for i, p := range in.Plans {
		receipts += p.MoreProofs
		if i >= w.list || len(p.Proven) == 0 {
			items += itemsOf(p.Proven)
			receipts += len(p.Proofs)
			continue
		}
		if !begun {
			w.head(sanitize.HeadProven, byPlanAgents)
			w.line("Done, and proven by the receipts of checks. Do not do or check these items again:")
			begun = true
		}
		items += w.spans(&p, p.Proven)
		shown := min(len(p.Proofs), proofs)
		for _, proof := range p.Proofs[:shown] {
			w.entry("  item ", w.cut(proof.ItemID)+": "+w.receipts(proof.Receipts))
		}
		proofs -= shown
		receipts += len(p.Proofs) - shown
	}
	w.omit(items, "proven item", "proven items", "list_runs and get_plan return them")
	w.omit(receipts, "proven item without its receipts", "proven items without their receipts", "list_receipts returns them")
}

func (in *AnchorInput) writeSaid(w *anchorWriter) {
	items, begun := 0, false
	for i, p := range in.Plans {
		if i >= w.list || len(p.Said) == 0 {
			items += itemsOf(p.Said)
			continue
		}
		if !begun {
			w.head(sanitize.HeadSaid, byPlanAgents)
			w.line("Done as the plan or a reviewer says; no check proves it. Do not start these items over:")
			begun = true
		}
		items += w.spans(&p, p.Said)
	}
	w.omit(items, "item said done", "items said done", "list_runs and get_plan return them")
}

// spans writes the finished items of a plan as an entry, and returns the number of items that have no room.
func (w *anchorWriter) spans(p *AnchorPlan, spans []AnchorSpan) (rest int) {
	text, separator := "of "+w.quote(p.Path), ": "
	most := utf8.RuneCountInString(text) + 5*w.text
	shown := 0
	for _, s := range spans {
		next := separator + w.span(s)
		if shown > 0 && utf8.RuneCountInString(text+next) > most {
			break
		}
		text, separator = text+next, ", "
		shown++
	}
	if shown > 0 {
		w.entry("- ", text)
	}
	return itemsOf(spans[shown:])
}

func itemsOf(spans []AnchorSpan) (n int) {
	for _, s := range spans {
		n += s.Count
	}
	return n
}

func (w *anchorWriter) span(s AnchorSpan) string {
	switch s.Count {
	case 1:
		return w.cut(s.First)
	case 2:
		return w.cut(s.First) + ", " + w.cut(s.Last)
	}
	return fmt.Sprintf("%s to %s (%d items)", w.cut(s.First), w.cut(s.Last), s.Count)
}

func (in *AnchorInput) writeWaiting(w *anchorWriter) {
	shown := min(len(in.Questions), w.list)
	if shown > 0 {
		w.head(sanitize.HeadQuestions, byAgents)
		w.line("A person answers these. Do not answer them yourself, and do not ask again:")
		for _, q := range in.Questions[:shown] {
			w.entry("- ", q.TaskID+": "+w.cut(q.Text))
		}
	}
	w.omit(len(in.Questions)-shown+in.MoreQuestions, "open question", "open questions", "list_awaiting returns them")
	shown = min(len(in.Instructions), w.list)
	if shown > 0 {
		w.head(sanitize.HeadInstructions, byHost)
		w.line("Not sent yet, or not acknowledged yet:")
		for _, text := range in.Instructions[:shown] {
			w.entry("- ", w.cut(text))
		}
	}
	w.omit(len(in.Instructions)-shown+in.MoreInstructions, "instruction that is due", "instructions that are due", "list_instructions returns them")
}

// receipts names checks with their receipts.
func (w *anchorWriter) receipts(list []AnchorReceipt) string {
	text := make([]string, 0, len(list))
	for _, r := range list[:min(len(list), w.list)] {
		text = append(text, r.Check+" "+r.ID)
	}
	if more := len(list) - len(text); more > 0 {
		text = append(text, fmt.Sprintf("%d more in list_receipts", more))
	}
	return strings.Join(text, ", ")
}

// omit lists facts that are left out, by their number and by the name of one or of several.
func (w *anchorWriter) omit(count int, one, several, where string) {
	switch {
	case count == 1:
		w.omitted = append(w.omitted, Omission{"1 " + one, where})
	case count > 1:
		w.omitted = append(w.omitted, Omission{fmt.Sprintf("%d %s", count, several), where})
	}
}

// cut returns a text on one line, cut to the level.
func (w *anchorWriter) cut(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	short := safetext.Truncate(line, max(w.text, leastText))
	if short != line {
		w.short = true
	}
	return short
}

// quote returns a name that the text around it cannot continue.
func (w *anchorWriter) quote(name string) string {
	return `"` + strings.ReplaceAll(w.cut(name), `"`, "'") + `"`
}

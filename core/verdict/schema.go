package verdict

import (
	"fmt"
	"strings"

	"waybill/core"
)

// judgeBlock reads a well-formed block by the contract of the role that was asked.
func judgeBlock(found blocks, n *notes) Judgement {
	remarkBlock(found, n)
	in, contract := ReviewerBlock, reviewerContract
	if n.asked.Role == core.Worker {
		in, contract = WorkerBlock, workerContract
	}
	r, v := Result{Role: n.asked.Role}, found.last.object
	objectReader{notes: n}.object(v, contract(&r))
	switch {
	case r.Status == "approved" && len(r.RequiredFixes) > 0:
		n.warn(fixesOnApproval, v.at, "approved, but with required fixes")
	case in == ReviewerBlock && r.Status != "approved" && r.Status != "" && len(r.RequiredFixes)+len(r.Issues) == 0:
		n.warn(nothingToFix, v.at, "%s, but without issues or required fixes", r.Status)
	}
	word, ok := Lookup(in, r.Status)
	if !ok { // and the reader has said so
		return n.judgement(Invalid, JSONBlock, r)
	}
	return n.judgement(Verdict(word.Means), JSONBlock, r)
}

// remarkBlock notes what had to be tolerated around the block.
func remarkBlock(found blocks, n *notes) {
	b := found.last
	if found.count > 1 {
		n.warn(furtherBlock, b.begin, "the last of %d result blocks counts", found.count)
	}
	if found.breaks > 0 {
		n.warn(brokenBlock, found.broken.begin, "a result block that is not well-formed was passed over")
	}
	if b.fenced || strings.HasSuffix(strings.TrimRight(lastLine(n.text[:b.begin]), " \t\r"), "```") {
		n.warn(codeFence, b.begin, "the result block is in a code fence")
	}
	if b.decorated {
		n.warn(decoration, b.begin, "a marker is decorated")
	}
	if b.oneLine {
		n.warn(oneLine, b.begin, "a marker shares its line")
	}
	if rest := strings.Trim(n.text[b.end:], "`*. \t\r\n"); rest != "" {
		n.warn(epilogue, b.end, "text after the result block was passed over")
	}
	for h := range headerBlocks(n.text) {
		n.warn(furtherHeaders, h.at, "headers were passed over, because there is a result block")
		break
	}
}

// judgeBroken is about a text whose blocks were begun and are none. It would say what the agent means
// only by chance, so no statement in it is looked for.
func (n *notes) judgeBroken(f fracture) Judgement {
	found := n.text[f.at:]
	if found == "" {
		found = "the end of the text"
	}
	n.fault(BlockBroken, "result block", f.at, f.expected, found, "the result block is not well-formed")
	return n.judgement(Invalid, JSONBlock, Result{})
}

// lastLine gives the last line of a text that is not blank, and nothing else of it.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// An objectReader reads an object by its contract and notes everything that is wrong with it.
type objectReader struct {
	notes *notes
	path  string // such as "issues[2]."
}

// A key is what the contract says about one member.
type key struct {
	name     string
	optional bool
	decides  bool // two different values leave no way to tell which is meant
	value    value
}

// A value says what the value of a member must be, and reads it. What is said is said in an error.
type value struct {
	expected string
	read     func(o objectReader, field string, v node)
}

// workerContract is what the result block of a worker must have.
func workerContract(r *Result) []key {
	return []key{
		{name: "task_id", decides: true, value: taskID(&r.TaskID)},
		{name: "status", decides: true, value: word(&r.Status, "completed", "blocked", "failed")},
		{name: "summary", value: text(&r.Summary, maxSummary)},
		{name: "files_changed", value: texts(&r.FilesChanged)},
		{name: "tests", value: each(&r.Tests, testKeys, testSize)},
		{name: "follow_up_actions", value: texts(&r.FollowUps)},
		{name: "git_range", optional: true, value: gitRange(&r.GitRange)},
	}
}

func testKeys(t *Test) []key {
	return []key{
		{name: "command", value: text(&t.Command, maxEntry)},
		{name: "passed", value: boolean(&t.Passed)},
		{name: "failures", optional: true, value: texts(&t.Failures)},
	}
}

// reviewerContract is what the result block of a reviewer must have.
func reviewerContract(r *Result) []key {
	return []key{
		{name: "task_id", decides: true, value: taskID(&r.TaskID)},
		{name: "assessment", decides: true, value: word(&r.Status, "approved", "needs_changes", "blocked")},
		{name: "strengths", value: texts(&r.Strengths)},
		{name: "issues", value: each(&r.Issues, issueKeys, issueSize)},
		{name: "required_fixes", value: texts(&r.RequiredFixes)},
	}
}

func issueKeys(i *Issue) []key {
	return []key{
		{name: "severity", value: word(&i.Severity, "critical", "important", "minor")},
		{name: "file", optional: true, value: text(&i.File, maxEntry)},
		{name: "message", value: text(&i.Message, maxEntry)},
		{name: "fix", value: text(&i.Fix, maxEntry)},
	}
}

// object finds the member of each key, the last if there are several, and reads them in the order of
// the contract.
func (o objectReader) object(v node, keys []key) {
	values := make([]node, len(keys))
	for name, value := range v.members() {
		i := o.keyOf(name, keys)
		if i < 0 {
			o.unknown(name, value)
			continue
		}
		if before := values[i]; before.end > 0 {
			o.duplicate(keys[i], before, value)
		}
		values[i] = value
	}
	for i, k := range keys {
		switch field := o.path + k.name; {
		case values[i].end > 0:
			k.value.read(o, field, values[i])
		case !k.optional:
			o.notes.fault(Missing, field, v.at, k.value.expected, "", field+" is missing")
		}
	}
}

func (o objectReader) keyOf(name node, keys []key) int {
	s := name.upTo(maxKey)
	for i, k := range keys {
		if s == k.name {
			return i
		}
	}
	return -1
}

// unknown remarks on a key that is not in the contract. A role is not, either, but it says something.
func (o objectReader) unknown(name, value node) {
	key := name.upTo(shownLong)
	o.notes.warn(unknownKey, name.at, "the key %s is not known here", foreign(o.path+key))
	if key != "role" || o.path != "" || !value.is('"') {
		return
	}
	said := value.upTo(shownLong)
	if role, ok := roleNamed(said, o.notes.asked.Role); !ok || role != o.notes.asked.Role {
		o.notes.warn(roleDiffers, value.at, "the role is %s, but %s was asked", foreign(said), o.notes.asked.Role)
	}
}

func (o objectReader) duplicate(k key, before, value node) {
	field := o.path + k.name
	if k.decides && before.raw() != value.raw() {
		o.notes.fault(Contradictory, field, value.at, "one value", show(before.raw())+" and "+show(value.raw()),
			field+" is given twice and differs")
		return
	}
	o.notes.warn(duplicateKey, value.at, "%s is given twice; the last one counts", field)
}

// of gives a value of the JSON type that begins with one of the given bytes.
func of(expected, first string, read func(o objectReader, field string, v node)) value {
	return value{expected, func(o objectReader, field string, v node) {
		if strings.IndexByte(first, v.text[v.at]) < 0 {
			o.notes.fault(WrongType, field, v.at, expected, v.raw(), field+" has the wrong type")
			return
		}
		read(o, field, v)
	}}
}

func text(to *string, limit int) value {
	return of("a string", `"`, func(o objectReader, field string, v node) {
		*to = o.notes.bounded(field, v.at, v.upTo(limit), limit, len(v.raw())-len(`""`))
	})
}

// gitRange reads a range of commits. Since a result may do without it, one that is none makes no result invalid.
func gitRange(to *string) value {
	return value{"a string", func(o objectReader, field string, v node) {
		if v.is('"') {
			text(to, maxEntry).read(o, field, v)
		}
		if !isRange(*to) {
			o.notes.warn(gitRangeForm, v.at, "git_range is not <base>..<head>: %s", show(v.raw()))
		}
	}}
}

func boolean(to *bool) value {
	return of("true or false", "tf", func(_ objectReader, _ string, v node) { *to = v.is('t') })
}

func taskID(to *string) value {
	return of("the id of the task as a string", `"`, func(o objectReader, _ string, v node) {
		id := trim(v.upTo(maxEntry))
		*to = o.notes.bounded("task_id", v.at, id, maxID, len(v.raw())-len(`""`))
		o.notes.checkTaskID(id, v.at)
	})
}

// checkTaskID notes an error if the result is about something else than what was asked.
func (n *notes) checkTaskID(id string, at int) {
	if !n.asked.knows(id) {
		n.fault(TaskIDMismatch, "task_id", at, n.asked.ids(), id, "the result is about another task")
	}
}

// word reads one of a few words, whatever its case.
func word(to *string, allowed ...string) value {
	last := len(allowed) - 1
	expected := strings.Join(allowed[:last], ", ") + " or " + allowed[last]
	return of(expected, `"`, func(o objectReader, field string, v node) {
		said := trim(v.upTo(maxEntry))
		for _, w := range allowed {
			if strings.EqualFold(said, w) {
				*to = w
				o.notes.remarkCase(field, v.at, said, w)
				return
			}
		}
		o.notes.fault(NotAllowed, field, v.at, expected, said, field+" is none of the words allowed")
	})
}

func (n *notes) remarkCase(field string, at int, said, meant string) {
	if said != meant {
		n.warn(letterCase, at, "%s: %s was read as %s", field, foreign(said), meant)
	}
}

// texts reads a list of strings.
func texts(to *[]string) value {
	return list(to, func(s *string) value { return text(s, maxEntry) }, textSize)
}

// each reads a list of objects. The size of one is that of all its texts.
func each[T any](to *[]T, keys func(*T) []key, size func(T) int) value {
	return list(to, func(entry *T) value {
		return of("an object", "{", func(o objectReader, field string, v node) {
			objectReader{notes: o.notes, path: field + "."}.object(v, keys(entry))
		})
	}, size)
}

func list[T any](to *[]T, entry func(*T) value, size func(T) int) value {
	return of("a list", "[", func(o objectReader, field string, v node) {
		g := gathering[T]{field: field}
		for e := range v.entries() {
			if g.full() {
				g.skip(1, e.at)
				continue
			}
			var one T
			entry(&one).read(o, fmt.Sprintf("%s[%d]", field, len(g.list)), e)
			g.add(one, size(one), e.at)
		}
		*to = g.done(o.notes)
	})
}

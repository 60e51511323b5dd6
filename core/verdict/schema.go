package verdict

import (
	"fmt"
	"strings"

	"waybill/core"
)

// judgeBlock judges a well-formed block by the contract of the role that was asked.
func judgeBlock(b block, n *notes) Judgement {
	b.remark(n)
	in, contract := ReviewerBlock, reviewerContract
	if n.asked.Role == core.Worker {
		in, contract = WorkerBlock, workerContract
	}
	r, v := Result{Role: n.asked.Role}, b.object
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
	return n.judgement(word.Means, JSONBlock, r)
}

// remark warns of tolerated text around the block.
func (b block) remark(n *notes) {
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
}

// broken notes the error of a block that is not well-formed.
func (n *notes) broken(f brokenBlockAt) {
	found := n.text[f.at:]
	if found == "" {
		found = "the end of the text"
	}
	n.fault(BlockBroken, "result block", f.at, f.expected, found, "the result block is not well-formed")
}

// lastLine returns the last line of a text that is not blank, and nothing else.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// An objectReader reads an object by its contract and notes all errors.
type objectReader struct {
	notes *notes
	path  string // prefix of field names, such as "issues[2]."
}

// A key is the contract of one member.
type key struct {
	name     string
	optional bool
	decides  bool // different values are an error
	value    value
}

// A value checks and reads the value of a member.
type value struct {
	expected string
	read     func(o objectReader, field string, v node)
}

// workerContract returns the members of a worker's block.
func workerContract(r *Result) []key {
	return []key{
		{name: "task_id", decides: true, value: taskID(&r.TaskID)},
		{name: "status", decides: true, value: word(&r.Status, "completed", "blocked", "failed")},
		{name: "summary", value: text(&r.Summary, maxSummary)},
		{name: "files_changed", value: texts(&r.FilesChanged)},
		{name: "tests", value: each(&r.Tests, testKeys, testSize)},
		{name: "follow_up_actions", value: texts(&r.FollowUps)},
		{name: "git_range", optional: true, value: gitRange(r)},
		{name: "role", optional: true, decides: true, value: roleMember},
		{name: "key", optional: true, decides: true, value: keyMember},
	}
}

func testKeys(t *Test) []key {
	return []key{
		{name: "command", value: text(&t.Command, maxEntry)},
		{name: "passed", value: boolean(&t.Passed)},
		{name: "failures", optional: true, value: texts(&t.Failures)},
	}
}

// reviewerContract returns the members of a reviewer's block.
func reviewerContract(r *Result) []key {
	return []key{
		{name: "task_id", decides: true, value: taskID(&r.TaskID)},
		{name: "assessment", decides: true, value: word(&r.Status, "approved", "needs_changes", "blocked")},
		{name: "strengths", value: texts(&r.Strengths)},
		{name: "issues", value: each(&r.Issues, issueKeys, issueSize)},
		{name: "required_fixes", value: texts(&r.RequiredFixes)},
		{name: "role", optional: true, decides: true, value: roleMember},
		{name: "key", optional: true, decides: true, value: keyMember},
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

// object reads the members in the order of the contract. Of a repeated member it reads the last.
func (o objectReader) object(v node, keys []key) {
	values := make([]node, len(keys))
	rivals := make([]node, len(keys))
	for name, value := range v.members() {
		i := o.keyOf(name, keys)
		if i < 0 {
			o.unknown(name)
			for i, k := range keys {
				if k.rivals(name.upTo(maxKey), value) {
					rivals[i] = name
				}
			}
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
			if r := rivals[i]; r.end > 0 {
				o.notes.fault(Contradictory, field, r.at, "one "+k.name, r.upTo(maxKey), field+" is said twice, under two names")
			}
			k.value.read(o, field, values[i])
		case !k.optional:
			o.notes.fault(Missing, field, v.at, k.value.expected, "", field+" is missing")
		}
	}
}

// keyOf returns the index of a member's key, or -1. The role and the result key count in any spelling that headers may
// have, too, so that none of them is passed over.
func (o objectReader) keyOf(name node, keys []key) int {
	s := name.upTo(maxKey)
	normal, _ := keyName(s)
	for i, k := range keys {
		if s == k.name || k.decides && k.optional && normal == k.name {
			return i
		}
	}
	return -1
}

// unknown warns of a member outside the contract.
func (o objectReader) unknown(name node) {
	o.notes.warn(unknownKey, name.at, "the key %s is not known here", foreign(o.path+name.upTo(maxShownLong)))
}

// rivals reports whether a member outside the contract contradicts the key: the same word in another case, the status
// of the other contract, or a "verdict" that is no pass.
func (k key) rivals(said string, value node) bool {
	if !k.decides || strings.EqualFold(k.name, said) {
		return k.decides
	}
	switch status := k.name == "status" || k.name == "assessment"; strings.ToLower(said) {
	case "status", "assessment":
		return status
	case "verdict", "result":
		return status && rejection(value.short()) != ""
	}
	return false
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

// of returns a value of the JSON type that begins with one of the bytes of first.
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

// roleMember checks the role that a block may name; keyMember allows the result key. Neither value is kept.
var (
	roleMember = of(roleNames, `"`, func(o objectReader, _ string, v node) { o.notes.checkRole(trim(v.upTo(maxEntry)), v.at) })
	keyMember  = of("the key of the result as a string", `"`, func(objectReader, string, node) {})
)

// gitRange reads an optional range of commits; null and "" mean none.
func gitRange(r *Result) value {
	return value{"<base>..<head>", func(o objectReader, field string, v node) {
		if v.is('n') || v.raw() == `""` {
			o.notes.warn(placeholder, v.at, "git_range was read as empty: %s", foreign(v.raw()))
			return
		}
		if v.is('"') {
			text(&r.GitRange, maxEntry).read(o, field, v)
		}
		o.notes.checkRange(r.GitRange, v.raw(), v.at, r.Status == "completed")
	}}
}

// checkRange notes that a git_range is no range. If a worker reports done, that is an error, because the reviewers
// would see other commits or none.
func (n *notes) checkRange(r, found string, at int, done bool) {
	switch {
	case isRange(r):
	case done:
		n.fault(NotAllowed, "git_range", at, "<base>..<head>", found, "git_range is not a range of commits")
	default:
		n.warn(gitRangeForm, at, "git_range is not <base>..<head>: %s", foreign(found))
	}
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

// checkTaskID notes an error if the result names another item or task.
func (n *notes) checkTaskID(id string, at int) {
	if !n.asked.knows(id) {
		n.fault(TaskIDMismatch, "task_id", at, n.asked.ids(), id, "the result is about another task")
	}
}

// word reads one of the allowed words, in any case.
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

// each reads a list of objects. size returns the length of all texts of an entry.
func each[T any](to *[]T, keys func(*T) []key, size func(T) int) value {
	return list(to, func(entry *T) value {
		return of("an object", "{", func(o objectReader, field string, v node) {
			objectReader{notes: o.notes, path: field + "."}.object(v, keys(entry))
		})
	}, size)
}

func list[T any](to *[]T, entry func(*T) value, size func(T) int) value {
	return of("a list", "[", func(o objectReader, field string, v node) {
		g := boundedList[T]{field: field}
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

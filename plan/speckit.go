package plan

import "strings"

// This file reads the lists of spec-kit: "- [ ] T002 [P] [US1] Title in dir/file.go (depends on T001)" below phase
// headings.

var specKitGrammar = grammar{
	dialects: []string{specKit},
	label:    specKitLabel,
	heading:  specKitHeading,
	remark:   func(n *numbered, _ *line, _ box) { n.nodes[n.owner].section = n.phase },
	settle:   (*numbered).phaseDependencies,
	marks:    []meaning{{"-", Skipped, ""}},
	usable:   "a space, x or -",
	anywhere: true,
	missing:  "no checkbox outside fences and comments has an id such as T001 after it",
	wanted:   "put an id such as T001 and a space after the box to make it a task",
}

func specKitLabel(n *numbered, ln *line, b *box) (id, title string) {
	rest := n.cutTags(b.rest(ln.text))
	if inside, after, ok := strings.Cut(strings.TrimPrefix(rest, bold), bold); ok && strings.HasPrefix(rest, bold) {
		if id, _ := readTaskID(inside); id != "" {
			rest = inside + " " + trim(after)
		}
	}
	id, end := readTaskID(rest)
	if id == "" {
		return "", rest
	}
	title = n.cutTags(trim(rest[end:]))
	n.tags.waits = mentioned(title)
	if n.item != nil {
		n.item.Files = pathsIn(title, n.item.Files)
	}
	return id, title
}

// readTaskID parses "T012" or "T012a" and the separator after it.
func readTaskID(s string) (id string, end int) {
	if len(s) < 2 || s[0] != 'T' && s[0] != 't' || !isDigit(s[1]) {
		return "", 0
	}
	end = 2
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	end += letter(s, end, true)
	id = s[:end]
	if end < len(s) && strings.IndexByte(".:)", s[end]) >= 0 {
		end++
	}
	if end > longestID || !ends(s, end) {
		return "", 0
	}
	return id, end
}

// isTaskID reports whether s is exactly an id such as T012.
func isTaskID(s string) bool {
	id, _ := readTaskID(s)
	return id != "" && id == s
}

// cutTags removes "[P]" and "[US1]" from the beginning of s, in any order.
func (n *numbered) cutTags(s string) string {
	for strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			break
		}
		switch tag := s[1:end]; {
		case tag == "P" || tag == "p":
			n.tags.parallel = true
		case isStory(tag):
			n.tags.stories = append(n.tags.stories, tag)
		default:
			return s
		}
		s = trim(s[end+1:])
	}
	return s
}

// isStory reports whether a tag is a user story such as US1.
func isStory(tag string) bool {
	number, ok := strings.CutPrefix(tag, "US")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// idsAt returns the part of a list before the first entry that is neither an id nor a range. Other words may follow
// the last id. They must not follow a bare number, which may be a quantity.
func idsAt(list string) string {
	end := 0
	for rest := list; rest != ""; {
		at := len(list) - len(rest)
		whole, after, _ := cutList(rest)
		at += strings.Index(rest, whole)
		for whole != "" {
			one, more := cutAnd(whole)
			first, prose := idAt(one)
			if first == "" {
				return list[:end]
			}
			end = at + strings.Index(one, first) + len(first)
			if prose {
				return list[:end]
			}
			at += len(whole) - len(more)
			whole = more
		}
		rest = after
	}
	return list[:end]
}

// idAt returns the id or the range at the beginning of a list entry, or "". prose reports whether other words follow.
func idAt(entry string) (id string, prose bool) {
	id = bareID(entry)
	if _, _, isRange := cutRange(id); isRange {
		return id, false
	}
	id, rest, _ := strings.Cut(id, " ")
	id = strings.TrimRight(id, ".;")
	if _, _, isRange := cutRange(id); !isRange && !isID(id) || rest != "" && strings.Trim(id, "0123456789") == "" {
		return "", false
	}
	return id, rest != ""
}

// pathsIn appends the words of a title that are file paths: they have a slash, and a dot in their last part.
func pathsIn(title string, paths []string) []string {
	for word := range strings.FieldsSeq(title) {
		word = strings.Trim(word, "`,;:()*\"'")
		word = strings.TrimRight(word, ".")
		name := word[strings.LastIndexByte(word, '/')+1:]
		if len(name) < len(word) && strings.IndexByte(name, '.') >= 0 && !strings.Contains(word, "://") {
			paths = append(paths, word)
		}
	}
	return paths
}

// specKitHeading begins a phase, or the section about the order of items.
func specKitHeading(n *numbered, _ *line, level int, text string) {
	// A deeper heading belongs to the phase, unless the phase is the title of the whole file.
	if isPhase(text) && (n.r.Len() == 0 || n.phase == 0 || level <= n.phaseLevel) {
		if n.r.Len() == 0 || n.phase == 0 {
			n.phaseLevel = level
		}
		n.phase++
		n.phases = append(n.phases, text)
	}
	if beginsWith(text, "Dependencies") {
		n.draw(level, true)
	}
}

// isPhase reports whether a heading names a phase: "Phase 2: Berths", "Phase A", "Phase IV", "Phase Two". "Phase
// notes" is not a phase.
func isPhase(heading string) bool {
	const numbers = " one two three four five six seven eight nine ten "
	name, ok := cutWord(heading, "Phase")
	if name = trim(name); !ok || name == "" {
		return false
	}
	if isDigit(name[0]) {
		return true
	}
	word := firstWord(name)
	return len(word) == 1 || word != "" && strings.Trim(word, "IVX") == "" || isOneOf(word, numbers)
}

// phaseDependencies makes each item wait for the items of the previous phase. Only spec-kit has this rule. A phase
// with only skipped items is ignored.
func (n *numbered) phaseDependencies() {
	if n.phase == 0 {
		return
	}
	b := &n.r.dependencyGroups
	n.prerequisite = make([]int32, n.r.Len())
	var current []string
	wall, phase := int32(0), int32(0)
	for i := range n.r.entries {
		if at := n.nodes[i].section; at != phase {
			if len(current) > 0 {
				wall = b.addPrerequisite([]int32{b.addGroup(current)}, false)
				current = nil
			}
			phase = at
		}
		if e := &n.r.entries[i]; e.status != Skipped {
			current = append(current, e.id)
		}
		n.prerequisite[i] = wall
	}
}

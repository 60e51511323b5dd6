package verdict

import (
	"slices"
	"strings"

	"waybill/core"
)

// A reading is what one block of headers says.
type reading struct {
	headers headers
	notes   *notes
	result  Result
	verdict Verdict
}

// wellFormed reports whether the headers pass the matrix. They may be about something else.
func (r reading) wellFormed() bool {
	return !slices.ContainsFunc(r.notes.errors, func(p Problem) bool { return p.Fault != TaskIDMismatch })
}

// findHeaders finds the headers that count. Where nothing stands before them they count, good or bad,
// because what follows them is free text and may quote others. Further down, the last well-formed
// ones count, or the last ones if none are.
func findHeaders(n *notes) (reading, bool) {
	var chosen reading
	count := 0
	for h := range headerBlocks(n.text) {
		count++
		if count > 1 && chosen.headers.first {
			continue
		}
		if next := h.read(n.fresh()); count == 1 || next.wellFormed() || !chosen.wellFormed() {
			chosen = next
		}
	}
	if count > 1 {
		chosen.notes.warn(furtherHeaders, chosen.headers.at, "of %d blocks of headers this one counts", count)
	}
	return chosen, count > 0
}

func judgeHeaders(r reading, n *notes) Judgement {
	n.adopt(r.notes)
	return n.judgement(r.verdict, V2, r.result)
}

// read reads a block of headers by the matrix.
func (h headers) read(n *notes) reading {
	h.remark(n)
	r := Result{Role: n.asked.Role, Body: h.body(n.text)}
	r.Own = h.checkRole(n)
	if id, ok := h.value("task_id", n); ok && id.value != "" {
		r.TaskID = n.bounded("task_id", id.at, id.value, maxID, len(id.value))
		n.checkTaskID(id.value, id.at)
	}
	v := h.status(&r, n)
	h.details(&r, n)
	for _, field := range requiredHeaders(v, n.asked.Role == core.Worker) {
		if !h.filled(field, r) {
			n.fault(Missing, field, h.lineOf(field), expectedHeader(field, n.asked), h.written(field),
				field+" is required"+forWhat(field, v, n.asked.Role))
		}
	}
	return reading{h, n, r, v}
}

func forWhat(field string, v Verdict, role core.Role) string {
	if slices.Contains(passed, field) {
		return ""
	}
	return " where a " + role.String() + " says " + string(v)
}

// remark notes what had to be tolerated about the lines.
func (h headers) remark(n *notes) {
	for _, odd := range []struct {
		is     bool
		remark Remark
		text   string
	}{
		{!h.first, preamble, "text before the headers was passed over"},
		{h.first && h.blanks, leadingBlank, "blank lines before the headers"},
		{h.fenced, codeFence, "the headers are in a code fence"},
		{h.list[0].key != "role", keyOrder, "role is not the first header"},
		{h.gapped, blankBetween, "blank lines between the headers"},
		{h.abrupt, noBlankLine, "there is no blank line behind the headers"},
	} {
		if odd.is {
			n.warn(odd.remark, h.at, "%s", odd.text)
		}
	}
	for _, one := range h.list {
		one.remarkOn(n)
	}
}

func (h header) remarkOn(n *notes) {
	switch {
	case !h.known():
		n.warn(unknownKey, h.at, "the key %s is not known here", foreign(h.written))
	case h.decorated:
		n.warn(decoration, h.at, "%s is decorated", h.key)
	}
	if h.known() {
		n.remarkCase("the key "+h.key, h.at, h.written, h.key)
	}
	if len(h.items) > 0 {
		n.warn(listedItems, h.at, "%s has its items on lines of their own", h.key)
	}
}

// value gives the last header of a key. That it is there several times is remarked, or wrong if that
// leaves no way to tell what is meant.
func (h headers) value(key string, n *notes) (header, bool) {
	var last header
	found := false
	for _, one := range h.list {
		if one.key != key {
			continue
		}
		switch decides := key == "task_id" || key == "status"; {
		case found && decides && one.value != last.value:
			n.fault(Contradictory, key, one.at, "one value", show(last.value)+" and "+show(one.value), key+" is given twice and differs")
		case found:
			n.warn(duplicateKey, one.at, "%s is given twice; the last one counts", key)
		}
		last, found = one, true
	}
	return last, found
}

// checkRole notes what is wrong or odd about the role, and gives the text's own.
func (h headers) checkRole(n *notes) core.Role {
	said, ok := h.value("role", n)
	if !ok || said.value == "" {
		return 0
	}
	role, ok := roleNamed(said.value, n.asked.Role)
	if !ok {
		n.fault(NotAllowed, "role", said.at, roleNames, said.value, "role is none of the words allowed")
		return 0
	}
	n.remarkCase("role", said.at, said.value, strings.ToLower(said.value))
	if role != n.asked.Role {
		n.warn(roleDiffers, said.at, "the role is %s, but %s was asked", role, n.asked.Role)
	}
	return ownRole(said.value)
}

func (h headers) status(r *Result, n *notes) Verdict {
	said, ok := h.value("status", n)
	if !ok || said.value == "" {
		return Invalid
	}
	word, ok := Lookup(V2Status, said.value)
	if !ok {
		n.fault(NotAllowed, "status", said.at, expected(V2Status), said.value, "status is none of the words allowed here")
		return Invalid
	}
	n.remarkCase("status", said.at, said.value, word.Word)
	r.Status = word.Word
	return Verdict(word.Means)
}

// details reads the headers that are not in every result.
func (h headers) details(r *Result, n *notes) {
	if one, ok := h.value("git_range", n); ok && one.notEmpty(n) {
		r.GitRange = n.bounded("git_range", one.at, one.value, maxEntry, len(one.value))
		if !isRange(one.value) {
			n.warn(gitRangeForm, one.at, "git_range is not <base>..<head>: %s", foreign(one.value))
		}
	}
	if one, ok := h.value("issues", n); ok && one.notEmpty(n) {
		r.Issues = asIssues(one.entries(";", n))
		if r.Status == "pass" {
			n.warn(issuesOnPass, one.at, "issues, although the status is pass")
		}
	}
	if one, ok := h.value("files_changed", n); ok && one.notEmpty(n) {
		r.FilesChanged = one.entries(",", n)
	}
	if one, ok := h.value("confidence", n); ok && one.notEmpty(n) {
		r.Confidence = confidence(one, n)
	}
}

func confidence(one header, n *notes) string {
	if n.asked.Role == core.Worker {
		n.warn(notForRole, one.at, "confidence is for reviewers and was passed over")
		return ""
	}
	for _, word := range []string{"high", "medium", "low"} {
		if strings.EqualFold(one.value, word) {
			n.remarkCase("confidence", one.at, one.value, word)
			return word
		}
	}
	n.warn(confidenceForm, one.at, "confidence is not high, medium or low: %s", foreign(one.value))
	return ""
}

// filled reports whether a required field says something. A value that is not allowed is an error of
// its own.
func (h headers) filled(field string, r Result) bool {
	switch field {
	case "git_range":
		return r.GitRange != ""
	case "issues":
		return len(r.Issues) > 0
	}
	return h.written(field) != ""
}

func (h headers) written(field string) (value string) {
	for _, one := range h.list {
		if one.key == field {
			value = one.value
		}
	}
	return value
}

func (h headers) lineOf(field string) int {
	at := h.at
	for _, one := range h.list {
		if one.key == field {
			at = one.at
		}
	}
	return at
}

func expectedHeader(field string, asked Asked) string {
	switch field {
	case "role":
		return asked.Role.String()
	case "task_id":
		return asked.ids()
	case "status":
		return expected(V2Status)
	case "git_range":
		return "<base>..<head>"
	}
	return "what is missing or wrong, separated by ;"
}

// body gives the free text behind the headers, without the fence around them.
func (h headers) body(text string) string {
	body := trim(text[h.end:])
	if !h.fenced {
		return body
	}
	if l := lineAt(body, 0); l.fence() {
		return trim(body[l.next:])
	}
	if last := lastLine(body); strings.Trim(last, "`~") == "" && len(last) >= 3 {
		return trim(strings.TrimSuffix(body, last))
	}
	return body
}

package verdict

import (
	"slices"
	"strings"

	"waybill/core"
)

// judge judges a block of headers by the contract of role and status.
func (h headers) judge(n *notes) Judgement {
	h.remark(n)
	r := Result{Role: n.asked.Role, Body: h.body(n.text)}
	r.Own = h.role(n)
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
	return n.judgement(v, V2, r)
}

func forWhat(field string, v Verdict, role core.Role) string {
	if slices.Contains(passed, field) {
		return ""
	}
	return " where a " + role.String() + " says " + string(v)
}

// remark warns of tolerated lines.
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

// value returns the last header of a key. Repetition is a warning, or an error if the values of a deciding header
// differ.
func (h headers) value(key string, n *notes) (header, bool) {
	var last header
	found := false
	for _, one := range h.list {
		if one.key != key {
			continue
		}
		switch decides := key == "task_id" || key == "status" || key == "role" || key == "key"; {
		case found && decides && !strings.EqualFold(one.value, last.value):
			n.fault(Contradictory, key, one.at, "one value", show(last.value)+" and "+show(one.value), key+" is given twice and differs")
		case found:
			n.warn(duplicateKey, one.at, "%s is given twice; the last one counts", key)
		}
		last, found = one, true
	}
	return last, found
}

// role returns the role that the text names.
func (h headers) role(n *notes) core.Role {
	said, ok := h.value("role", n)
	if !ok || said.value == "" || !n.checkRole(said.value, said.at) {
		return 0
	}
	return ownRole(said.value)
}

// checkRole notes problems of the role in a text, and reports whether it names a role.
func (n *notes) checkRole(name string, at int) bool {
	role, ok := roleNamed(name, n.asked.Role)
	if !ok {
		n.fault(NotAllowed, "role", at, roleNames, name, "role is none of the words allowed")
		return false
	}
	n.remarkCase("role", at, name, strings.ToLower(name))
	n.checkAsked(role, name, at)
	return true
}

// checkAsked notes an error if a text names another role than the asked one.
func (n *notes) checkAsked(role core.Role, found string, at int) {
	if !n.asked.wants(role) {
		n.fault(RoleMismatch, "role", at, n.asked.Role.String(), found, "the result is of another role")
	}
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
	return word.Means
}

// details reads the optional headers.
func (h headers) details(r *Result, n *notes) {
	if one, ok := h.value("git_range", n); ok && one.notEmpty(n) {
		r.GitRange = n.bounded("git_range", one.at, one.value, maxEntry, len(one.value))
		n.checkRange(r.GitRange, one.value, one.at, n.asked.Role == core.Worker && r.Status == "pass")
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

// filled reports whether a required field has a value. A value that is not allowed is another error.
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

// body returns the free text after the headers, without a fence around them.
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

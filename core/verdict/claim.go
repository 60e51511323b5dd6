package verdict

import (
	"strings"

	"waybill/core"
)

// A claim holds the members of a form that decide.
type claim struct {
	verdict Verdict      // Invalid if the status cannot be read
	status  string       // as the form has it
	roles   core.RoleSet // the roles that the form may speak for
	task    string       // "" if it names none
	key     string       // "" if it names none; see only for two different ones
	blank   bool         // it is a template with blanks to fill in
}

var anyRole = core.RolesOf(core.Worker, core.SpecReviewer, core.CodeQualityReviewer)

// differs returns the member in which two claims disagree, or "" if they agree.
func (c claim) differs(d claim, a Asked) string {
	switch {
	case c.verdict != d.verdict || c.verdict == Invalid:
		return "status"
	case c.roles&d.roles == 0:
		return "role"
	case c.task != "" && d.task != "" && c.task != d.task && !(a.knows(c.task) && a.knows(d.task)):
		return "task_id"
	}
	return ""
}

// shown returns the value of a member for a message.
func (c claim) shown(field string) string {
	switch field {
	case "role":
		var names []string
		for i := range core.Roles {
			if role := core.Role(i + 1); c.roles.Has(role) {
				names = append(names, role.String())
			}
		}
		return strings.Join(names, " or ")
	case "task_id":
		return show(c.task)
	}
	return show(c.status)
}

// and merges two claims that agree.
func (c claim) and(d claim) claim {
	c.roles &= d.roles
	if c.task == "" {
		c.task = d.task
	}
	return c
}

// claim reads the deciding headers. Of two different statuses it reads neither.
func (h *headers) claim() claim {
	c := claim{roles: anyRole}
	var status, key memberValue
	for _, one := range h.list {
		switch one.key {
		case "role":
			c.roles &= rolesNamed(one.value)
		case "task_id":
			c.task = one.value
		case "key":
			key.add(keyIn(one.value))
		case "status":
			status.add(one.value)
		}
	}
	c.key = key.only()
	return c.withStatus(V2Status, status)
}

// claim reads the deciding members of a block. The member that has the status also tells the role.
func (b block) claim(asked Asked) claim {
	c := claim{roles: anyRole}
	var worker, reviewer, resultKey memberValue
	for name, value := range b.object.members() {
		switch key, _ := keyName(name.upTo(maxKey)); key {
		case "role":
			c.roles &= rolesNamed(value.short())
		case "task_id":
			c.task = value.short()
		case "key":
			resultKey.add(keyIn(value.short()))
		case "status":
			worker.add(value.short())
		case "assessment":
			reviewer.add(value.short())
		}
	}
	c.key = resultKey.only()
	if reviewer.is && (!worker.is || asked.Role != core.Worker) {
		c.roles &^= core.RolesOf(core.Worker)
		return c.withStatus(ReviewerBlock, reviewer)
	}
	if worker.is {
		c.roles &= core.RolesOf(core.Worker)
	}
	return c.withStatus(WorkerBlock, worker)
}

// memberValue is a member that may be given several times.
type memberValue struct {
	value      string
	is, differ bool
}

func (s *memberValue) add(value string) {
	s.differ = s.differ || s.is && !strings.EqualFold(s.value, value)
	s.value, s.is = value, true
}

// only returns the value, or a text that no member can have if there are different values.
func (s *memberValue) only() string {
	if s.differ {
		return s.value + " and another one"
	}
	return s.value
}

// short returns the beginning of a string, longer than any deciding value, and "" for other types.
func (v node) short() string {
	if !v.is('"') {
		return ""
	}
	return trim(v.upTo(maxID))
}

// withStatus returns the claim with the verdict of its status.
func (c claim) withStatus(in Vocabulary, status memberValue) claim {
	c.verdict, c.status = Invalid, status.value
	c.blank = strings.Contains(status.value, " or ") && unlessTemplate(status.value) == "" && !status.differ
	if word, ok := Lookup(in, status.value); ok && !status.differ {
		c.verdict = word.Means
	}
	return c
}

// rolesNamed returns the roles that a name may stand for; none if it names no role.
func rolesNamed(name string) core.RoleSet {
	if strings.EqualFold(name, "reviewer") {
		return core.RolesOf(core.SpecReviewer, core.CodeQualityReviewer)
	}
	role, ok := roleNamed(name, core.Worker)
	if !ok {
		return 0
	}
	return core.RolesOf(role)
}

// keyIn returns the key of a value, without decoration, and "" for a blank to fill in.
func keyIn(value string) string {
	return strings.ToUpper(strings.Trim(unlessTemplate(value), "[]()'\"`*. "))
}

// unlessTemplate returns the value, and "" for a blank to fill in, which is in angle brackets or braces.
func unlessTemplate(value string) string {
	if strings.HasPrefix(value, "<") && strings.HasSuffix(value, ">") || strings.HasPrefix(value, "{") && strings.HasSuffix(value, "}") {
		return ""
	}
	return value
}

package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"waybill/core/proof"
	"waybill/internal/glob"
	"waybill/internal/lazy"
	"waybill/internal/lazyregexp"
	"waybill/internal/nearest"
	"waybill/internal/safetext"
)

// A key is one key of [[check]]. The table of keys is the declaration from which reader, schema and documentation follow.
type key struct {
	name    string
	kind    kind // text, or list for a list of texts
	example string
	doc     string
	schema  map[string]any // further keywords of its JSON Schema
	set     func(r *reader, c *Check, v *value)
}

// keys returns the keys of [[check]] in the order of the documentation.
func keys() []key {
	return []key{
		{
			name: "name", kind: text, example: `name = "test"`, doc: "a unique name; required",
			schema: map[string]any{"pattern": proof.NamePattern, "not": map[string]any{"const": proof.Facts}},
			set:    (*reader).setName,
		},
		{
			name: "run", kind: text, example: `run = "make test"`, doc: "a command for `sh -c`; either this or `argv`",
			schema: map[string]any{"minLength": 1, "maxLength": MaxCommand}, set: (*reader).setRun,
		},
		{
			name: "argv", kind: list, example: `argv = ["go", "test", "./..."]`, doc: "a program and its arguments, without a shell",
			schema: map[string]any{"minItems": 1}, set: (*reader).setArgv,
		},
		{
			name: "timeout", kind: text, example: `timeout = "10m"`, doc: "the time limit, such as `90s` or `1h30m`; by default `10m`, at most `24h`",
			schema: map[string]any{"pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`, "default": "10m"}, set: (*reader).setTimeout,
		},
		{
			name: "when", kind: text, example: `when = "item"`, doc: "`item` (default): before an item is approved; `plan`: before a plan is completed",
			schema: map[string]any{"enum": []When{PerItem, PerPlan}, "default": PerItem}, set: (*reader).setWhen,
		},
		{
			name: "protect", kind: list, example: `protect = ["Makefile", "**/*_test.go"]`,
			doc:    "patterns of files; if the work changed one, a success proves nothing until a person accepts it; not with `when = \"plan\"`",
			schema: map[string]any{"items": map[string]any{"type": "string", "minLength": 1}}, set: (*reader).setProtect,
		},
	}
}

// validName matches the names of checks.
var validName = lazyregexp.New(proof.NamePattern)

// A reader turns the content of a file into checks.
type reader struct {
	checks   []Check
	mistakes []Mistake
}

func (r *reader) wrong(at place, format string, args ...any) {
	r.mistakes = append(r.mistakes, Mistake{at.line, at.column, fmt.Sprintf(format, args...)})
}

// quoted returns a text of the file for a message.
func quoted(text string) string { return strconv.Quote(safetext.Truncate(text, 60)) }

func (r *reader) root(v *value) {
	for _, m := range v.members {
		switch {
		case m.key == "check":
			r.list(m)
		case slices.ContainsFunc(keys(), func(k key) bool { return k.name == m.key }):
			r.wrong(m.place, "%s stands outside of a check: write it below a line [[check]]", m.key)
		default:
			r.wrong(m.place, "%s is not known: checks begin with a line [[check]]", quoted(m.key))
		}
	}
	if len(r.checks) > MaxChecks {
		r.wrong(place{r.checks[MaxChecks].Line, 1}, "there are %d checks, and at most %d are allowed: combine some", len(r.checks), MaxChecks)
	}
}

// list reads the checks. TOML allows them as tables with headers and as inline tables.
func (r *reader) list(m member) {
	if m.value.kind != list {
		r.wrong(m.place, "check must be a list of tables: write [[check]], with two brackets on each side")
		return
	}
	for _, v := range m.value.list {
		if v.kind != table {
			r.wrong(v.place, "check must be a list of tables: write [[check]] and the keys of the check below it")
			continue
		}
		r.check(v)
	}
}

func (r *reader) check(v *value) {
	c := Check{When: PerItem, Line: v.line}
	for _, m := range v.members {
		at := slices.IndexFunc(keys(), func(k key) bool { return k.name == m.key })
		if at < 0 {
			r.wrong(m.place, "%s is not known in [[check]]; %s", quoted(m.key), advice(m.key))
			continue
		}
		if k := keys()[at]; k.kind != m.value.kind {
			r.wrong(m.value.place, "%s must be %s, not %s: write %s", k.name, nouns.Get()[k.kind], m.value.noun(), k.mended(m.value))
		} else {
			k.set(r, &c, m.value)
		}
	}
	run, argv := v.member("run"), v.member("argv")
	switch {
	case run != nil && argv != nil:
		second := argv
		if run.line > argv.line || run.line == argv.line && run.column > argv.column {
			second = run
		}
		r.wrong(second.place, "the check has both run and argv: keep run for a line of shell, or argv for a program with arguments")
	case run == nil && argv == nil:
		r.wrong(v.place, `the check has no command: write run = "make test" or argv = ["make", "test"]`)
	}
	if v.member("name") == nil {
		r.wrong(v.place, `the check has no name: write name = "test"`)
	}
	if protect := v.member("protect"); protect != nil && c.When == PerPlan {
		r.wrong(protect.place, `protect needs a run that can wait for a person, which a plan has not: write when = "item", or remove protect`)
	}
	r.checks = append(r.checks, c)
}

// advice says which key was meant, or which there are.
func advice(name string) string {
	var known []string
	for _, k := range keys() {
		known = append(known, k.name)
	}
	if near := nearest.Names(name, known); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	if meant := synonyms.Get()[name]; meant != "" {
		return "did you mean " + meant + "?"
	}
	return "known here: " + strings.Join(known, ", ")
}

// synonyms are the keys of other tools for the same things.
var synonyms = lazy.Value[map[string]string]{Of: func() map[string]string {
	return map[string]string{"cmd": "run", "command": "run", "script": "run", "args": "argv", "id": "name", "title": "name", "limit": "timeout"}
}}

var nouns = lazy.Value[map[kind]string]{Of: func() map[kind]string {
	return map[kind]string{
		text: "a text in quotes", number: "a number", boolean: "true or false", date: "a date", list: "a list of texts", table: "a table",
	}
}}

// noun returns what a value is, for a message.
func (v *value) noun() string {
	switch v.kind {
	case text:
		return "a text"
	case list:
		return "a list"
	case number, boolean, date, table:
	}
	return nouns.Get()[v.kind]
}

// mended returns a line that may be meant by a value of the wrong kind.
func (k key) mended(v *value) string {
	switch {
	case k.kind == list && v.kind == text && k.name != "argv":
		return k.name + " = [" + quoted(v.text) + "]"
	case k.name == "argv" && v.kind == text && v.text != "":
		return "run = " + quoted(v.text)
	case k.name == "run" && v.kind == list:
		return `argv = ["go", "test", "./..."] for a program with arguments, or ` + k.example
	case k.name == "timeout" && v.kind == number:
		return k.name + " = " + quoted(v.text+"s")
	case k.kind == text && (v.kind == number || v.kind == boolean || v.kind == date):
		return k.name + " = " + quoted(v.text)
	}
	return k.example
}

func (r *reader) setName(c *Check, v *value) {
	same := slices.IndexFunc(r.checks, func(other Check) bool { return other.Name == v.text })
	switch {
	case v.text == proof.Facts:
		r.wrong(v.place, `%s is the name of the built-in check: choose another one, such as "%s-of-mine"`, quoted(v.text), proof.Facts)
	case !validName.Compiled().MatchString(v.text):
		r.wrong(v.place, "the name %s must be 1 to 128 of A-Z a-z 0-9 . _ : and -: write name = %s", quoted(v.text), quoted(cmp.Or(validAs(v.text), "test")))
	case same >= 0:
		r.wrong(v.place, "%s is already the name of the check in line %d: choose another one", quoted(v.text), r.checks[same].Line)
	}
	c.Name = v.text
}

// validAs returns a valid name that resembles a text, or "".
func validAs(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !validName.Compiled().MatchString(string(r)) })
	name := strings.Join(words, "-")
	return name[:min(len(name), 128)]
}

func (r *reader) setRun(c *Check, v *value) {
	c.Command = v.text
	if strings.TrimSpace(v.text) == "" {
		r.wrong(v.place, `run is blank: write run = "make test"`)
		return
	}
	r.command(v, v.text)
}

func (r *reader) setArgv(c *Check, v *value) {
	c.Argv = r.texts("argv", v, `argv = ["go", "test", "./..."]`)
	if len(c.Argv) > 0 && strings.TrimSpace(c.Argv[0]) == "" || len(v.list) == 0 {
		r.wrong(v.place, `argv has no program: write argv = ["go", "test", "./..."]`)
		return
	}
	r.command(v, c.CommandLine())
}

// command checks the text of a command.
func (r *reader) command(v *value, line string) {
	switch {
	case strings.Contains(line, "\x00"):
		r.wrong(v.place, "the command has the character U+0000, which no command can have: remove it")
	case len(line) > MaxCommand:
		r.wrong(v.place, "the command has %d bytes, and at most %d are allowed: put it into a script and run that", len(line), MaxCommand)
	}
}

// texts returns the texts of a list.
func (r *reader) texts(name string, v *value, example string) (all []string) {
	for _, element := range v.list {
		if element.kind != text {
			r.wrong(element.place, "%s must be a list of texts, and has %s: write %s", name, element.noun(), example)
			continue
		}
		all = append(all, element.text)
	}
	return all
}

func (r *reader) setTimeout(c *Check, v *value) {
	limit, err := time.ParseDuration(strings.TrimSpace(v.text))
	switch {
	case err != nil:
		r.wrong(v.place, `timeout %s is no duration: write a number with a unit, such as "90s", "10m" or "1h30m"`, quoted(v.text))
	case limit <= 0 || limit > maxTimeout:
		r.wrong(v.place, `timeout %s must be more than 0 and at most 24h: write timeout = "10m"`, quoted(v.text))
	}
	c.Timeout = limit
}

func (r *reader) setWhen(c *Check, v *value) {
	if c.When = When(v.text); c.When == PerItem || c.When == PerPlan {
		return
	}
	near := append(nearest.Names(v.text, []string{string(PerItem), string(PerPlan)}), string(PerItem))
	r.wrong(v.place, `when must be "item" (before an item is approved) or "plan" (before a plan is completed), not %s: write when = "%s"`, quoted(v.text), near[0])
}

func (r *reader) setProtect(c *Check, v *value) {
	c.Protect = r.texts("protect", v, `protect = ["Makefile", "**/*_test.go"]`)
	for _, element := range v.list {
		if element.kind != text {
			continue
		}
		if fault := faultOfPattern(element.text); fault != "" {
			r.wrong(element.place, "the pattern %s %s", quoted(element.text), fault)
		}
	}
}

// faultOfPattern returns what is wrong with a pattern of files, or "".
func faultOfPattern(pattern string) string {
	slash := strings.ReplaceAll(pattern, `\`, "/")
	switch {
	case strings.TrimSpace(pattern) == "":
		return `is blank: write a path such as "Makefile", or a pattern such as "**/*_test.go"`
	case strings.HasPrefix(pattern, "!"):
		return "begins with !, and patterns only add files: remove it"
	case strings.HasPrefix(slash, "/"), len(slash) > 1 && slash[1] == ':':
		return "is absolute: write it relative to the workspace"
	case strings.HasPrefix(slash, "./"):
		return "begins with ./: write " + quoted(strings.TrimPrefix(slash, "./"))
	case slices.Contains(strings.Split(slash, "/"), ".."):
		return "leaves the workspace with ..: write a pattern inside of it"
	case strings.HasSuffix(slash, "/"):
		return "names a folder: write " + quoted(slash+"**") + " for all files in it"
	case strings.ContainsAny(pattern, "{}"):
		return "has braces, which have no meaning here: write one pattern for each alternative"
	}
	if _, err := glob.Compile(pattern); err != nil {
		fault, _, _ := strings.Cut(err.Error(), " in \"")
		return "is not valid, because " + fault
	}
	return ""
}

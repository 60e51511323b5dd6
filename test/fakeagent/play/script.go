package play

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	lineForm = "ITEM ROLE TRY BEHAVIOUR [argument]"
	wildcard = "*"
)

// A rule is one line of a script.
type rule struct {
	item, role string // may be the wildcard
	try        int    // 0 means any
	behaviour  Behaviour
	argument   argument
}

// A script is a list of rules in their order.
type script []rule

// find returns the first matching rule. Without one, the agent answers well.
func (s script) find(a asked, try int) rule {
	for _, r := range s {
		if (r.item == wildcard || r.item == a.item) && (r.role == wildcard || r.role == a.role) && (r.try == 0 || r.try == try) {
			return r
		}
	}
	return rule{behaviour: behaviours[0]}
}

func readScript(path string) (script, error) {
	if path == noScript {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, mistake{fmt.Errorf("read the script: %w", err)}
	}
	return parseScript(path, string(text))
}

// parseScript reads all lines, and reports all mistakes at once.
func parseScript(name, text string) (script, error) {
	var all script
	var wrong []error
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		number++
		r, ok, err := parseLine(strings.TrimRight(line, "\r\n"))
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", name, number, err))
		} else if ok {
			all = append(all, r)
		}
	}
	if len(wrong) > 0 {
		return nil, mistake{errors.Join(wrong...)}
	}
	return all, nil
}

// parseLine reads a line; ok is false for an empty one.
func parseLine(line string) (r rule, ok bool, err error) {
	f, err := fields(line)
	switch {
	case err != nil:
		return rule{}, false, err
	case len(f) == 0:
		return rule{}, false, nil
	case len(f) < 4:
		return rule{}, false, unlike(fmt.Sprintf("%d fields", len(f)), lineForm)
	case len(f) > 5:
		return rule{}, false, unlike(fmt.Sprintf("%q behind the argument", f[5]), lineForm+`; an argument with spaces is in double quotes`)
	}
	r = rule{item: f[0], role: f[1]}
	if r.role != wildcard && !slices.Contains(roles, r.role) {
		return rule{}, false, unlike(fmt.Sprintf("the role %q", r.role), strings.Join(roles, ", ")+" or "+wildcard)
	}
	if r.try, err = parseTry(f[2]); err != nil {
		return rule{}, false, err
	}
	return r, true, r.parseBehaviour(f[3], f[4:])
}

func parseTry(s string) (int, error) {
	if s == wildcard {
		return 0, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, unlike(fmt.Sprintf("the try %q", s), "a number from 1, or "+wildcard)
	}
	return n, nil
}

func (r *rule) parseBehaviour(name string, rest []string) error {
	at := slices.IndexFunc(behaviours, func(b Behaviour) bool { return b.Name == name })
	if at < 0 {
		return unlike(fmt.Sprintf("the behaviour %q", name), strings.Join(names(), ", "))
	}
	r.behaviour = behaviours[at]
	if r.behaviour.reviewers && (r.role == worker || r.role == wildcard) {
		return unlike(fmt.Sprintf("%s for the role %q", name, r.role), specReviewer+" or "+codeQualityReviewer+": only a reviewer can do that")
	}
	kind := r.behaviour.takes
	if len(rest) == 0 {
		if kind.required {
			return unlike("no argument of "+name, kind.allowed)
		}
		r.argument = kind.usual
		return nil
	}
	var ok bool
	if kind.read != nil {
		r.argument, ok = kind.read(rest[0])
	}
	if !ok {
		return unlike(fmt.Sprintf("the argument %q of %s", rest[0], name), kind.allowed)
	}
	return nil
}

// unlike returns an error with the found and the expected form.
func unlike(found, allowed string) error { return fmt.Errorf("found %s; allowed: %s", found, allowed) }

// fields splits a line at white space. A field in double quotes has the escapes of Go. A # at the start of a field
// begins a comment.
func fields(line string) ([]string, error) {
	const blank = " \t"
	var all []string
	for rest := strings.TrimLeft(line, blank); rest != "" && rest[0] != '#'; {
		end := strings.IndexAny(rest, blank)
		if end < 0 {
			end = len(rest)
		}
		field := rest[:end]
		if rest[0] == '"' {
			quoted, err := strconv.QuotedPrefix(rest)
			if err == nil {
				field, err = strconv.Unquote(quoted)
			}
			if end = len(quoted); err != nil || end < len(rest) && !strings.ContainsRune(blank, rune(rest[end])) {
				return nil, unlike("the quotation "+rest, `text in double quotes with white space behind it, \" for a quote in it`)
			}
		}
		all = append(all, field)
		rest = strings.TrimLeft(rest[end:], blank)
	}
	return all, nil
}

package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"waybill/engine/planfile"
	"waybill/ledger"
)

// This file holds the rules by which the dialects of some plans are set. A workspace has one list of them,
// in a file beside its store, so that all its processes read a plan in the same way.

// A DialectRule sets the dialect of the plans whose paths fit a pattern.
type DialectRule struct {
	// Pattern is one of path.Match, for a path relative to the workspace; see CheckDialectRule.
	Pattern string
	// Dialect is one of ledger.Dialects.
	Dialect string
}

// ParseDialectRule reads GLOB=NAME. A name has no "=" in it, but a path may.
func ParseDialectRule(text string) (DialectRule, error) {
	at := strings.LastIndex(text, "=")
	if at < 0 {
		return DialectRule{}, fmt.Errorf("write GLOB=NAME, such as 'plans/*.md=%s'", ledger.Dialects()[0])
	}
	rule := DialectRule{Pattern: text[:at], Dialect: text[at+1:]}
	return rule, CheckDialectRule(rule)
}

// CheckDialectRule says what is wrong with a rule.
func CheckDialectRule(r DialectRule) error {
	if r.Pattern == "" {
		return errors.New("the pattern is empty: write the path of a plan, with * for what may vary")
	}
	for part := range strings.SplitSeq(r.Pattern, "/") {
		if _, err := path.Match(part, ""); err != nil {
			return fmt.Errorf("the part %q of the pattern %q is not one: %w", part, r.Pattern, err)
		}
	}
	if strings.Contains(r.Pattern, "**") {
		return fmt.Errorf(`the pattern %q has "**": write one * for each folder`, r.Pattern)
	}
	if strings.ContainsFunc(r.Pattern, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return fmt.Errorf("the pattern %q has a control character, and no path of a plan does", r.Pattern)
	}
	if !slices.Contains(ledger.Dialects(), r.Dialect) {
		return fmt.Errorf("there is no dialect %q: use one of %s", r.Dialect, strings.Join(ledger.Dialects(), ", "))
	}
	return nil
}

// ReadDialects gives the rules that a file has, a line each. No file is no rules. With an error come the rules
// of the lines that can be read.
func ReadDialects(file string) ([]DialectRule, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the rules of the dialects: %w", err)
	}
	var rules []DialectRule
	var faults error
	for line := range strings.Lines(string(text)) {
		rule, err := ParseDialectRule(strings.TrimRight(line, "\r\n"))
		if err != nil {
			faults = errors.Join(faults, fmt.Errorf("a rule in %q does not count: %w", file, err))
			continue
		}
		rules = append(rules, rule)
	}
	return rules, faults
}

// WriteDialects gives a file these rules and no others, whole or not at all; without any it is removed. Its
// folder has to be there.
func WriteDialects(file string, rules []DialectRule) error {
	if len(rules) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the rules of the dialects: %w", err)
		}
		return nil
	}
	var b strings.Builder
	for _, r := range rules {
		b.WriteString(r.Pattern + "=" + r.Dialect + "\n")
	}
	if err := replace(file, b.String()); err != nil {
		return fmt.Errorf("write the rules of the dialects: %w", err)
	}
	return nil
}

// replace gives a file a text. Who reads it meanwhile finds the old text or the new one.
func replace(file, text string) error {
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".new-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// A ruleFile is what the file of the rules said when it was looked at.
type ruleFile struct {
	stat  planfile.Stat
	rules []DialectRule
}

// Dialects gives the rules by which the dialects of some plans are set, as they are now.
func (p *Plans) Dialects() []DialectRule {
	if p.o.DialectFile == "" {
		return slices.Clone(p.o.Dialects)
	}
	stat, err := planfile.StatPath(p.o.DialectFile)
	if err != nil {
		return nil // nobody has set any; a folder that cannot be entered has no store either
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if stat != p.rules.stat {
		rules, _ := ReadDialects(p.o.DialectFile) // whoever asks for the status is told what is wrong with it
		p.rules = ruleFile{stat, rules}
	}
	return slices.Clone(p.rules.rules)
}

// Placing gives what is known about the plan at a path besides its text.
func (p *Plans) Placing(rel string) ledger.Placing {
	placing := ledger.Placing{Path: ledger.Placed(path.Join(filepath.ToSlash(p.root.Dir()), rel))}
	for _, rule := range p.Dialects() {
		if ok, _ := path.Match(path.Clean(rule.Pattern), rel); ok {
			placing.Dialect, placing.Pattern = rule.Dialect, rule.Pattern
			break
		}
	}
	return placing
}

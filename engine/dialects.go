package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"waybill/internal/atomicfile"
	"waybill/internal/ownfile"
	"waybill/plan"
	"waybill/plan/dialect"
	planfile "waybill/plan/file"
)

// A workspace keeps its dialect rules in one file next to its store, so that all processes read a plan in the same
// way.

// A DialectRule sets the dialect of the plans whose paths match a pattern.
type DialectRule struct {
	// Pattern is a path.Match pattern for a path relative to the workspace; see CheckDialectRule.
	Pattern string
	// Dialect is one of plan.Dialects.
	Dialect string
}

// ParseDialectRule reads GLOB=NAME. A name has no "=" in it, but a path may.
func ParseDialectRule(text string) (DialectRule, error) {
	at := strings.LastIndex(text, "=")
	if at < 0 {
		return DialectRule{}, fmt.Errorf("write GLOB=NAME, such as 'plans/*.md=%s'", dialect.Names()[0])
	}
	rule := DialectRule{Pattern: text[:at], Dialect: text[at+1:]}
	return rule, CheckDialectRule(rule)
}

// CheckDialectRule returns an error if a rule is not valid.
func CheckDialectRule(r DialectRule) error {
	if r.Pattern == "" {
		return errors.New("the pattern is empty: write the path of a plan, with * for what may vary")
	}
	for part := range strings.SplitSeq(r.Pattern, "/") {
		if _, err := path.Match(part, ""); err != nil {
			return fmt.Errorf("the part %q of the pattern %q is not valid: %w", part, r.Pattern, err)
		}
	}
	if strings.Contains(r.Pattern, "**") {
		return fmt.Errorf(`the pattern %q has "**": write one * for each folder`, r.Pattern)
	}
	if strings.ContainsFunc(r.Pattern, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return fmt.Errorf("the pattern %q has a control character; paths of plans have none", r.Pattern)
	}
	if !slices.Contains(dialect.Names(), r.Dialect) {
		return errors.New(dialect.Unknown(r.Dialect))
	}
	return nil
}

// maxDialectBytes bounds the size of a rule file.
const maxDialectBytes = 1 << 20

// ReadDialects returns the rules in a file, one per line, or none if the file is missing. With an error it returns
// the rules of the valid lines. It follows no link and refuses a file of another user.
func ReadDialects(file string) ([]DialectRule, error) {
	text, err := readOwn(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the dialect rules: %w", err)
	}
	var rules []DialectRule
	var faults error
	for line := range strings.Lines(string(text)) {
		rule, err := ParseDialectRule(strings.TrimRight(line, "\r\n"))
		if err != nil {
			faults = errors.Join(faults, fmt.Errorf("a rule in %q is ignored: %w", file, err))
			continue
		}
		rules = append(rules, rule)
	}
	return rules, faults
}

// readOwn reads a file that belongs to this user and has at most maxDialectBytes bytes.
func readOwn(path string) ([]byte, error) {
	f, err := ownfile.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxDialectBytes+1))
	if err == nil && len(text) > maxDialectBytes {
		err = fmt.Errorf("%s has more than %d bytes: remove it", path, maxDialectBytes)
	}
	return text, err
}

// WriteDialects replaces a rule file atomically. Without rules it removes the file. The folder must exist.
func WriteDialects(file string, rules []DialectRule) error {
	if len(rules) == 0 {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the dialect rules: %w", err)
		}
		return nil
	}
	var b strings.Builder
	for _, r := range rules {
		b.WriteString(r.Pattern + "=" + r.Dialect + "\n")
	}
	if err := atomicfile.Replace(file, []byte(b.String())); err != nil {
		return fmt.Errorf("write the dialect rules: %w", err)
	}
	return nil
}

// A ruleFile is the content of the rule file and the file state at the time of reading.
type ruleFile struct {
	stat  planfile.Stat
	rules []DialectRule
}

// Dialects returns the current dialect rules.
func (p *Plans) Dialects() []DialectRule {
	if p.o.DialectFile == "" {
		return slices.Clone(p.o.Dialects)
	}
	stat, err := planfile.StatPath(p.o.DialectFile)
	if err != nil {
		return nil // no rules are set; a folder that cannot be entered has no store either
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if stat != p.rules.stat {
		rules, _ := ReadDialects(p.o.DialectFile) // get_status reports the error
		p.rules = ruleFile{stat, rules}
	}
	return slices.Clone(p.rules.rules)
}

// Placing returns the facts about a plan that its path determines.
func (p *Plans) Placing(rel string) plan.Hints {
	placing := plan.Hints{Path: dialect.HintPath(path.Join(filepath.ToSlash(p.root.Dir()), rel))}
	for _, rule := range p.Dialects() {
		if ok, _ := path.Match(path.Clean(rule.Pattern), rel); ok {
			placing.Dialect, placing.Pattern = rule.Dialect, rule.Pattern
			break
		}
	}
	return placing
}

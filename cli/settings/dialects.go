package settings

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"waybill/cli/output"
	"waybill/engine"
)

const (
	// DialectsFile is the suffix of the file with the dialect rules of a workspace. The name of the store precedes it.
	DialectsFile = ".dialects"
	// DialectVariable has rules for the dialects of plans, with commas between them.
	DialectVariable = "WAYBILL_DIALECT"
)

// Dialects are the rules that a process was given for the dialects of plans.
type Dialects struct {
	Rules []engine.DialectRule
	Given bool // rules were given, or an empty list
	Usual bool // whether it was the configuration that gave them, which is not of this workspace alone
}

// ParseDialects parses the values of --dialect, or without the flag the environment variable.
func ParseDialects(flags []string, changed bool, variable string) (Dialects, error) {
	name := "--dialect"
	if !changed {
		if name = DialectVariable; variable != "" {
			flags = strings.Split(variable, ",")
		}
	}
	d := Dialects{Given: changed || variable != ""}
	if changed && len(flags) == 1 && flags[0] == "" {
		return d, nil
	}
	for _, flag := range flags {
		rule, err := engine.ParseDialectRule(strings.TrimSpace(flag))
		if err != nil {
			return Dialects{}, output.UsageError(fmt.Errorf("%s %q: %w", name, flag, err))
		}
		d.Rules = append(d.Rules, rule)
	}
	return d, nil
}

// Dialects returns the rules that were given, or else those of the configuration.
func (s *Settings) Dialects(given Dialects) (Dialects, error) {
	g, texts := s.Given[DialectsSetting], s.Plans.Dialects
	if given.Given || texts == nil {
		return given, nil
	}
	d := Dialects{Given: true, Usual: true}
	for _, text := range texts {
		rule, err := engine.ParseDialectRule(text)
		if err != nil {
			return Dialects{}, output.UsageError(fmt.Errorf("%s: %s %q: %w", g.place(), DialectsSetting, text, err))
		}
		d.Rules = append(d.Rules, rule)
	}
	return d, nil
}

// kept returns the rules for a store with a rule file. Rules of a configuration are dropped if that file exists,
// because serve was given its rules for the workspace.
func (d Dialects) kept(file string) Dialects {
	if _, err := os.Lstat(file); d.Usual && err == nil {
		return Dialects{}
	}
	return d
}

// Options returns how the plans of a workspace are read: by these rules, or without any by the rule file of the store.
func (d Dialects) Options(store string) engine.PlanOptions {
	if store != "" {
		d = d.kept(store + DialectsFile)
	}
	if d.Given || store == "" {
		return engine.PlanOptions{Dialects: d.Rules}
	}
	return engine.PlanOptions{DialectFile: store + DialectsFile}
}

// Troubles describes the problems of a workspace's dialect rules, one sentence each: rules that differ from those of
// this process, or a file with unreadable rules. kept reports that the rules of this process were stored for the
// workspace.
func (d Dialects) Troubles(file string, kept bool) (said []string) {
	there, err := engine.ReadDialects(file)
	if err != nil {
		said = strings.Split(err.Error(), "\n")
	}
	if !d.Given || d.Usual || slices.Equal(d.Rules, there) {
		return said
	}
	if kept {
		return append(said, fmt.Sprintf("this process was started with --dialect %s, but the workspace uses %s, which another process "+
			"has set since, or they cannot be saved; start all processes with the same --dialect", ruleTexts(d.Rules), ruleTexts(there)))
	}
	return append(said, fmt.Sprintf("this process reads plans with the rules %s, and the other processes of the workspace with %s",
		ruleTexts(d.Rules), ruleTexts(there)))
}

func ruleTexts(rules []engine.DialectRule) string {
	if len(rules) == 0 {
		return "none"
	}
	texts := make([]string, len(rules))
	for i, r := range rules {
		texts[i] = r.Pattern + "=" + r.Dialect
	}
	return strings.Join(texts, ", ")
}

package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"waybill/engine"
	"waybill/engine/workspace"
	"waybill/store/postgres"
)

const (
	// dialectsFile follows the name of the store in that of the file with the rules of its workspace.
	dialectsFile = ".dialects"
	// dialectVariable has rules for the dialects of plans, with commas between them.
	dialectVariable = "WAYBILL_DIALECT"
)

// dialects are the rules that a process was given for the dialects of plans.
type dialects struct {
	rules []engine.DialectRule
	given bool // whether it was given any, or told that there are none
	usual bool // whether it was the configuration that gave them, which is not of this workspace alone
}

// dialectsOf reads what --dialect was given, or else what the environment says.
func dialectsOf(flags []string, changed bool, variable string) (dialects, error) {
	name := "--dialect"
	if !changed {
		if name = dialectVariable; variable != "" {
			flags = strings.Split(variable, ",")
		}
	}
	d := dialects{given: changed || variable != ""}
	if changed && len(flags) == 1 && flags[0] == "" {
		return d, nil
	}
	for _, flag := range flags {
		rule, err := engine.ParseDialectRule(strings.TrimSpace(flag))
		if err != nil {
			return dialects{}, usageError{fmt.Errorf("%s %q: %w", name, flag, err)}
		}
		d.rules = append(d.rules, rule)
	}
	return d, nil
}

// configuredDialects gives the rules of a configuration.
func configuredDialects(g given, texts []string) (dialects, error) {
	d := dialects{given: true, usual: true}
	for _, text := range texts {
		rule, err := engine.ParseDialectRule(text)
		if err != nil {
			return dialects{}, usageError{fmt.Errorf("%s: %s %q: %w", g.place(), dialectsSetting, text, err)}
		}
		d.rules = append(d.rules, rule)
	}
	return d, nil
}

// kept gives the rules to go by beside a store: those of a configuration stand back behind those that serve
// was given for the workspace.
func (d dialects) kept(file string) dialects {
	if _, err := os.Lstat(file); d.usual && err == nil {
		return dialects{}
	}
	return d
}

// options says how the plans of a workspace are read: by these rules, or, if there are none, by those beside
// its store.
func (d dialects) options(store string) engine.PlanOptions {
	if store != "" {
		d = d.kept(store + dialectsFile)
	}
	if d.given || store == "" {
		return engine.PlanOptions{Dialects: d.rules}
	}
	return engine.PlanOptions{DialectFile: store + dialectsFile}
}

// troubles says what is odd about the rules of a workspace, a sentence each: that this process has others, or
// that some in the file cannot be read. kept says that those of this process were to be those of the workspace.
func (d dialects) troubles(file string, kept bool) (said []string) {
	there, err := engine.ReadDialects(file)
	if err != nil {
		said = strings.Split(err.Error(), "\n")
	}
	if !d.given || d.usual || slices.Equal(d.rules, there) {
		return said
	}
	if kept {
		return append(said, fmt.Sprintf("the dialects that this process was given (%s) are not those of the workspace (%s), which another process "+
			"has set since, or which cannot be written; give all of them the same --dialect", ruleTexts(d.rules), ruleTexts(there)))
	}
	return append(said, fmt.Sprintf("this process reads plans by rules of its own (%s), and the others of the workspace by %s",
		ruleTexts(d.rules), ruleTexts(there)))
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

// planOptions says how plans are read, and keeps the rules for their dialects if that is asked for.
func (b *backend) planOptions(path string, ws workspace.Workspace, add func(string)) engine.PlanOptions {
	o := b.dialects.options(path)
	if b.keepDialects && b.dialects.given && !b.dialects.usual {
		if err := b.keep(path, ws); err != nil {
			b.logger.Warn("the rules of the dialects were not kept for other processes", "err", err)
		} else {
			o = dialects{}.options(path)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rulesAt = path + dialectsFile
	o.Watch, o.Expect = add, add
	return o
}

// keep makes the rules of this process those of the workspace.
func (b *backend) keep(path string, ws workspace.Workspace) error {
	if b.store == "" || postgres.Names(b.store) {
		if err := ws.EnsureStateDir(); err != nil {
			return err
		}
	}
	return engine.WriteDialects(path+dialectsFile, b.dialects.rules)
}

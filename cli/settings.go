package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/engine"
	"waybill/schema"
)

// settingFlags are the flags that set something for good, by what they set. Where a command has a flag of such a name
// for something else, as prompt has for what it asks for, it is none of them: markSettings has marked those that are.
var settingFlags = map[string]string{
	"prompt.max_input_tokens.worker":   "max-input-tokens-worker",
	"prompt.max_input_tokens.reviewer": "max-input-tokens-reviewer",
	"prompt.max_output_tokens":         "max-output-tokens",
	"prompt.tokenizer":                 "tokenizer",
	"tasks.retry_delay_ms":             retryDelayFlag,
	"results.output_dir":               "output-dir",
	"plans.poll":                       "poll",
	dialectsSetting:                    "dialect",
}

const (
	retryDelayFlag   = "retry-delay" // the one that is no number but has a unit
	outputDirSetting = "results.output_dir"
	dialectsSetting  = "plans.dialects"
)

// settingMark is the annotation of the flags that set something for good.
const settingMark = "waybill_setting"

// markSettings marks those of settingFlags that a command has by now.
func markSettings(cmd *cobra.Command) {
	for _, name := range settingFlags {
		if flag := cmd.Flag(name); flag != nil {
			flag.Annotations = map[string][]string{settingMark: {}}
		}
	}
}

// settingVariable gives the environment variable of a setting: its name without the group that it is in.
func settingVariable(name string) string {
	if name == dialectsSetting {
		return dialectVariable
	}
	_, rest, _ := strings.Cut(name, ".")
	return "WAYBILL_" + strings.ToUpper(strings.ReplaceAll(rest, ".", "_"))
}

// A given is the value of a setting, and who gave it.
type given struct {
	value  []byte // JSON
	origin string // a flag, an environment variable or a file
	line   int    // of the file
}

// place says where the value is, for an error.
func (g given) place() string {
	if g.line == 0 {
		return g.origin
	}
	return fmt.Sprintf("%s:%d", g.origin, g.line)
}

// unset gives an environment without the settings that are in it.
func unset(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == configVariable || name == storeVariable || slices.ContainsFunc(schema.SettingRows(), func(row schema.SettingRow) bool {
			return name == settingVariable(row.Name)
		})
	})
}

// settings are what a process goes by where a call says nothing.
type settings struct {
	schema.Settings                 // complete
	partial         schema.Settings // of them, what was given
	file            string          // the configuration that was read, "" if none was
	given           map[string]given
}

// settingsOf finds the settings: those of the flags of cmd, else of the environment, else of the
// configuration, else what is built in.
func (a *app) settingsOf(cmd *cobra.Command) (s settings, err error) {
	if s.file, s.given, err = a.configuration(cmd); err != nil {
		return s, err
	}
	for _, row := range schema.SettingRows() {
		g, err := a.override(cmd, row)
		if err != nil {
			return s, usageError{err}
		}
		if g.origin != "" {
			s.given[row.Name] = g
		}
	}
	if err := s.complete(); err != nil {
		return s, usageError{err}
	}
	return s, nil
}

// override gives what a flag or the environment says about a setting; without an origin, neither does.
func (a *app) override(cmd *cobra.Command, row schema.SettingRow) (given, error) {
	name := settingFlags[row.Name]
	flag := cmd.Flags().Lookup(name)
	switch {
	case flag == nil || flag.Annotations[settingMark] == nil || !flag.Changed:
		variable := settingVariable(row.Name)
		text := a.env(variable)
		if text == "" {
			return given{}, nil
		}
		value, fault := row.Read(text)
		return said(variable, value, fault)
	case row.Name == dialectsSetting:
		value, err := schema.Encode(slices.DeleteFunc(slices.Clone(a.dialectFlags), func(rule string) bool { return rule == "" }))
		return given{value: value, origin: "--" + name}, err
	case name == retryDelayFlag:
		value, err := millis(flag.Value.String())
		return given{value: value, origin: "--" + name}, err
	}
	value, fault := row.Read(flag.Value.String())
	return said("--"+name, value, fault)
}

func said(origin string, value []byte, fault *schema.Error) (given, error) {
	if fault != nil {
		return given{}, fmt.Errorf("%s: %s", origin, sentence(fault))
	}
	return given{value: value, origin: origin}, nil
}

// millis reads the wait of --retry-delay.
func millis(text string) ([]byte, error) {
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 || wait > time.Minute || wait%time.Millisecond != 0 {
		return nil, fmt.Errorf("--%s %s: must be from 0 to 1m, in whole milliseconds", retryDelayFlag, text)
	}
	return strconv.AppendInt(nil, wait.Milliseconds(), 10), nil
}

// complete checks what was given as a whole and fills in what is built in.
func (s *settings) complete() error {
	values := map[string][]byte{}
	for name, g := range s.given {
		values[name] = g.value
	}
	var fault *schema.Error
	if s.partial, fault = schema.SettingsOf(values); fault == nil {
		s.Settings, fault = schema.CompleteSettings(s.partial)
	}
	if fault != nil {
		return fmt.Errorf("%s%s", s.origins(fault), sentence(fault))
	}
	return s.checkPlaces()
}

// origins says who gave the settings that an error speaks of.
func (s *settings) origins(fault *schema.Error) string {
	other, _ := fault.Data.Details["other"].(string)
	var origins []string
	for _, name := range []string{settingName(problemOf(fault).Pointer), other} {
		if g, ok := s.given[name]; ok && !slices.Contains(origins, g.place()) {
			origins = append(origins, g.place())
		}
	}
	if len(origins) == 0 {
		return ""
	}
	return strings.Join(origins, " and ") + ": "
}

// checkPlaces checks what only a look at the disk can tell.
func (s *settings) checkPlaces() error {
	dir := s.Results.OutputDir
	if dir == "" {
		return nil
	}
	from := s.given[outputDirSetting]
	if from.origin == s.file && !filepath.IsAbs(dir) {
		return fmt.Errorf("%s: %s must be an absolute path, not %q", from.place(), outputDirSetting, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s %s: must be a folder that exists", from.place(), dir)
	}
	return nil
}

// changed lists the settings that are not as they are built in.
func (s *settings) changed() []schema.Setting {
	list := []schema.Setting{}
	for _, row := range schema.SettingRows() {
		if g, ok := s.given[row.Name]; ok && !builtIn(row, string(g.value)) {
			list = append(list, schema.Setting{Name: row.Name, Value: g.value, Origin: g.origin})
		}
	}
	return list
}

// builtIn reports whether a value says no more than nothing would.
func builtIn(row schema.SettingRow, value string) bool {
	return value == row.BuiltIn || row.BuiltIn == "" && (value == `""` || value == "[]")
}

// retryDelay is the first wait before a task is tried again on the same model.
func (s *settings) retryDelay() time.Duration {
	return time.Duration(*s.Tasks.RetryDelayMS) * time.Millisecond
}

// keep says what is kept of what is over.
func (s *settings) keep() engine.Keep {
	k := engine.Keep{For: time.Duration(*s.Store.KeepDays) * 24 * time.Hour, Tasks: *s.Store.KeepTasks}
	if k.Tasks == 0 {
		k.Tasks = -1
	}
	return k
}

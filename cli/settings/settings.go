// Package settings finds the settings of a command in its flags, the environment and the configuration file.
package settings

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"waybill/cli/output"
	"waybill/engine"
	"waybill/schema"
	"waybill/schema/codec"
)

// SettingFlags maps settings to their flags. Some commands use such a flag name with another meaning, as prompt does,
// so MarkSettings marks the flags that are settings.
var SettingFlags = map[string]string{
	"prompt.max_input_tokens.worker":   "max-input-tokens-worker",
	"prompt.max_input_tokens.reviewer": "max-input-tokens-reviewer",
	"prompt.max_output_tokens":         "max-output-tokens",
	"prompt.tokenizer":                 "tokenizer",
	"tasks.retry_delay_ms":             RetryDelayFlag,
	"results.output_dir":               "output-dir",
	"plans.poll":                       "poll",
	DialectsSetting:                    "dialect",
}

const (
	RetryDelayFlag   = "retry-delay" // its value has a unit
	OutputDirSetting = "results.output_dir"
	DialectsSetting  = "plans.dialects"
)

// settingMark is the annotation of the flags that set something for good.
const settingMark = "waybill_setting"

// MarkSettings marks the flags of SettingFlags that the command has so far.
func MarkSettings(cmd *cobra.Command) {
	for _, name := range SettingFlags {
		if flag := cmd.Flag(name); flag != nil {
			flag.Annotations = map[string][]string{settingMark: {}}
		}
	}
}

// SettingVariable returns the environment variable of a setting: its name without the group that it is in.
func SettingVariable(name string) string {
	if name == DialectsSetting {
		return DialectVariable
	}
	_, rest, _ := strings.Cut(name, ".")
	return "WAYBILL_" + strings.ToUpper(strings.ReplaceAll(rest, ".", "_"))
}

// A Finder finds the settings of a command.
type Finder struct {
	Env      func(string) string
	Config   string   // --config
	Dialects []string // --dialect
}

// A Given is the value of a setting and its source.
type Given struct {
	Value  []byte // JSON
	Origin string // a flag, an environment variable or a file
	Line   int    // of the file
}

// place returns the source of the value, for an error.
func (g Given) place() string {
	if g.Line == 0 {
		return g.Origin
	}
	return fmt.Sprintf("%s:%d", g.Origin, g.Line)
}

// Settings are the defaults of a process for params that a call omits.
type Settings struct {
	schema.Settings                 // complete
	Partial         schema.Settings // only the given values
	File            string          // the configuration that was read, "" if none was
	Given           map[string]Given
	ofFile          map[string]Given // of Given, what the file says
}

// OfFile returns the settings that the configuration alone makes. They are not complete.
func (s *Settings) OfFile() Settings { return Settings{File: s.File, Given: maps.Clone(s.ofFile)} }

func said(origin string, value []byte, fault *schema.Error) (Given, error) {
	if fault != nil {
		return Given{}, fmt.Errorf("%s: %s", origin, sentence(fault))
	}
	return Given{Value: value, Origin: origin}, nil
}

// Millis reads the wait of --retry-delay.
func Millis(text string) ([]byte, error) {
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 || wait > time.Minute || wait%time.Millisecond != 0 {
		return nil, fmt.Errorf("--%s %s: must be from 0 to 1m, in whole milliseconds", RetryDelayFlag, text)
	}
	return strconv.AppendInt(nil, wait.Milliseconds(), 10), nil
}

// Complete validates the given values together and adds the built-in ones.
func (s *Settings) Complete() error {
	values := map[string][]byte{}
	for name, g := range s.Given {
		values[name] = g.Value
	}
	var fault *schema.Error
	if s.Partial, fault = codec.SettingsOf(values); fault == nil {
		s.Settings, fault = codec.CompleteSettings(s.Partial)
	}
	if fault != nil {
		return fmt.Errorf("%s%s", s.origins(fault), sentence(fault))
	}
	return s.checkPlaces()
}

// origins returns the sources of the settings that an error names.
func (s *Settings) origins(fault *schema.Error) string {
	other, _ := fault.Data.Details["other"].(string)
	var origins []string
	for _, name := range []string{settingName(problemOf(fault).Pointer), other} {
		if g, ok := s.Given[name]; ok && !slices.Contains(origins, g.place()) {
			origins = append(origins, g.place())
		}
	}
	if len(origins) == 0 {
		return ""
	}
	return strings.Join(origins, " and ") + ": "
}

// checkPlaces checks the settings that depend on files.
func (s *Settings) checkPlaces() error {
	dir := s.Results.OutputDir
	if dir == "" {
		return nil
	}
	from := s.Given[OutputDirSetting]
	if from.Origin == s.File && !filepath.IsAbs(dir) {
		return fmt.Errorf("%s: %s must be an absolute path, not %q", from.place(), OutputDirSetting, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s %s: must be a folder that exists", from.place(), dir)
	}
	return nil
}

// Changed lists the settings that are not as they are built in.
func (s *Settings) Changed() []schema.Setting {
	list := []schema.Setting{}
	for _, row := range codec.SettingRows() {
		if g, ok := s.Given[row.Name]; ok && !builtIn(row, string(g.Value)) {
			list = append(list, schema.Setting{Name: row.Name, Value: g.Value, Origin: g.Origin})
		}
	}
	return list
}

// builtIn reports whether a value equals the default.
func builtIn(row codec.SettingRow, value string) bool {
	return value == row.BuiltIn || row.BuiltIn == "" && (value == `""` || value == "[]")
}

// RetryDelay is the first wait before a task is tried again on the same model.
func (s *Settings) RetryDelay() time.Duration {
	return time.Duration(*s.Tasks.RetryDelayMS) * time.Millisecond
}

// Keep returns how long and how many finished records are kept.
func (s *Settings) Keep() engine.Retention {
	k := engine.Retention{For: time.Duration(*s.Store.KeepDays) * 24 * time.Hour, Tasks: *s.Store.KeepTasks}
	if k.Tasks == 0 {
		k.Tasks = -1
	}
	return k
}

// SettingsOf returns the settings. Flags of cmd take precedence over the environment, then the configuration, then the
// built-in values.
func (f *Finder) SettingsOf(cmd *cobra.Command) (s Settings, err error) {
	if s.File, s.Given, err = f.configuration(cmd); err != nil {
		return s, err
	}
	s.ofFile = maps.Clone(s.Given)
	for _, row := range codec.SettingRows() {
		g, err := f.override(cmd, row)
		if err != nil {
			return s, output.UsageError(err)
		}
		if g.Origin != "" {
			s.Given[row.Name] = g
		}
	}
	if err := s.Complete(); err != nil {
		return s, output.UsageError(err)
	}
	return s, nil
}

// override returns the value from a flag or the environment; its Origin is "" if neither sets it.
func (f *Finder) override(cmd *cobra.Command, row codec.SettingRow) (Given, error) {
	name := SettingFlags[row.Name]
	flag := cmd.Flags().Lookup(name)
	switch {
	case flag == nil || flag.Annotations[settingMark] == nil || !flag.Changed:
		variable := SettingVariable(row.Name)
		text := f.Env(variable)
		if text == "" {
			return Given{}, nil
		}
		value, fault := valueOf(row, text)
		return said(variable, value, fault)
	case row.Name == DialectsSetting:
		value, err := codec.Encode(slices.DeleteFunc(slices.Clone(f.Dialects), func(rule string) bool { return rule == "" }))
		return Given{Value: value, Origin: "--" + name}, err
	case name == RetryDelayFlag:
		value, err := Millis(flag.Value.String())
		return Given{Value: value, Origin: "--" + name}, err
	}
	value, fault := valueOf(row, flag.Value.String())
	return said("--"+name, value, fault)
}

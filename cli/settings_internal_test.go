package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"waybill/cli/backend"
	"waybill/cli/output"
	"waybill/cli/program"
	"waybill/cli/settings"
	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/schema"
	"waybill/schema/codec"
)

// These tests are inside because a setting has no other sign than an answer, and there are many of them. The real
// program is tested with some in test/e2e/testdata/script/settings.txtar.

// others are values, as JSON, that differ from what is built in.
var others = map[string]string{
	"prompt.max_input_tokens.worker": "9001", "prompt.max_input_tokens.reviewer": "9002", "prompt.max_output_tokens": "77",
	"prompt.tokenizer": `"o200k"`, "prompt.compaction.auto": "false", "prompt.compaction.prune": "false",
	"policy.invalid_retries": "0", "policy.reviewer_fresh_runs": "12", "policy.worker_failures": "13", "policy.review_rejections": "14",
	"policy.result_form": `"json"`, "policy.require_key": "true",
	"policy.facts": `"warn"`, "policy.check_failures": "17", "policy.require_checks": `["test","lint"]`,
	"policy.stalled_threshold": "15", "policy.review_loop_threshold": "16", "policy.reviewers": `["code-quality-reviewer"]`,
	"tasks.retry_delay_ms": "17", "results.output_dir": "", "plans.poll": "true", "plans.dialects": `["a/*.md=kiro","b.md=loose"]`,
	"store.keep_days": "18", "store.keep_tasks": "0",
}

// process is a run of the program with some environment and the flags of serve.
func process(t *testing.T, env map[string]string, args ...string) (*program.App, *cobra.Command, error) {
	t.Helper()
	return processOf(t, "serve", env, args...)
}

// processOf is process for any command.
func processOf(t *testing.T, name string, env map[string]string, args ...string) (*program.App, *cobra.Command, error) {
	t.Helper()
	in, err := os.Open(os.DevNull)
	require.NoError(t, err)
	t.Cleanup(func() { _ = in.Close() })
	a := &program.App{Printer: output.Printer{Streams: output.Streams{In: in, Out: in, Err: in}, Env: func(name string) string { return env[name] }}}
	root, _ := newRoot(a, []string{name})
	cmd, rest, err := root.Find(append([]string{name}, args...))
	require.NoError(t, err)
	if err := cmd.ParseFlags(rest); err != nil {
		return a, cmd, err
	}
	return a, cmd, a.CheckFlags(cmd)
}

// config writes a configuration in which one setting has a value.
func config(t *testing.T, name, value string) string {
	t.Helper()
	parts := strings.Split(name, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		value = fmt.Sprintf("{\n%q: %s}", parts[i], value)
	}
	return written(t, value)
}

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// plainText is a value as it is written in the environment and on the command line.
func plainText(value string) string {
	return strings.NewReplacer(`"`, "", "[", "", "]", "").Replace(value)
}

// args returns the flags that set a value.
func args(name, value string) []string {
	switch flag := "--" + settings.SettingFlags[name]; name {
	case "tasks.retry_delay_ms":
		return []string{flag, value + "ms"}
	case "plans.poll":
		return []string{flag + "=" + value}
	case settings.DialectsSetting:
		var all []string
		for rule := range strings.SplitSeq(plainText(value), ",") {
			all = append(all, flag, rule)
		}
		return all
	default:
		return []string{flag, plainText(value)}
	}
}

// Every setting can be made in each way, and the status tells which one it was.
func TestEverySettingHasItsSourcesInOrder(t *testing.T) {
	others["results.output_dir"] = fmt.Sprintf("%q", t.TempDir())
	for _, row := range codec.SettingRows() {
		value, ok := others[row.Name]
		require.True(t, ok, "%s is not tested", row.Name)
		require.NotEqual(t, row.BuiltIn, value, row.Name)
		file, variable := config(t, row.Name, value), settings.SettingVariable(row.Name)
		sources := []struct {
			origin string
			env    map[string]string
			args   []string
		}{
			{file, nil, []string{"--config", file}},
			{file, map[string]string{settings.ConfigVariable: file}, nil},
			{variable, map[string]string{settings.ConfigVariable: file, variable: plainText(value)}, nil},
		}
		if flag := settings.SettingFlags[row.Name]; flag != "" {
			both := map[string]string{settings.ConfigVariable: file, variable: plainText(value)}
			sources = append(sources, struct {
				origin string
				env    map[string]string
				args   []string
			}{"--" + flag, both, args(row.Name, value)})
		}
		for _, source := range sources {
			a, _, err := process(t, source.env, source.args...)
			require.NoError(t, err, "%s by %s", row.Name, source.origin)
			require.Equal(t, []schema.Setting{{Name: row.Name, Value: []byte(value), Origin: source.origin}}, a.Settings.Changed())
			text, err := codec.Encode(a.Settings.Settings)
			require.NoError(t, err)
			require.Contains(t, string(text), value, "%s by %s", row.Name, source.origin)
		}
	}
}

// What is weaker does not hold where something stronger says what is built in, and then nothing has changed.
func TestTheStrongerSourceMaySayWhatIsBuiltIn(t *testing.T) {
	for _, row := range codec.SettingRows() {
		if row.BuiltIn == "" {
			continue
		}
		file := config(t, row.Name, others[row.Name])
		a, _, err := process(t, map[string]string{settings.ConfigVariable: file, settings.SettingVariable(row.Name): plainText(row.BuiltIn)})
		require.NoError(t, err)
		require.Empty(t, a.Settings.Changed(), row.Name)
		if settings.SettingFlags[row.Name] == "" {
			continue
		}
		a, _, err = process(t, map[string]string{settings.ConfigVariable: file, settings.SettingVariable(row.Name): plainText(others[row.Name])}, args(row.Name, row.BuiltIn)...)
		require.NoError(t, err)
		require.Empty(t, a.Settings.Changed(), row.Name)
	}
}

// wrongs are values, as JSON, that a setting with such values cannot have.
var wrongs = map[string][]string{
	"whole number": {`"many"`, `-1`, `1.5`, `99999999999`, `1e2`, `007`},
	"one of":       {`"neither"`, `"ESTIMATE"`},
	"true or":      {`"yes"`, `1`},
	"reviewer":     {`["worker"]`, `["spec-reviewer","me"]`},
	"blank":        {`["a"]`, `["a=b"]`, `["**=kiro"]`},
	"a string":     {`"/there/is/none"`},
	"an id":        {`["make test"]`, `["a/b"]`},
}

// Every setting refuses what it must, whoever says it: with where, which, and what is allowed, on one line.
func TestEverySettingIsCheckedInEverySource(t *testing.T) {
	for _, row := range codec.SettingRows() {
		tried := 0
		for kind, values := range wrongs {
			if !strings.Contains(row.Allowed, kind) || strings.Contains(row.Allowed, "list") && kind == "one of" ||
				kind == "a string" && row.Name != settings.OutputDirSetting {
				continue
			}
			for _, value := range values {
				tried++
				refuses(t, row, value)
			}
		}
		require.NotZero(t, tried, "%s (%s)", row.Name, row.Allowed)
	}
}

func refuses(t *testing.T, row codec.SettingRow, value string) {
	t.Helper()
	file, variable := config(t, row.Name, value), settings.SettingVariable(row.Name)
	sources := map[string]func() error{
		file: func() error {
			_, _, err := process(t, nil, "--config", file)
			return err
		},
		variable: func() error {
			_, _, err := process(t, map[string]string{variable: plainText(value)})
			return err
		},
	}
	if flag := settings.SettingFlags[row.Name]; flag != "" && row.Name != "plans.poll" && row.Name != "tasks.retry_delay_ms" { // those are cobra's
		sources["--"+flag] = func() error {
			_, _, err := process(t, nil, args(row.Name, value)...)
			return err
		}
	}
	for origin, start := range sources {
		err := start()
		require.Error(t, err, "%s = %s by %s", row.Name, value, origin)
		require.Equal(t, output.ExitUsage, output.ExitCode(err))
		require.Contains(t, err.Error(), origin)
		require.NotContains(t, err.Error(), "\n")
		if value == "007" && origin == file {
			require.ErrorContains(t, err, "this is not JSON")
			continue
		}
		require.Regexp(t, regexp.QuoteMeta(row.Name)+`|must be a folder|=`, err.Error())
		require.Regexp(t, `must be|use one of|write|lists them`, err.Error())
	}
}

// What is built in is what runs and prompts have always had.
func TestTheBuiltInPolicyIsThatOfTheCore(t *testing.T) {
	a, _, err := process(t, nil)
	require.NoError(t, err)
	p, usual := a.Settings.Policy, coretest.Policy()
	require.Equal(t, usual, run.Policy{
		InvalidRetries: *p.InvalidRetries, ReviewerFreshRuns: *p.ReviewerFreshRuns, WorkerFailures: *p.WorkerFailures,
		ReviewRejections: *p.ReviewRejections, StalledThreshold: *p.StalledThreshold, ReviewLoopThreshold: *p.ReviewLoopThreshold,
		CheckFailures: *p.CheckFailures,
	})
	require.Empty(t, p.Reviewers)
}

// The help of serve names the value that is built in, and each flag is one of a setting.
func TestFlagsOfServeShowWhatIsBuiltIn(t *testing.T) {
	_, cmd, err := process(t, nil)
	require.NoError(t, err)
	for _, row := range codec.SettingRows() {
		name := settings.SettingFlags[row.Name]
		if name == "" || row.BuiltIn == "" {
			continue
		}
		shown := cmd.Flags().Lookup(name).DefValue
		if name == settings.RetryDelayFlag {
			value, err := settings.Millis(shown)
			require.NoError(t, err)
			shown = string(value)
		}
		require.Equal(t, plainText(row.BuiltIn), shown, name)
	}
	require.Len(t, settings.SettingFlags, 8)
}

// The flags of prompt ask for one prompt. That they are called like those of serve makes no settings of them, which
// would have to hold together with what is built in.
func TestFlagsOfPromptAreNoSettings(t *testing.T) {
	a, _, err := processOf(t, "prompt", map[string]string{"WAYBILL_MAX_OUTPUT_TOKENS": "900"},
		"--max-input-tokens", "20000", "--max-output-tokens", "4500", "--tokenizer", "o200k")
	require.NoError(t, err)
	require.Equal(t, 900, *a.Settings.Prompt.MaxOutputTokens)
	require.Equal(t, "estimate", a.Settings.Prompt.Tokenizer)
	_, _, err = process(t, nil, "--max-output-tokens", "4500")
	require.Error(t, err)
}

// The rules of a configuration hold where serve has kept none for the workspace.
func TestDialectsOfAConfigurationStandBack(t *testing.T) {
	a, _, err := process(t, nil, "--config", config(t, settings.DialectsSetting, `["a.md=kiro"]`))
	require.NoError(t, err)
	store := filepath.Join(t.TempDir(), backend.StoreName)
	require.Len(t, a.Dialects.Options(store).Dialects, 1)
	require.Empty(t, a.Dialects.Troubles(store+settings.DialectsFile, true), "they are no odd ones")
	require.NoError(t, os.WriteFile(store+settings.DialectsFile, []byte("b.md=loose\n"), 0o600))
	require.Equal(t, store+settings.DialectsFile, a.Dialects.Options(store).DialectFile)
	a, _, err = process(t, nil, "--config", a.Settings.File, "--dialect", "")
	require.NoError(t, err)
	require.Empty(t, a.Dialects.Rules)
	require.True(t, a.Dialects.Given)
}

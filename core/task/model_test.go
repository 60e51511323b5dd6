package task_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/task"
)

func TestModelIsNamedByWhatIsKnownOfIt(t *testing.T) {
	require.Equal(t, "unknown-model", task.Model{}.String())
	require.Equal(t, "openai", task.Model{Provider: "openai"}.String())
	require.Equal(t, "gpt-5", task.Model{ID: "gpt-5"}.String())
	require.Equal(t, "anthropic/opus-4.1", opus.String())
	require.Equal(t, "/", task.Model{Variant: "high"}.Key(), "a variant alone is not the zero model")
	require.Empty(t, task.Model{}.Key())
}

func TestChainKeepsItsModelsInOrder(t *testing.T) {
	for _, models := range [][]task.Model{
		nil, {opus, gpt, {Provider: "x\"y", ID: "ü\n", Variant: "<b>"}}, {opus, {Provider: "bedrock", ID: "opus-4.1"}},
	} {
		c := chain(t, models...)
		require.Equal(t, models, c.Models())
		require.Equal(t, len(models), c.Len())
		require.True(t, c == chain(t, models...), "equal chains compare with ==")
	}
	require.Equal(t, task.Chain{}, chain(t))
	require.False(t, chain(t, opus, gpt) == chain(t, gpt, opus))
}

func TestChainRefusesRepeatedAndNamelessModels(t *testing.T) {
	for name, c := range map[string]struct {
		models  []task.Model
		index   int
		field   string
		message string
	}{
		"no provider":             {[]task.Model{opus, {ID: "gpt-5"}}, 1, "provider_id", "models/1: provider_id is empty"},
		"blank provider":          {[]task.Model{{Provider: " \t", ID: "gpt-5"}}, 0, "provider_id", "models/0: provider_id is empty"},
		"no model":                {[]task.Model{{Provider: "openai"}}, 0, "model_id", "models/0: model_id is empty"},
		"blank model":             {[]task.Model{{Provider: "openai", ID: "\n"}}, 0, "model_id", "models/0: model_id is empty"},
		"zero model":              {[]task.Model{opus, {}}, 1, "provider_id", "models/1: provider_id is empty"},
		"the same":                {[]task.Model{opus, gpt, opus}, 2, "", "models/2: anthropic/opus-4.1 is models/0 already; name each model once"},
		"only another case":       {[]task.Model{gpt, {Provider: "OpenAI", ID: "GPT-5"}}, 1, "", "models/1: OpenAI/GPT-5 is models/0 already; name each model once"},
		"a dot for a hyphen":      {[]task.Model{{Provider: "anthropic", ID: "opus-4-1", Variant: "high"}, opus}, 1, "", "models/1: anthropic/opus-4.1 is models/0 already; name each model once"},
		"blanks around it":        {[]task.Model{gpt, {Provider: " openai ", ID: "gpt-5 "}}, 1, "", "models/1:  openai /gpt-5  is models/0 already; name each model once"},
		"only another variant":    {[]task.Model{opus, {Provider: "anthropic", ID: "opus-4.1", Variant: "low"}}, 1, "", "models/1: anthropic/opus-4.1 is models/0 already, and another variant of a model that failed is no way out; name each model once"},
		"the first mistake first": {[]task.Model{{}, opus, opus}, 0, "provider_id", "models/0: provider_id is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := task.NewChain(c.models)
			require.True(t, got == task.Chain{})
			var wrong *task.ChainError
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, c.index, wrong.Index)
			require.Equal(t, c.field, wrong.Field)
			require.EqualError(t, err, c.message)
		})
	}
}

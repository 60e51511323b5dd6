package task_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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
	models := []task.Model{opus, gpt, {Provider: "x\"y", ID: "ü\n", Variant: "<b>"}}
	c := chain(t, models...)
	require.Equal(t, models, c.Models())
	require.Equal(t, 3, c.Len())
	require.True(t, c == chain(t, models...), "equal chains compare with ==")
	require.False(t, c == chain(t, gpt, opus))
}

func TestEmptyChainNamesNothing(t *testing.T) {
	for _, models := range [][]task.Model{nil, {}} {
		c, err := task.NewChain(models)
		require.NoError(t, err)
		require.True(t, c == task.Chain{})
		require.Zero(t, c.Len())
		require.Empty(t, c.Models())
	}
}

func TestChainRefusesWhatIsNoWayOut(t *testing.T) {
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

// The same name at another provider is another way.
func TestChainTakesOneModelFromTwoProviders(t *testing.T) {
	require.Equal(t, 2, chain(t, opus, task.Model{Provider: "bedrock", ID: "opus-4.1"}).Len())
}

func TestChainsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zA-Z0-9.<"\\ü/-]{1,8}`)
		models := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) task.Model {
			return task.Model{Provider: word.Draw(t, "p"), ID: word.Draw(t, "m"), Variant: word.Draw(t, "v")}
		}), 1, 6).Draw(t, "models")
		c, err := task.NewChain(models)
		keys := map[string]bool{}
		for _, m := range models {
			keys[m.Key()] = true
		}
		if err != nil {
			require.Less(t, len(keys), len(models), "refused without a repetition: %v", err)
			return
		}
		require.Equal(t, models, c.Models())
		require.Len(t, keys, c.Len())
	})
}

package program

import (
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/schema"
)

func TestModelsAreRead(t *testing.T) {
	for text, want := range map[string]schema.Model{
		"acme/large":              {ProviderID: "acme", ModelID: "large"},
		"acme/large:high":         {ProviderID: "acme", ModelID: "large", Variant: "high"},
		"router/acme/large":       {ProviderID: "router", ModelID: "acme/large"},
		"ollama/llama3:8b:":       {ProviderID: "ollama", ModelID: "llama3:8b"},
		"ollama/llama3:8b:frugal": {ProviderID: "ollama", ModelID: "llama3:8b", Variant: "frugal"},
	} {
		got, err := ParseModel(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "large", "/large", "acme/", "acme/:high", " / "} {
		_, err := ParseModel(text)
		require.ErrorContains(t, err, "provider/model", text)
	}
}

func TestReplyLineNamesTheStoreThatWasNamed(t *testing.T) {
	require.Equal(t, "waybill task reply tsk_1 -m '…'", (&App{}).ReplyLine("tsk_1"))
	a := &App{Workspace: "/home/o'neil", Store: "x y.db"}
	require.Equal(t, `waybill task reply tsk_1 --workspace '/home/o'\''neil' --store 'x y.db' -m '…'`, a.ReplyLine("tsk_1"))
}

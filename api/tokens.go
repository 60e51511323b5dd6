package api

import "waybill/internal/o200k"

// The tokenizers, by their wire names.
const (
	// Estimate counts four characters as a token.
	Estimate = "estimate"
	// O200k counts with the vocabulary o200k_base of newer OpenAI models. Other models need about as many tokens.
	O200k = "o200k"
)

// Tokenizers returns the names of all tokenizers.
func Tokenizers() []string { return []string{Estimate, O200k} }

// counter returns the counting function of a tokenizer, nil for the estimate.
func counter(name string) func(text string) int {
	if name != O200k {
		return nil
	}
	return o200k.Count
}

package task

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Model names the model of an agent. The zero Model leaves the choice to the host.
type Model struct {
	Provider string
	ID       string
	Variant  string // such as a level of effort; may be empty
}

// String returns provider/model, or the known part.
func (m Model) String() string {
	switch {
	case m == Model{}:
		return "unknown-model"
	case m.Provider == "":
		return m.ID
	case m.ID == "":
		return m.Provider
	}
	return m.Provider + "/" + m.ID
}

// Key returns provider and model in a form for comparison. It ignores case, dots and hyphens in versions, and the variant,
// because trouble at a provider affects all variants.
func (m Model) Key() string {
	if m == (Model{}) {
		return ""
	}
	fold := func(s string) string { return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), ".", "-") }
	return fold(m.Provider) + "/" + fold(m.ID)
}

// sameProvider reports whether both models are of one provider, by the comparison of Key.
func (m Model) sameProvider(other Model) bool {
	return Model{Provider: m.Provider}.Key() == Model{Provider: other.Provider}.Key()
}

// A Chain is the models that a task may run on, in the order in which they are tried. The zero Chain
// names none. Two chains compare with ==.
type Chain struct{ text string } // a JSON array of triples, or ""

// A ChainError describes a faulty entry of a list of models.
type ChainError struct {
	Index   int // from 0
	Field   string
	Message string
}

// Error returns the index of the entry and its problem.
func (e *ChainError) Error() string { return fmt.Sprintf("models/%d: %s", e.Index, e.Message) }

// NewChain returns a chain of the models. Each entry needs a provider and a model, and must differ from earlier ones
// in more than the variant. Every problem is a *ChainError.
func NewChain(models []Model) (Chain, error) {
	if len(models) == 0 {
		return Chain{}, nil
	}
	seen := map[string]int{}
	triples := make([][3]string, len(models))
	for i, m := range models {
		if strings.TrimSpace(m.Provider) == "" {
			return Chain{}, &ChainError{i, "provider_id", "provider_id is empty"}
		}
		if strings.TrimSpace(m.ID) == "" {
			return Chain{}, &ChainError{i, "model_id", "model_id is empty"}
		}
		if first, twice := seen[m.Key()]; twice {
			return Chain{}, &ChainError{i, "", repeated(models, first, m)}
		}
		seen[m.Key()] = i
		triples[i] = [3]string{m.Provider, m.ID, m.Variant}
	}
	text, err := json.Marshal(triples)
	if err != nil {
		panic("task: strings do not encode: " + err.Error())
	}
	return Chain{string(text)}, nil
}

func repeated(models []Model, first int, m Model) string {
	if models[first].Variant == m.Variant {
		return fmt.Sprintf("%s is models/%d already; name each model once", m, first)
	}
	return fmt.Sprintf("%s is models/%d already, and another variant of a model that failed is no way out; "+
		"name each model once", m, first)
}

// Models returns the models in order.
func (c Chain) Models() []Model {
	models, err := modelsOf(c.text)
	if err != nil {
		panic("task: chain was not made by NewChain: " + err.Error())
	}
	return models
}

// String returns the chain as a text for ParseChain.
func (c Chain) String() string { return c.text }

// ParseChain returns the chain whose String is the text.
func ParseChain(text string) (Chain, error) {
	models, err := modelsOf(text)
	if err != nil {
		return Chain{}, fmt.Errorf("read a chain: %w", err)
	}
	return NewChain(models)
}

func modelsOf(text string) ([]Model, error) {
	if text == "" {
		return nil, nil
	}
	var triples [][3]string
	if err := json.Unmarshal([]byte(text), &triples); err != nil {
		return nil, err
	}
	models := make([]Model, len(triples))
	for i, t := range triples {
		models[i] = Model{t[0], t[1], t[2]}
	}
	return models, nil
}

// Len returns the number of models.
func (c Chain) Len() int { return len(c.Models()) }

// index returns the index of a model in the chain, or -1.
func (c Chain) index(m Model) int {
	for i, other := range c.Models() {
		if other.Key() == m.Key() {
			return i
		}
	}
	return -1
}

package acp_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A generator makes messages that the schema allows, with members in any order and white space anywhere.
type generator struct {
	*rand.Rand
	defs map[string]map[string]any
}

func newGenerator(t *testing.T, seed uint64) *generator {
	text, err := os.ReadFile("message/testdata/schema.json")
	require.NoError(t, err)
	var schema struct {
		Defs map[string]map[string]any `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	return &generator{rand.New(rand.NewPCG(seed, seed)), schema.Defs}
}

// messages returns the names of the definitions that one side sends: requests and notifications to the other, and the answers
// to those of the other.
func (g *generator) messages(side, other string) (names []string) {
	for name, def := range g.defs {
		if def["x-method"] == nil {
			continue
		}
		to := other
		if strings.HasSuffix(name, "Response") {
			to = side
		}
		if def["x-side"] == to || def["x-side"] == "protocol" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// line returns a message of a definition.
func (g *generator) line(name string, id int) string {
	def := g.defs[name]
	members := []string{`"jsonrpc":"2.0"`}
	switch {
	case strings.HasSuffix(name, "Response"):
		members = append(members, fmt.Sprintf(`"id":%d`, id), `"result":`+g.value(def, 0))
	case strings.HasSuffix(name, "Request"):
		members = append(members, fmt.Sprintf(`"id":%d`, id))
		fallthrough
	default:
		members = append(members, fmt.Sprintf(`"method":%q`, def["x-method"]), `"params":`+g.value(def, 0))
	}
	return g.object(members)
}

func (g *generator) space() string { return []string{"", "", "", " ", "\t"}[g.IntN(5)] }

func (g *generator) object(members []string) string {
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + g.space() + strings.Join(members, g.space()+","+g.space()) + g.space() + "}"
}

// resolved returns a definition with those that it refers to, and one of its choices.
func (g *generator) resolved(def map[string]any) map[string]any {
	all := map[string]any{}
	merge := func(more map[string]any) {
		for key, value := range g.resolved(more) {
			switch old := all[key].(type) {
			case map[string]any:
				joined := map[string]any{}
				for _, m := range []map[string]any{old, value.(map[string]any)} {
					for k, v := range m {
						joined[k] = v
					}
				}
				all[key] = joined
			case []any:
				if list, ok := value.([]any); ok && key == "required" {
					all[key] = append(slices.Clone(old), list...)
					continue
				}
				all[key] = value
			default:
				all[key] = value
			}
		}
	}
	for _, key := range []string{"properties", "required", "type", "const", "items", "enum"} {
		if value, ok := def[key]; ok {
			all[key] = value
		}
	}
	if ref, ok := def["$ref"].(string); ok {
		merge(g.defs[strings.TrimPrefix(ref, "#/$defs/")])
	}
	parts, _ := def["allOf"].([]any)
	for _, part := range parts {
		merge(part.(map[string]any))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if choices, ok := def[key].([]any); ok {
			merge(choices[g.IntN(len(choices))].(map[string]any))
		}
	}
	return all
}

func (g *generator) value(def map[string]any, depth int) string {
	def = g.resolved(def)
	if fixed, ok := def["const"]; ok {
		text, _ := json.Marshal(fixed) // it came from JSON
		return string(text)
	}
	kind, _ := def["type"].(string)
	if kinds, ok := def["type"].([]any); ok {
		kind = kinds[g.IntN(len(kinds))].(string)
	}
	if kind == "" && def["properties"] != nil {
		kind = "object"
	}
	switch kind {
	case "object":
		var members []string
		properties, _ := def["properties"].(map[string]any)
		required, _ := def["required"].([]any)
		for _, name := range slices.Sorted(keys(properties)) {
			property := properties[name].(map[string]any)
			if !slices.Contains(required, any(name)) && (depth > 4 || g.IntN(2) == 0) {
				continue
			}
			value := g.value(property, depth+1)
			if name == "protocolVersion" {
				value = "1"
			}
			members = append(members, fmt.Sprintf("%q%s:%s%s", name, g.space(), g.space(), value))
		}
		return g.object(members)
	case "array":
		items, _ := def["items"].(map[string]any)
		var elements []string
		for range g.IntN(3) * boolInt(depth < 5) {
			elements = append(elements, g.value(items, depth+1))
		}
		return "[" + g.space() + strings.Join(elements, ",") + g.space() + "]"
	case "string":
		return []string{`""`, `"a"`, `"s"`, `"/work"`, `"\u00e4\n\/ ä <&>"`, `"😀"`, `"\ud83d\ude00"`}[g.IntN(7)]
	case "integer":
		return []string{"0", "1", "65535", "-3"}[g.IntN(4)]
	case "number":
		return []string{"0", "1e2", "-0.50", "12345678901234567890"}[g.IntN(4)]
	case "boolean":
		return []string{"true", "false"}[g.IntN(2)]
	}
	return []string{"null", `{"x" : [1 , 2]}`, `"raw"`, "1.0"}[g.IntN(4)]
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func keys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// Where the policy has nothing to say, both sides get each byte of the other.
func TestMessagesOfTheSchemaPassAsTheyAre(t *testing.T) {
	converse(t, &policy{}, func(c *talk) {
		g := newGenerator(t, 20261128)
		editor, agent := g.messages("client", "agent"), g.messages("agent", "client")
		require.Greater(t, len(editor), 20)
		require.Greater(t, len(agent), 20)
		met := map[string]bool{}
		for i := range 1000 {
			name := editor[g.IntN(len(editor))]
			met[name] = true
			line := g.line(name, i%17)
			c.editor.says(line)
			c.agent.hears(line)
			name = agent[g.IntN(len(agent))]
			met[name] = true
			line = g.line(name, i%17)
			c.agent.says(line)
			c.editor.hears(line)
		}
		require.Contains(t, strings.Join(c.policy.heard(), "\n"), "stop ", "messages are read to the end")
		for _, name := range []string{"PromptRequest", "PromptResponse", "SessionNotification", "NewSessionRequest", "RequestPermissionRequest", "CancelRequestNotification"} {
			require.True(t, met[name], name)
		}
	})
}

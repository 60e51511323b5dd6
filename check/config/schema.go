package config

import (
	"encoding/json"
)

// JSONSchema returns the JSON Schema of the file for editors, in draft 7, which the TOML extensions of editors read.
func JSONSchema() []byte {
	properties := map[string]any{}
	for _, k := range keys() {
		p := map[string]any{"type": "string", "description": k.doc}
		if k.kind == list {
			p["type"], p["items"] = "array", map[string]any{"type": "string"}
		}
		for name, value := range k.schema {
			p[name] = value
		}
		properties[k.name] = p
	}
	check := map[string]any{
		"type": "object", "description": "a command that decides whether work is done", "additionalProperties": false,
		"properties": properties, "required": []string{"name"},
		"oneOf": []any{map[string]any{"required": []string{"run"}}, map[string]any{"required": []string{"argv"}}},
	}
	text, err := json.MarshalIndent(map[string]any{
		"$schema": "http://json-schema.org/draft-07/schema#", "title": Name,
		"$comment":    "Generated from check/config by `go test ./check/config -update`. Do not edit it.",
		"description": "The checks of a workspace. They run only after `waybill check trust`.",
		"type":        "object", "additionalProperties": false,
		"properties": map[string]any{"check": map[string]any{"type": "array", "maxItems": MaxChecks, "items": check}},
	}, "", "  ")
	if err != nil {
		panic(err) // texts and numbers have no encoding error
	}
	return append(text, '\n')
}

package conformance

import "strings"

// Sample gives a text with made-up values in the place of placeholders, as a reader might see it.
func Sample(text string) string {
	for _, p := range placeholders(text) {
		value := p.example()
		if p.kind == "int" {
			text = strings.ReplaceAll(text, `"`+p.text+`"`, value)
		}
		text = strings.ReplaceAll(text, p.text, value)
	}
	return text
}

// example is a value that a placeholder might stand for.
func (p placeholder) example() string {
	switch p.kind {
	case "any":
		return "…"
	case "int":
		return "7"
	case "time":
		return "2026-11-22T09:30:00Z"
	case "text":
		if p.name != "" {
			return p.name
		}
		return "…"
	case "repeat":
		_, text, _ := strings.Cut(p.name, ":")
		return text + "…"
	}
	return p.kind + "_" + p.name
}

package config

import (
	"fmt"
	"strings"
)

// Markdown returns the table of keys for the documentation.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| key | example | meaning |\n|---|---|---|\n")
	for _, k := range keys() {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", k.name, k.example, k.doc)
	}
	return b.String()
}

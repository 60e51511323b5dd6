//go:build race

package markdown_test

// slower is by how much less is read where everything takes that much longer.
const slower = 8

//go:build !race

package postgres_test

// agreements is how many sequences of changes are compared.
const agreements = "100"

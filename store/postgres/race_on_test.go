//go:build race

package postgres_test

// agreements is how many sequences of changes are compared, where the race detector makes each slow.
const agreements = "40"

//go:build !unix

package rpc_test

// roles is empty where the tests of real processes do not run.
var roles map[string]func() int

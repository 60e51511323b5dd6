package rpc_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// roleEnv makes the test binary play another process: a server, a host, or both at once.
const roleEnv = "RPC_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(roles[role]())
	}
	goleak.VerifyTestMain(m)
}

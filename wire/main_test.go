package wire_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// echoEnv makes the test binary a program that copies its stdin to its stdout.
const echoEnv = "WIRE_TEST_ECHO"

func TestMain(m *testing.M) {
	if os.Getenv(echoEnv) != "" {
		os.Exit(echo())
	}
	goleak.VerifyTestMain(m)
}

package linearizability_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"waybill/cli"
)

// asWaybill, set in the environment, makes the test binary be the program itself.
const asWaybill = "WAYBILL_LINEAR_BINARY_IS_WAYBILL"

// What a run is made of. -store names one that is empty, and by default it is a new SQLite file.
var (
	storeFlag = flag.String("store", "", "the store that the processes share; it must be empty")
	callsFlag = flag.Int("calls", 50, "how many calls each client makes")
	killsFlag = flag.Int("kills", 12, "how often a process is killed")
	seedFlag  = flag.Uint64("seed", 0, "what the run is drawn from; 0 for a new one")
)

func TestMain(m *testing.M) {
	if os.Getenv(asWaybill) != "" {
		os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, "test"))
	}
	goleak.VerifyTestMain(m)
}

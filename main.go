// Command waybill is the sidecar that makes the hand-offs between an agent host and its agents
// loud: every instruction is acknowledged or fails, every task ends or waits for a person whose reply
// continues it, and every prompt is compiled from what is true now. See README.md.
package main

import (
	"os"

	"waybill/cli"
)

// version is set by the linker.
var version = "dev"

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, version))
}

// Command waybill is a sidecar that makes the hand-offs between an agent host and its agents reliable. Every
// instruction is acknowledged or fails; every task ends or waits for a person, whose reply continues it. Every prompt
// is compiled from current facts. See README.md.
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

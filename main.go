// Command waybill is a sidecar that makes the hand-offs between an agent host and its agents reliable. Every
// instruction is acknowledged or fails; every task ends or waits for a person, whose reply continues it. Every prompt
// is compiled from current facts. See README.md.
package main

import (
	"os"
	"runtime/debug"
	"strings"

	"waybill/cli"
)

// version is set by the linker.
var version = "dev"

func main() {
	if version == "dev" {
		version = installed()
	}
	os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, version))
}

// installed returns the version that `go install MODULE@VERSION` has fetched, and "dev" for a build from a clone.
func installed() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Sum == "" {
		return "dev"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}

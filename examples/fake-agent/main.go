// Command fake-agent plays a coding agent that does what a script says, well or badly. See README.md.
package main

import (
	"os"

	"waybill/examples/fake-agent/play"
)

func main() {
	//nolint:forbidigo // this is a main: the streams of the process are handed in here
	os.Exit(play.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

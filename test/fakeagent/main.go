// Command fakeagent plays a coding agent by a script, with good or bad answers. See README.md.
package main

import (
	"os"

	"waybill/test/fakeagent/play"
)

func main() {
	os.Exit(play.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

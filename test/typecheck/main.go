// Package main checks the types of all packages and tests for other systems. It reads the dependencies from source,
// because compiling SQLite for each system takes minutes. It neither compiles nor links.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	failed := false
	for _, system := range os.Args[1:] {
		if err := check(system); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", system, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check returns the errors of one system, such as windows/amd64.
func check(system string) error {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return fmt.Errorf("write it as GOOS/GOARCH")
	}
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
	}, "./...")
	if err != nil {
		return err
	}
	if n := packages.PrintErrors(loaded); n > 0 {
		return fmt.Errorf("%d errors", n)
	}
	return nil
}

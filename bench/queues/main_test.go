package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
)

// shared is the house of all tests. TestMain sets it, nobody changes it.
var shared *house

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		if err := runChild(role, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) (code int) {
	h, err := openHouse(context.Background())
	if err == nil {
		shared = h
		code = m.Run()
		err = h.close()
	}
	if err = errors.Join(err); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// here returns the shared house if it has what the contender needs. Where WAYBILL_QUEUES_TESTS is "required" it must.
func here(t *testing.T, c contender) *house {
	t.Helper()
	if why := c.missing(shared); why != nil {
		if os.Getenv("WAYBILL_QUEUES_TESTS") == "required" {
			t.Fatalf("%s is not here: %v", c.name, why)
		}
		t.Skipf("%s is not here: %v", c.name, why)
	}
	return shared
}

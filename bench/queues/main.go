// Command queues compares waybill with other durable queues and writes the tables of docs/performance.md. All run on
// one machine in one run, each as durable as its settings allow. A slow result is no failure.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out, errs io.Writer) error {
	if role := os.Getenv(childRole); role != "" {
		return runChild(role, in, out)
	}
	flags := flag.NewFlagSet("queues", flag.ContinueOnError)
	flags.SetOutput(errs)
	render := flags.Bool("render", false, "write the tables anew from what was measured before")
	what := flags.String("only", "", "measure only one of: benchmarks, scaling")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(errs, format+"\n", args...) }
	for _, d := range documents {
		if *what != "" && *what != d.name {
			continue
		}
		if err := d.make(ctx, *render, say); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	return nil
}

// A document is a generated part of the page.
type document struct {
	name    string
	measure func(ctx context.Context, say func(format string, args ...any)) (any, error)
	read    func(text []byte) (markdown string, err error)
}

var documents = []document{
	{
		"benchmarks",
		func(ctx context.Context, say func(string, ...any)) (any, error) { return newReport(ctx, whole(), say) },
		func(text []byte) (string, error) { return markdownOf[report](text) },
	},
	{
		"scaling",
		func(ctx context.Context, say func(string, ...any)) (any, error) {
			return newScaling(ctx, wholeScale(), say)
		},
		func(text []byte) (string, error) { return markdownOf[scaling](text) },
	},
}

func markdownOf[T interface{ markdown() string }](text []byte) (string, error) {
	var r T
	err := json.Unmarshal(text, &r)
	return r.markdown(), err
}

const page = "../../docs/performance.md"

func (d document) data() string { return "testdata/" + d.name + ".json" }

// make measures, stores the measurements, and writes the part.
func (d document) make(ctx context.Context, render bool, say func(format string, args ...any)) error {
	if !render {
		r, err := d.measure(ctx, say)
		if err != nil {
			return err
		}
		text, err := json.MarshalIndent(r, "", "\t")
		if err != nil {
			return err
		}
		if err := os.WriteFile(d.data(), append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	measured, err := os.ReadFile(d.data())
	if err != nil {
		return err
	}
	now, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err := d.with(string(now), measured)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

func (d document) beginMark() string { return "<!-- generated: " + d.name + " -->\n" }

const endMark = "<!-- end -->\n"

var errNoMarks = errors.New("the page does not have the two marks, in their order")

// with returns the text of the page with a new part.
func (d document) with(text string, measured []byte) (string, error) {
	before, rest, begun := strings.Cut(text, d.beginMark())
	_, after, ended := strings.Cut(rest, endMark)
	if !begun || !ended {
		return "", errNoMarks
	}
	part, err := d.read(measured)
	return before + d.beginMark() + "\n" + part + "\n" + endMark + after, err
}

package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// dependenciesFile says what each dependency costs.
const dependenciesFile = "docs/dependencies.md"

// A cost is the share of one module in the program.
type cost struct {
	module  string // with its version
	bytes   int
	startUS int // microseconds before main
}

func writeDependencies(root string) error {
	text, err := dependencies(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, dependenciesFile), text, 0o644)
}

// dependencies returns the page. Its figures are those of the program for linux/amd64.
func dependencies(root string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "waybill-dependencies")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	whole, stripped := filepath.Join(folder, "whole"), filepath.Join(folder, "stripped")
	for path, ldflags := range map[string]string{whole: "-ldflags=", stripped: "-ldflags=-s -w"} {
		cmd := exec.Command("go", "build", "-trimpath", ldflags, "-o", path, ".")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	info, err := buildinfo.ReadFile(whole)
	if err != nil {
		return nil, err
	}
	of := owner{modules: map[string]*cost{}}
	for _, m := range info.Deps {
		of.add(m.Path, fmt.Sprintf("%s %s", m.Path, m.Version))
	}
	of.add(info.Main.Path, "waybill itself")
	of.add("", "Go "+strings.TrimPrefix(info.GoVersion, "go")+": standard library and runtime")
	if err := of.addSizes(whole); err != nil {
		return nil, err
	}
	if err := of.time(stripped); err != nil {
		return nil, err
	}
	size, err := os.Stat(stripped)
	if err != nil {
		return nil, err
	}
	return of.page(size.Size()), nil
}

// An owner finds the module of a name.
type owner struct {
	modules map[string]*cost // by path; that of Go is ""
	paths   []string         // longest first
}

func (o *owner) add(path, shown string) {
	o.modules[path] = &cost{module: shown}
	o.paths = append(o.paths, path)
	slices.SortFunc(o.paths, func(a, b string) int { return len(b) - len(a) })
}

// find returns the module that a package or a symbol belongs to.
func (o *owner) find(symbol string) *cost {
	symbol = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(symbol, "type:"), "go:itab."), "*[]") // a type that is made of another
	for _, path := range o.paths {
		if rest, ok := strings.CutPrefix(symbol, path); ok && path != "" && (rest == "" || rest[0] == '/' || rest[0] == '.') {
			return o.modules[path]
		}
	}
	return o.modules[""]
}

// addSizes adds the sizes of code and data.
func (o *owner) addSizes(program string) error {
	out, err := exec.Command("go", "tool", "nm", "-size", program).Output()
	if err != nil {
		return fmt.Errorf("go tool nm: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 4 || strings.ContainsAny(fields[2], "bB") || strings.HasPrefix(fields[3], "runtime.pclntab") {
			continue // memory that is not in the file
		}
		size, err := strconv.Atoi(fields[1])
		if err != nil || strings.HasSuffix(fields[3], "drbg.memory") { // nm lists it as data, but it is memory as well
			continue
		}
		o.find(fields[3]).bytes += size
	}
	return nil
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)

// time adds the time that packages take before main, the least of some starts.
func (o *owner) time(program string) error {
	least := map[string]float64{}
	for range 10 {
		cmd := exec.Command(program, "version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		var trace bytes.Buffer
		cmd.Stderr = &trace
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("waybill version: %w\n%s", err, trace.Bytes())
		}
		for _, m := range initLine.FindAllStringSubmatch(trace.String(), -1) {
			ms, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				return err
			}
			if before, seen := least[m[1]]; !seen || ms < before {
				least[m[1]] = ms
			}
		}
	}
	for pkg, ms := range least {
		o.find(pkg).startUS += int(ms * 1000)
	}
	return nil
}

func (o *owner) page(size int64) []byte {
	var rows []*cost
	attributed := 0
	for _, c := range o.modules {
		rows = append(rows, c)
		attributed += c.bytes
	}
	slices.SortFunc(rows, func(a, b *cost) int {
		if a.bytes != b.bytes {
			return b.bytes - a.bytes
		}
		return strings.Compare(a.module, b.module)
	})
	var out bytes.Buffer
	fmt.Fprintf(&out, `# What each dependency costs

The program for linux/amd64 has %.1f MB. This table says which module owns its code and data, and how long the packages of the module
take before `+"`main`"+` at each start. Licences are in [THIRD_PARTY_LICENSES](../%s).

| module | KB | start, µs |
|---|---:|---:|
`, float64(size)/1e6, licencesFile)
	for _, c := range rows {
		fmt.Fprintf(&out, "| %s | %d | %d |\n", c.module, c.bytes/1000, c.startUS)
	}
	fmt.Fprintf(&out, `| texts, and tables for stack traces and the garbage collector | %d | |

The last row has no owner: the linker joins these parts for all modules. `+"`make dependencies`"+` measures the table again; a test compares its
modules and versions with the program.
`, (int(size)-attributed)/1000)
	return out.Bytes()
}

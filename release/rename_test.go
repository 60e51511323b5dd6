package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Imports, texts that name a package, and commands that name the module change; the name of the program stays.
func TestOnlyThePathOfTheModuleIsRenamed(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module waybill\n\ngo 1.26\n\nrequire example.org/waybill v1.0.0\n")
	write("bench/go.mod", "module waybill/bench\n\nrequire waybill v0.0.0\n\nreplace waybill => ../\n")
	write("core/core.go", "package core\n\nimport (\n\t\"os/exec\"\n\n\tother \"waybill/plan\"\n)\n\nvar _ = other.X\n\n"+
		"const name, pkg, file = \"waybill\", \"waybill/plan\", \"waybill/plugin.json\"\n\nvar _ = exec.Command(\"go\", \"build\", \"waybill\")\n")
	write("plan/plan.go", "package plan\n\nvar X int\n")
	if err := rename(root, "example.com/you/waybill"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"go.mod":       "module example.com/you/waybill\n\ngo 1.26\n\nrequire example.org/waybill v1.0.0\n",
		"bench/go.mod": "module example.com/you/waybill/bench\n\nrequire example.com/you/waybill v0.0.0\n\nreplace example.com/you/waybill => ../\n",
		"core/core.go": "package core\n\nimport (\n\t\"os/exec\"\n\n\tother \"example.com/you/waybill/plan\"\n)\n\nvar _ = other.X\n\n" +
			"const name, pkg, file = \"waybill\", \"example.com/you/waybill/plan\", \"waybill/plugin.json\"\n\nvar _ = exec.Command(\"go\", \"build\", \"example.com/you/waybill\")\n",
	} {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is\n%s\nnot\n%s", path, got, want)
		}
	}
	if err := rename(root, "waybill"); err == nil {
		t.Error("a path without a server was taken")
	}
}

// With its new path the whole repository still fits together, as go install needs it.
func TestRenamedModuleBuildsAndKeepsItsFloors(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	root = copyOfSource(t, root)
	if err := rename(root, "example.com/you/waybill"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"install", "./"},
		{"test", "-run", "Imports|Libraries|Servers|Pure", "."},
		{"list", "-C", "bench", "-deps", "-test", "./..."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOBIN="+filepath.Join(root, "bin"), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	if out := runs(t, nil, filepath.Join(root, "bin", "waybill"), "version"); !strings.HasPrefix(out, "waybill ") {
		t.Errorf("the installed program says %q", out)
	}
}

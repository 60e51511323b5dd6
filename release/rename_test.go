package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

// With its new path the whole repository still fits together.
func TestRenamedModuleKeepsItsFloors(t *testing.T) {
	root := renamedSourceTree(t)
	goIn(t, root, nil, "test", "-run", "Imports|Libraries|Servers|Pure", "arch_test.go")
	goIn(t, root, nil, "list", "-C", "bench", "-deps", "-test", "./...")
}

// A proxy of modules in a folder has the renamed module, as a server would after its publication.
func TestRenamedModuleIsInstalledByGoInstall(t *testing.T) {
	root, proxy := renamedSourceTree(t), t.TempDir()
	const module, version = "example.com/you/waybill", "v0.1.0"
	var content []file
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, _ := filepath.Rel(root, path)
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); below != "." && err == nil || entry.Name() == "vendor" {
				return filepath.SkipDir // modules of their own, and what Go leaves out
			}
			return nil
		}
		data, err := os.ReadFile(path)
		content = append(content, file{module + "@" + version + "/" + filepath.ToSlash(below), 0o644, data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := zipped(time.Unix(0, 0), content)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(proxy, module, "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, data := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".mod": mod, version + ".zip": packed, version + ".info": []byte(`{"Version":"` + version + `"}`),
	} {
		if err := os.WriteFile(filepath.Join(folder, file), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cache := strings.TrimSpace(goIn(t, root, nil, "env", "GOMODCACHE"))
	bin := t.TempDir()
	goIn(t, t.TempDir(), []string{
		"GOBIN=" + bin, "GOMODCACHE=" + t.TempDir(), "GOFLAGS=-trimpath -modcacherw", "GOSUMDB=off",
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(cache, "cache", "download"),
	}, "install", module+"@"+version)
	if out := runs(t, nil, filepath.Join(bin, "waybill"), "version"); !strings.HasPrefix(out, "waybill 0.1.0 ") {
		t.Errorf("the installed program says %q", out)
	}
}

// renamedSourceTree returns a copy of the source whose module has another path.
func renamedSourceTree(t *testing.T) string {
	t.Helper()
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	root = copyOfSource(t, root)
	if err := rename(root, "example.com/you/waybill"); err != nil {
		t.Fatal(err)
	}
	return root
}

// goIn runs the go command in a folder, and returns its output.
func goIn(t *testing.T, folder string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = folder
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

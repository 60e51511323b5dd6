// Command release makes the files of a release, from the same source always the same bytes:
//
//	release [-out FOLDER] [-platforms LIST] [-download ADDRESS] [-homepage ADDRESS]
//	release licences                                               the licences of all that is built in
//	release dependencies                                           what each dependency costs
//	release rename MODULE                                          another path of the module
//
// It uploads nothing. docs/releasing.md says how a maintainer publishes the files.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	root, err := findRoot()
	if err != nil {
		return err
	}
	command := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		command, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	out := flags.String("out", filepath.Join(root, "dist"), "folder for the files; an earlier release in it is replaced")
	platforms := flags.String("platforms", strings.Join(allPlatforms, ","), "systems to build for")
	download := flags.String("download", unowned, "address of the folder from which users download the files")
	homepage := flags.String("homepage", unownedPage, "address of the project")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case command == "" && flags.NArg() == 0:
		if err := unchanged(root); err != nil {
			return err
		}
		r, err := newRelease(root, *download, *homepage)
		if err != nil {
			return err
		}
		return r.write(*out, strings.Split(*platforms, ","))
	case command == "licences" && flags.NArg() == 0:
		return writeLicences(root)
	case command == "dependencies" && flags.NArg() == 0:
		return writeDependencies(root)
	case command == "rename" && flags.NArg() == 1:
		return rename(root, flags.Arg(0))
	}
	return fmt.Errorf("usage: release [FLAG…] | release licences | release dependencies | release rename MODULE")
}

// findRoot returns the folder of the product, which is above the folder of this module.
func findRoot() (string, error) {
	at, err := os.Getwd()
	for ; err == nil; at = filepath.Dir(at) {
		if _, missing := os.Stat(filepath.Join(at, "server.json")); missing == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("run it in a clone of the repository")
		}
	}
	return "", err
}

// write makes the files for some platforms, and then replaces an earlier release in the folder out with them.
func (r *release) write(out string, platforms []string) error {
	for _, p := range platforms {
		if !slices.Contains(allPlatforms, p) {
			return fmt.Errorf("platform %q is not one of %s", p, strings.Join(allPlatforms, ", "))
		}
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := replaceable(out); err != nil {
		return err
	}
	if err := r.build(platforms); err != nil {
		return err
	}
	files, err := r.files()
	if err != nil {
		return err
	}
	return replace(out, append(files, r.checksums(files)))
}

// replaceable returns an error if a folder has a file that the checksums of an earlier release do not list.
func replaceable(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	list, err := os.ReadFile(filepath.Join(folder, "checksums.txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() != "checksums.txt" && !strings.Contains(string(list), "  "+e.Name()+"\n") {
			return fmt.Errorf("%s has %s, which is of no release; name an empty folder", folder, e.Name())
		}
	}
	return nil
}

// replace puts a folder with the files in the place of another one.
func replace(folder string, files []file) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	next, err := os.MkdirTemp(filepath.Dir(folder), ".waybill-release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(next) }() // of a failure
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(next, f.name), f.data, f.mode); err != nil {
			return err
		}
		fmt.Printf("%11d  %s\n", len(f.data), f.name)
	}
	if err := os.Chmod(next, 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.Rename(next, folder)
}

// files returns all files of the release but the checksums.
func (r *release) files() (files []file, err error) {
	add := func(f file, problem error) {
		files = append(files, f)
		if problem != nil && err == nil {
			err = fmt.Errorf("%s: %w", f.name, problem)
		}
	}
	for _, b := range r.binaries {
		add(r.archive(b))
		add(r.sbom(b))
		add(r.npmPlatform(b))
		add(r.wheel(b))
		add(r.bundle(b))
		if b.os == "linux" {
			add(r.deb(b))
			add(r.rpm(b))
			add(r.image(b))
		}
	}
	add(r.npmLauncher())
	script, problem := r.installScript(files)
	add(script, problem)
	add(r.formula(files), nil)
	add(r.serverJSON(files))
	return files, err
}

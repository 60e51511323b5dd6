package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licencesFile has the licences of all that is built into the program, below the root.
const licencesFile = "release/THIRD_PARTY_LICENSES"

func writeLicences(root string) error {
	text, err := licences(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, licencesFile), text, 0o644)
}

// licenceName fits the files in which authors state licences.
var licenceName = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)([.-].*)?$`)

// licences returns the licences of Go, of the modules that some platform builds in, and of the scripts of the page.
func licences(root string) ([]byte, error) {
	folders := map[string]string{} // by what is licensed
	for _, platform := range allPlatforms {
		goos, arch := splitPlatform(platform)
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", ".")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", platform, err)
		}
		for line := range strings.Lines(string(out)) {
			if of, folder, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				folders[of] = folder
			}
		}
	}
	vendored, err := filepath.Glob(filepath.Join(root, "web/page/vendor/*"))
	if err != nil {
		return nil, err
	}
	scoped, err := filepath.Glob(filepath.Join(root, "web/page/vendor/@*/*"))
	if err != nil {
		return nil, err
	}
	for _, folder := range append(vendored, scoped...) {
		if _, err := os.Stat(filepath.Join(folder, "package.json")); err == nil {
			of, _ := filepath.Rel(filepath.Join(root, "web/page/vendor"), folder)
			folders[filepath.ToSlash(of)+" (in the page)"] = folder
		}
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	folders["o200k_base, the vocabulary of the tokenizer"] = filepath.Join(root, "internal/o200k")
	folders["Go (standard library and runtime)"] = strings.TrimSpace(string(goroot))
	return licenceTexts(folders)
}

// licenceTexts writes each text once, below all that it applies to.
func licenceTexts(folders map[string]string) ([]byte, error) {
	users := map[string][]string{} // by text
	for of, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		found := false
		for _, e := range entries {
			if !e.IsDir() && licenceName.MatchString(e.Name()) {
				raw, err := os.ReadFile(filepath.Join(folder, e.Name()))
				if err != nil {
					return nil, err
				}
				text := strings.TrimSpace(strings.ReplaceAll(string(raw), "\r\n", "\n"))
				users[text] = append(users[text], of)
				found = true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s has no licence in %s", of, folder)
		}
	}
	var sections []string
	for text, of := range users {
		slices.Sort(of)
		sections = append(sections, strings.Join(of, "\n")+"\n\n"+text+"\n")
	}
	slices.Sort(sections)
	var out bytes.Buffer
	out.WriteString("The program waybill contains the work of others. Their licences follow, each below the modules that it applies to.\n")
	for _, s := range sections {
		out.WriteString("\n" + strings.Repeat("=", 80) + "\n" + s)
	}
	return out.Bytes(), nil
}

func splitPlatform(platform string) (goos, arch string) {
	goos, arch, _ = strings.Cut(platform, "/")
	return goos, arch
}

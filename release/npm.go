package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// launcher starts the program of the platform package that npm has installed beside it.
//
//go:embed launcher.js
var launcher []byte

// nodeNames are the names that Node has for systems and processors.
var nodeNames = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32", "amd64": "x64", "arm64": "arm64"}

func npmName(goos, arch string) string {
	return fmt.Sprintf("%s-%s-%s", name, nodeNames[goos], nodeNames[arch])
}

// npmPlatform returns the package with the program for one platform. npm installs it only there.
func (r *release) npmPlatform(b binary) (file, error) {
	manifest := r.npmManifest(npmName(b.os, b.arch))
	manifest["os"] = []string{nodeNames[b.os]}
	manifest["cpu"] = []string{nodeNames[b.arch]}
	manifest["files"] = []string{"bin"}
	return r.npmPackage(manifest, file{"bin/" + b.program(), 0o755, b.data})
}

// npmLauncher returns the package that a person installs. Each platform package is an optional dependency of it.
func (r *release) npmLauncher() (file, error) {
	optional := map[string]string{}
	for _, platform := range allPlatforms {
		var goos, arch string
		goos, arch = splitPlatform(platform)
		optional[npmName(goos, arch)] = r.version
	}
	manifest := r.npmManifest(name)
	manifest["bin"] = map[string]string{name: "bin/waybill.js"}
	manifest["files"] = []string{"bin"}
	manifest["optionalDependencies"] = optional
	manifest["mcpName"] = r.server // a registry of MCP servers compares it with its own name
	return r.npmPackage(manifest, file{"bin/waybill.js", 0o755, launcher})
}

func (r *release) npmManifest(of string) map[string]any {
	return map[string]any{
		"name": of, "version": r.version, "description": r.description, "license": license,
		"engines": map[string]string{"node": ">=18"}, "preferUnplugged": true, // the program must be a real file
	}
}

func (r *release) npmPackage(manifest map[string]any, program file) (file, error) {
	text, err := json.MarshalIndent(manifest, "", "  ") // sorts the names
	if err != nil {
		return file{}, err
	}
	entries := []file{{"package/package.json", 0o644, append(text, '\n')}, {"package/" + program.name, program.mode, program.data}}
	for _, from := range []string{"LICENSE", licencesFile} {
		text, err := os.ReadFile(filepath.Join(r.root, from))
		if err != nil {
			return file{}, err
		}
		entries = append(entries, file{"package/" + filepath.Base(from), 0o644, text})
	}
	readme := fmt.Sprintf("# %s\n\n%s\n\nThis package has the program of %s %s. `npx waybill --help` lists its commands.\n", manifest["name"], r.description, name, r.version)
	entries = append(entries, file{"package/README.md", 0o644, []byte(readme)})
	data, err := tarred(r.date, entries)
	return file{fmt.Sprintf("%s-%s.tgz", manifest["name"], r.version), 0o644, data}, err
}

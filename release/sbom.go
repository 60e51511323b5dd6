package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"
)

// sbom returns the list of modules in one binary, as CycloneDX. The list is that which the Go linker wrote into the binary.
func (r *release) sbom(b binary) (file, error) {
	component := func(kind, path, version string) map[string]string {
		purl := "pkg:golang/" + strings.ReplaceAll(url.PathEscape(path), "%2F", "/") + "@" + url.PathEscape(version)
		return map[string]string{"type": kind, "bom-ref": purl, "name": path, "version": version, "purl": purl}
	}
	product := component("application", b.info.Main.Path, "v"+r.version)
	components := []map[string]string{component("library", "std", strings.TrimPrefix(b.info.GoVersion, "go"))}
	for _, m := range b.info.Deps {
		components = append(components, component("library", replaced(m).Path, replaced(m).Version))
	}
	depends := make([]string, 0, len(components))
	for _, c := range components {
		depends = append(depends, c["bom-ref"])
	}
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     map[string]any{"timestamp": r.date.Format("2006-01-02T15:04:05Z"), "component": product},
		"components":   components,
		"dependencies": []map[string]any{{"ref": product["bom-ref"], "dependsOn": depends}},
	}, "", "  ")
	return file{fmt.Sprintf("%s_%s_%s_%s.cdx.json", name, r.version, b.os, b.arch), 0o644, append(text, '\n')}, err
}

// replaced returns the module that is really built in.
func replaced(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// bundle returns the MCP bundle for one platform, which desktop hosts install with a click.
func (r *release) bundle(b binary) (file, error) {
	manifest := map[string]any{
		"manifest_version": "0.3", "name": name, "version": r.version, "description": r.description, "license": license,
		"author": map[string]string{"name": authors},
		"server": map[string]any{
			"type": "binary", "entry_point": "server/" + b.program(),
			"mcp_config": map[string]any{"command": "${__dirname}/server/" + b.program(), "args": []string{"mcp", "--workspace", "${user_config.workspace}"}, "env": map[string]string{}},
		},
		"user_config": map[string]any{"workspace": map[string]any{
			"type": "directory", "title": "Workspace", "description": "The folder in which the agents work", "required": true,
		}},
		"compatibility": map[string]any{"platforms": []string{nodeNames[b.os]}},
	}
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return file{}, err
	}
	entries := []file{{"manifest.json", 0o644, append(text, '\n')}, {"server/" + b.program(), 0o755, b.data}}
	for _, d := range r.docs {
		if d.name == "LICENSE" || d.name == filepath.Base(licencesFile) {
			entries = append(entries, d)
		}
	}
	data, err := zipped(r.date, entries)
	return file{fmt.Sprintf("%s_%s_%s_%s.mcpb", name, r.version, b.os, b.arch), 0o644, data}, err
}

// serverJSON returns the entry for registries of MCP servers: server.json of the repository, and the packages.
func (r *release) serverJSON(files []file) (file, error) {
	f := file{name: "server.json", mode: 0o644}
	raw, err := os.ReadFile(filepath.Join(r.root, "server.json"))
	if err != nil {
		return f, err
	}
	var entry map[string]any
	if err := json.Unmarshal(raw, &entry); err != nil {
		return f, err
	}
	stdio := map[string]string{"type": "stdio"}
	arguments := []map[string]string{{"type": "positional", "value": "mcp"}}
	packages := []map[string]any{
		{"registryType": "npm", "identifier": name, "version": r.version, "runtimeHint": "npx", "transport": stdio, "packageArguments": arguments},
		{"registryType": "pypi", "identifier": name, "version": r.version, "runtimeHint": "uvx", "transport": stdio, "packageArguments": arguments},
	}
	for _, bundle := range files {
		if strings.HasSuffix(bundle.name, ".mcpb") {
			packages = append(packages, map[string]any{"registryType": "mcpb", "identifier": r.download + "/" + bundle.name, "fileSha256": bundle.sum(), "transport": stdio})
		}
	}
	entry["packages"] = packages
	text, err := json.MarshalIndent(entry, "", "  ")
	f.data = append(text, '\n')
	return f, err
}

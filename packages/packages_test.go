package packages_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/packages"
	"waybill/test/golden"
)

// Edit files_test.go or skill.md, and write the folders with -update.
func TestPackagesAreCurrent(t *testing.T) {
	files, err := files()
	require.NoError(t, err)
	for path, text := range files {
		if golden.Update() {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, strings.ReplaceAll(string(raw), "\r\n", "\n"), "%s: run the test with -update", path)
	}
	for _, folder := range []string{"waybill", "gemini", ".claude-plugin"} {
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				require.Contains(t, files, filepath.ToSlash(path), "a file that no source has")
			}
			return err
		}))
	}
}

// The model trusts the skill: a tool that it names must exist. docs/mcp.md has the table of tools, by a test of package mcp.
func TestSkillNamesOnlyToolsThatExist(t *testing.T) {
	document, err := os.ReadFile("../docs/mcp.md")
	require.NoError(t, err)
	var tools, named []string
	for _, row := range regexp.MustCompile("(?m)^\\| \\[`([a-z_]+)`\\]").FindAllStringSubmatch(string(document), -1) {
		tools = append(tools, row[1])
	}
	require.NotEmpty(t, tools)
	for _, word := range regexp.MustCompile("`([a-z]+_[a-z_]+)`").FindAllStringSubmatch(packages.Skill, -1) {
		named = append(named, word[1])
	}
	require.NotEmpty(t, named)
	words := map[string]bool{"lease_token": true, "next_action": true, "awaiting_response": true, "idempotency_key": true, "instruction_id": true}
	for _, name := range named {
		if !words[name] && !strings.HasPrefix(name, "mcp_") {
			require.Contains(t, tools, name)
		}
	}
	require.Less(t, len(packages.Skill), 4000, "every session of an agent may read it")
}

// The published schema of Agent Plugins 1.0 cannot be copied here. These are its rules for the parts that the plugin has.
func TestAgentPluginFollowsItsSpecification(t *testing.T) {
	files, err := files()
	require.NoError(t, err)
	var manifest map[string]any
	require.NoError(t, json.Unmarshal([]byte(files["waybill/plugin.json"]), &manifest))
	allowed := []string{"$schema", "name", "version", "description", "author", "homepage", "repository", "license", "keywords", "extensions"}
	for name := range manifest {
		require.Contains(t, allowed, name)
	}
	require.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, manifest["name"])
	require.Regexp(t, `^https://agent-plugins\.org/schemas/1\.0\.0/`, manifest["$schema"])
	var servers struct {
		Servers map[string]struct {
			Type    string   `json:"type"`
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	require.NoError(t, json.Unmarshal([]byte(files["waybill/mcp.json"]), &servers))
	require.Equal(t, "stdio", servers.Servers["waybill"].Type)
	require.Equal(t, "waybill", servers.Servers["waybill"].Command)
	skill := files["waybill/skills/waybill/SKILL.md"]
	head := regexp.MustCompile(`(?s)^---\nname: waybill\ndescription: ([^\n]+)\n.*\n---\n`).FindStringSubmatch(skill)
	require.NotNil(t, head, "the name is that of the folder")
	require.LessOrEqual(t, len(head[1]), 1024)
}

// Manifests elsewhere have the same version and description.
func TestOtherManifestsSayTheSame(t *testing.T) {
	for _, path := range []string{"../server.json", "../clients/typescript/package.json", "../examples/opencode/package.json", "../examples/vscode/package.json"} {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var manifest struct{ Version, Description string }
		require.NoError(t, json.Unmarshal(raw, &manifest), path)
		require.Equal(t, Version, manifest.Version, path)
		if strings.HasSuffix(path, "server.json") {
			require.Equal(t, Description, manifest.Description, path)
		}
	}
}

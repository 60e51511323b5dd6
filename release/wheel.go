package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// wheelTags are the tags of the platforms. The program for Linux is static, so it runs with each C library. Go needs
// macOS 12.
var wheelTags = map[string]string{
	"linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
	"darwin/amd64": "macosx_12_0_x86_64", "darwin/arm64": "macosx_12_0_arm64",
	"windows/amd64": "win_amd64", "windows/arm64": "win_arm64",
}

// wheel returns the Python package for one platform, for uvx, pipx and pip. It has the program as a script and no module.
func (r *release) wheel(b binary) (file, error) {
	tags := wheelTags[b.os+"/"+b.arch]
	about := fmt.Sprintf("%s-%s.dist-info/", name, r.version)
	var wheel strings.Builder
	wheel.WriteString("Wheel-Version: 1.0\nGenerator: waybill release\nRoot-Is-Purelib: false\n")
	for tag := range strings.SplitSeq(tags, ".") {
		fmt.Fprintf(&wheel, "Tag: py3-none-%s\n", tag)
	}
	// A registry of MCP servers looks for the line with mcp-name.
	metadata := fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: %s\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n%s\n\n<!-- mcp-name: %s -->\n",
		name, r.version, r.description, license, r.description, r.server)
	entries := []file{
		{fmt.Sprintf("%s-%s.data/scripts/%s", name, r.version, b.program()), 0o755, b.data},
		{about + "METADATA", 0o644, []byte(metadata)},
		{about + "WHEEL", 0o644, []byte(wheel.String())},
	}
	for _, from := range []string{"LICENSE", licencesFile} {
		text, err := os.ReadFile(filepath.Join(r.root, from))
		if err != nil {
			return file{}, err
		}
		entries = append(entries, file{about + "licenses/" + filepath.Base(from), 0o644, text})
	}
	var record strings.Builder
	for _, e := range entries {
		sum := sha256.Sum256(e.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.data))
	}
	record.WriteString(about + "RECORD,,\n")
	entries = append(entries, file{about + "RECORD", 0o644, []byte(record.String())})
	data, err := zipped(r.date, entries)
	return file{fmt.Sprintf("%s-%s-py3-none-%s.whl", name, r.version, tags), 0o644, data}, err
}

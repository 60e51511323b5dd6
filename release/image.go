package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// image returns a container image with nothing but the program, as a file for `docker load` and `podman load`.
//
// State is in /state, the workspace in /workspace; both are volumes of the person who runs it.
func (r *release) image(b binary) (file, error) {
	var layer bytes.Buffer
	contents := []file{
		{"state/", os.ModeDir | 0o700, nil},
		{"tmp/", os.ModeDir | 0o777, nil},
		{"workspace/", os.ModeDir | 0o755, nil},
		{"usr/bin/waybill", 0o755, b.data},
	}
	for _, d := range r.docs {
		if d.name == "LICENSE" || d.name == filepath.Base(licencesFile) {
			contents = append(contents, file{"usr/share/doc/waybill/" + d.name, d.mode, d.data})
		}
	}
	if err := writeTar(tar.NewWriter(&layer), r.date, contents); err != nil {
		return file{}, err
	}
	unpacked := file{data: layer.Bytes()}
	config, err := json.Marshal(map[string]any{
		"architecture": b.arch, "os": b.os, "created": r.date,
		"config": map[string]any{
			"Entrypoint": []string{"/usr/bin/waybill"}, "WorkingDir": "/workspace",
			"Env":    []string{"PATH=/usr/bin", "XDG_STATE_HOME=/state", "HOME=/state"},
			"Labels": map[string]string{"org.opencontainers.image.version": r.version, "org.opencontainers.image.licenses": license, "org.opencontainers.image.description": r.description},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + unpacked.sum()}},
		"history": []map[string]any{{"created": r.date, "created_by": "waybill release"}},
	})
	if err != nil {
		return file{}, err
	}
	configFile := file{data: config}.sum() + ".json"
	manifest, err := json.Marshal([]map[string]any{{"Config": configFile, "RepoTags": []string{name + ":" + r.version}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return file{}, err
	}
	data, err := tarred(r.date, []file{{configFile, 0o644, config}, {"layer.tar", 0o644, layer.Bytes()}, {"manifest.json", 0o644, manifest}})
	return file{fmt.Sprintf("%s_%s_%s_%s_image.tar.gz", name, r.version, b.os, b.arch), 0o644, data}, err
}

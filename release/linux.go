package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

func (r *release) deb(b binary) (file, error) {
	return r.systemPackage(b, deb.Default, "/usr/share/zsh/vendor-completions/_waybill")
}

func (r *release) rpm(b binary) (file, error) {
	return r.systemPackage(b, rpm.DefaultRPM, "/usr/share/zsh/site-functions/_waybill")
}

// systemPackage returns the package for a package manager of Linux. It installs files only and runs no scripts.
func (r *release) systemPackage(b binary, packager nfpm.Packager, zsh string) (file, error) {
	folder, err := os.MkdirTemp("", "waybill-package")
	if err != nil {
		return file{}, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	info := &nfpm.Info{
		Name: name, Arch: b.arch, Platform: "linux", Version: r.version, Section: "devel", Priority: "optional",
		Maintainer: authors, Description: r.description, License: license, MTime: r.date,
	}
	info.RPM.Summary = r.description
	info.RPM.BuildHost = "localhost" // the name of the machine would be in the file
	add := func(to string, mode os.FileMode, data []byte) {
		from := filepath.Join(folder, strings.ReplaceAll(to, "/", "_"))
		if err == nil {
			err = os.WriteFile(from, data, mode)
		}
		info.Contents = append(info.Contents, &files.Content{Source: from, Destination: to, FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.date}})
	}
	add("/usr/bin/waybill", 0o755, b.data)
	for _, d := range r.docs {
		switch base := filepath.Base(d.name); base {
		case "waybill.bash":
			add("/usr/share/bash-completion/completions/waybill", 0o644, d.data)
		case "waybill.zsh":
			add(zsh, 0o644, d.data)
		case "waybill.fish":
			add("/usr/share/fish/vendor_completions.d/waybill.fish", 0o644, d.data)
		case "waybill.powershell", "README.md":
		case "LICENSE":
			add("/usr/share/doc/waybill/copyright", 0o644, d.data)
		default:
			if strings.HasPrefix(d.name, "man/") {
				add("/usr/share/man/man1/"+base+".gz", 0o644, compressed(d.data))
				continue
			}
			add("/usr/share/doc/waybill/"+base, 0o644, d.data)
		}
	}
	if err != nil {
		return file{}, err
	}
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, map[bool]string{true: "deb", false: "rpm"}[packager == nfpm.Packager(deb.Default)]); err != nil {
		return file{}, err
	}
	var out bytes.Buffer
	err = packager.Package(info, &out)
	return file{packager.ConventionalFileName(info), 0o644, out.Bytes()}, err
}

// compressed returns data as gzip compresses it, without a date.
func compressed(data []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level exists
	_, _ = w.Write(data)                                    // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

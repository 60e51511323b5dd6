package main

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed install.sh
var script []byte

// installScript returns install.sh with the version and the address of this release, and the checksums of its archives.
func (r *release) installScript(files []file) (file, error) {
	var archives []file
	for _, f := range files {
		if strings.HasSuffix(f.name, ".tar.gz") && !strings.HasSuffix(f.name, "_image.tar.gz") {
			archives = append(archives, f)
		}
	}
	text := string(script)
	for _, place := range []struct{ line, holder, value string }{
		{"\nversion=VERSION\n", "VERSION", r.version},
		{"\nchecksums='CHECKSUMS'\n", "CHECKSUMS", strings.TrimSpace(string(r.checksums(archives).data))},
		{"\ndownload=${WAYBILL_DOWNLOAD:-DOWNLOAD}\n", "-DOWNLOAD", "-" + r.download},
	} {
		if !strings.Contains(text, place.line) {
			return file{}, fmt.Errorf("release/install.sh has no line %q", strings.TrimSpace(place.line))
		}
		text = strings.Replace(text, place.line, strings.Replace(place.line, place.holder, place.value, 1), 1)
	}
	return file{"install.sh", 0o755, []byte(text)}, nil
}

// formula returns the formula for Homebrew, which installs the archives for macOS and Linux.
func (r *release) formula(files []file) file {
	var text strings.Builder
	fmt.Fprintf(&text, "class Waybill < Formula\n  desc %q\n  homepage %q\n  version %q\n  license %q\n",
		strings.TrimSuffix(r.description, "."), r.homepage, r.version, license)
	for _, system := range []struct{ goos, block string }{{"darwin", "on_macos"}, {"linux", "on_linux"}} {
		fmt.Fprintf(&text, "\n  %s do\n", system.block)
		for _, processor := range []struct{ arch, block string }{{"arm64", "on_arm"}, {"amd64", "on_intel"}} {
			archive := fmt.Sprintf("%s_%s_%s_%s.tar.gz", name, r.version, system.goos, processor.arch)
			for _, f := range files {
				if f.name == archive {
					fmt.Fprintf(&text, "    %s do\n      url %q\n      sha256 %q\n    end\n", processor.block, r.download+"/"+archive, f.sum())
				}
			}
		}
		text.WriteString("  end\n")
	}
	text.WriteString(`
  def install
    bin.install "waybill"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/waybill.bash" => "waybill"
    zsh_completion.install "completions/waybill.zsh" => "_waybill"
    fish_completion.install "completions/waybill.fish"
    doc.install "README.md", "CHANGELOG.md", "THIRD_PARTY_LICENSES"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/waybill version")
  end
end
`)
	return file{"waybill.rb", 0o644, []byte(text.String())}
}

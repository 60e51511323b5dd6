package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated files")

// made is a release for this machine, and the programs that play with it. All tests share one build.
type made struct {
	release       *release
	folder        string            // with the files
	files         map[string][]byte // the same, by name
	demo, agent   string            // programs of the demo
	archive, name string            // the archive for this machine, and its name without the ending
}

// temporary is the folder of the shared build, once there is one.
var temporary string

var build = sync.OnceValues(func() (m made, err error) {
	root, err := findRoot()
	if err != nil {
		return m, err
	}
	if m.folder, err = os.MkdirTemp("", "waybill-packages-test"); err != nil {
		return m, err
	}
	temporary = m.folder
	m.release, m.files, err = releaseFrom(root, filepath.Join(m.folder, "dist"))
	if err != nil {
		return m, err
	}
	m.name = fmt.Sprintf("waybill_%s_%s_%s", m.release.version, runtime.GOOS, runtime.GOARCH)
	m.archive = m.name + ".tar.gz"
	m.demo, m.agent = filepath.Join(m.folder, "demo"), filepath.Join(m.folder, "fakeagent")
	for path, pkg := range map[string]string{m.demo: "./test/demo", m.agent: "./test/fakeagent"} {
		cmd := exec.Command("go", "build", "-o", path, pkg)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return m, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	return m, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(temporary)
	os.Exit(code)
}

// releaseFrom makes the release of a source for this machine, and returns its files.
func releaseFrom(root, out string) (*release, map[string][]byte, error) {
	r, err := newRelease(root, unowned, unownedPage)
	if err != nil {
		return nil, nil, err
	}
	if err := r.write(out, []string{ownPlatform}); err != nil {
		return nil, nil, err
	}
	files := map[string][]byte{}
	err = filepath.WalkDir(out, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files[entry.Name()], err = os.ReadFile(path)
		}
		return err
	})
	return r, files, err
}

// needs skips a test on a machine without a program that it needs. CI has them all.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("WAYBILL_PACKAGES_TESTS") == "required" {
				t.Fatalf("%s is needed: %v", program, err)
			}
			t.Skipf("%s is needed", program)
		}
	}
}

// theRelease returns the shared release, and skips the test where no packages for the machine exist.
func theRelease(t *testing.T) made {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the packages are installed on Linux only")
	}
	m, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// runs runs a command with additional variables, and returns its output.
func runs(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// works checks that an installed program states the version of the release, and plays the demo.
func (m made) works(t *testing.T, program string) {
	t.Helper()
	if got, want := runs(t, nil, program, "version"), "waybill "+m.release.version+" (protocol "; !strings.HasPrefix(got, want) {
		t.Fatalf("the version is %q, not %q…", got, want)
	}
	if out := runs(t, nil, m.demo, program, m.agent); !strings.Contains(out, "answered and lost") {
		t.Fatalf("the demo did not come to its last act:\n%s", out)
	}
}

func TestArchiveInstalledByTheScriptWorks(t *testing.T) {
	m := theRelease(t)
	needs(t, "curl")
	t.Parallel()
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(m.folder, "dist"))))
	defer server.Close()
	prefix := t.TempDir()
	out := runs(t, []string{"WAYBILL_DOWNLOAD=" + server.URL, "PREFIX=" + prefix}, "sh", "-c", `umask 077; exec sh "$0"`, filepath.Join(m.folder, "dist", "install.sh"))
	if !strings.Contains(out, "installed waybill "+m.release.version) {
		t.Fatalf("the script says %q", out)
	}
	for path, mode := range map[string]fs.FileMode{
		"bin/waybill": 0o755, "share/man/man1": 0o755 | fs.ModeDir, "share/man/man1/waybill-task-ls.1": 0o644,
		"share/bash-completion/completions/waybill": 0o644, "share/zsh/site-functions/_waybill": 0o644, "share/fish/vendor_completions.d/waybill.fish": 0o644,
	} {
		info, err := os.Stat(filepath.Join(prefix, path))
		if err != nil {
			t.Error(err)
		} else if info.Mode() != mode {
			t.Errorf("%s has the mode %v, want %v: with the umask of a careful person, others could not read the manual", path, info.Mode(), mode)
		}
	}
	m.works(t, filepath.Join(prefix, "bin", "waybill"))
}

func TestScriptInstallsNoArchiveWithAnotherChecksum(t *testing.T) {
	m := theRelease(t)
	needs(t, "curl")
	t.Parallel()
	changed := bytes.Clone(m.files[m.archive])
	changed[len(changed)/2] ^= 1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch name := strings.TrimPrefix(r.URL.Path, "/"); name {
		case m.archive:
			_, _ = w.Write(changed)
		case "checksums.txt": // of the same server, so that it says what the server likes
			_, _ = fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(changed), m.archive)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	prefix := t.TempDir()
	cmd := exec.Command("sh", filepath.Join(m.folder, "dist", "install.sh"))
	cmd.Env = append(os.Environ(), "WAYBILL_DOWNLOAD="+server.URL, "PREFIX="+prefix)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another checksum") {
		t.Fatalf("the script ended with %v and said %q", err, out)
	}
	if left, _ := os.ReadDir(prefix); len(left) > 0 {
		t.Fatalf("it has written %v", left)
	}
}

// The registry has the launcher and the package of this machine only, so npm must leave out the other platforms.
func TestNpmPackagesInstalledFromARegistryWork(t *testing.T) {
	m := theRelease(t)
	needs(t, "npm", "node")
	t.Parallel()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pkg := strings.TrimPrefix(r.URL.Path, "/")
		if data, ok := m.files[pkg]; ok {
			_, _ = w.Write(data)
			return
		}
		tarball := fmt.Sprintf("%s-%s.tgz", pkg, m.release.version)
		data, ok := m.files[tarball]
		if !ok {
			http.NotFound(w, r)
			return
		}
		manifest := map[string]any{}
		if err := json.Unmarshal([]byte(inTar(t, data, "package/package.json")), &manifest); err != nil {
			t.Error(err)
		}
		manifest["dist"] = map[string]string{"tarball": server.URL + "/" + tarball}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": pkg, "dist-tags": map[string]string{"latest": m.release.version}, "versions": map[string]any{m.release.version: manifest},
		})
	}))
	defer server.Close()
	prefix := t.TempDir()
	runs(t, []string{"npm_config_cache=" + t.TempDir()}, "npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--registry", server.URL, "--global", "--prefix", prefix, "waybill")
	m.works(t, filepath.Join(prefix, "bin", "waybill"))
}

// docs/install.md installs the files, because the names are nobody's yet. npm must ask no registry for them.
func TestNpmPackagesInstalledFromFilesWork(t *testing.T) {
	m := theRelease(t)
	needs(t, "npm", "node")
	t.Parallel()
	prefix, files := t.TempDir(), []string{}
	for _, pkg := range []string{npmName("linux", runtime.GOARCH), name} {
		files = append(files, filepath.Join(m.folder, "dist", fmt.Sprintf("%s-%s.tgz", pkg, m.release.version)))
	}
	runs(t, []string{"npm_config_cache=" + t.TempDir()}, "npm", append([]string{"install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--offline", "--omit=optional", "--global", "--prefix", prefix}, files...)...)
	m.works(t, filepath.Join(prefix, "bin", "waybill"))
}

func TestWheelInstalledByPipWorks(t *testing.T) {
	m := theRelease(t)
	needs(t, "python3")
	t.Parallel()
	environment := t.TempDir()
	runs(t, nil, "python3", "-m", "venv", environment)
	for wheel := range m.files {
		if strings.HasSuffix(wheel, ".whl") {
			runs(t, nil, filepath.Join(environment, "bin", "pip"), "install", "--quiet", "--no-index", "--disable-pip-version-check", filepath.Join(m.folder, "dist", wheel))
		}
	}
	m.works(t, filepath.Join(environment, "bin", "waybill"))
	if out := runs(t, nil, filepath.Join(environment, "bin", "pip"), "show", "--files", "waybill"); !strings.Contains(out, "THIRD_PARTY_LICENSES") {
		t.Errorf("the wheel has no licences of others:\n%s", out)
	}
}

func TestDebInstalledByDpkgWorks(t *testing.T) {
	m := theRelease(t)
	needs(t, "dpkg")
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg/info"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"updates", "triggers"} {
		if err := os.Mkdir(filepath.Join(root, "var/lib/dpkg", folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	deb := fmt.Sprintf("waybill_%s_%s.deb", m.release.version, runtime.GOARCH)
	dpkg := []string{"--root=" + root, "--force-not-root", "--log=" + filepath.Join(root, "log")}
	runs(t, nil, "dpkg", append(dpkg, "--install", filepath.Join(m.folder, "dist", deb))...)
	m.works(t, filepath.Join(root, "usr", "bin", "waybill"))
	runs(t, nil, "dpkg", append(dpkg, "--remove", "waybill")...)
	if _, err := os.Stat(filepath.Join(root, "usr", "bin", "waybill")); !os.IsNotExist(err) {
		t.Errorf("the package was removed, and the program is still there: %v", err)
	}
}

func TestImageHasTheProgramOfTheArchive(t *testing.T) {
	m := theRelease(t)
	image := m.files[m.name+"_image.tar.gz"]
	var manifest []struct {
		Config string
		Layers []string
	}
	if err := json.Unmarshal([]byte(inTar(t, image, "manifest.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	layer := inTar(t, image, manifest[0].Layers[0])
	var config struct {
		Config struct{ Entrypoint []string }
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	if err := json.Unmarshal([]byte(inTar(t, image, manifest[0].Config)), &config); err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256([]byte(layer)); config.RootFS.DiffIDs[0] != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Errorf("the layer is %x, and the image says %s", sum, config.RootFS.DiffIDs[0])
	}
	program := inTar(t, compressed([]byte(layer)), strings.TrimPrefix(config.Config.Entrypoint[0], "/"))
	if program != inTar(t, m.files[m.archive], m.name+"/waybill") {
		t.Error("the image has another program than the archive")
	}
}

// A release can be checked by everyone who has its source: the place of the source and the time make no difference.
func TestReleaseFromAnotherFolderHasTheSameBytes(t *testing.T) {
	m := theRelease(t)
	t.Setenv("SOURCE_DATE_EPOCH", fmt.Sprint(m.release.date.Unix()))
	again := copyOfSource(t, m.release.root)
	_, files, err := releaseFrom(again, filepath.Join(t.TempDir(), "dist"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(m.files) {
		t.Errorf("the first release has %d files, the second %d", len(m.files), len(files))
	}
	for name, data := range m.files {
		if !bytes.Equal(data, files[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

// The program had the build tags and optimizations that the maintainer's shell happened to ask for.
func TestVariablesOfTheShellDoNotChangeTheProgram(t *testing.T) {
	m := theRelease(t)
	t.Setenv("GOFLAGS", "-gcflags=waybill/cli=-N -tags=hostile")
	t.Setenv("GOEXPERIMENT", "nogreenteagc")
	r, err := newRelease(m.release.root, unowned, unownedPage)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := r.compile(t.TempDir(), ownPlatform)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.data, m.release.binaries[0].data) {
		t.Errorf("GOFLAGS or GOEXPERIMENT has changed the program: %v", b.info.Settings)
	}
}

// -out with a mistyped folder deleted all that was in it, before anything was built.
func TestFolderOfOtherFilesIsNotReplaced(t *testing.T) {
	folder := t.TempDir()
	mine := filepath.Join(folder, "thesis.txt")
	if err := os.WriteFile(mine, []byte("years of work"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"", "00  waybill.rb\n"} { // no release at all, and a release with a file beside it
		if list != "" {
			if err := os.WriteFile(filepath.Join(folder, "checksums.txt"), []byte(list), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := (&release{}).write(folder, nil); err == nil || !strings.Contains(err.Error(), "thesis.txt") {
			t.Errorf("the error is %v", err)
		}
		if _, err := os.Stat(mine); err != nil {
			t.Error(err)
		}
	}
}

func TestEarlierReleaseIsReplacedOnlyByACompleteOne(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "dist")
	if err := replace(folder, []file{{"old.deb", 0o644, nil}, {"checksums.txt", 0o644, []byte("00  old.deb\n")}}); err != nil {
		t.Fatal(err)
	}
	if err := (&release{root: t.TempDir()}).write(folder, []string{ownPlatform}); err == nil {
		t.Fatal("a folder without source was built")
	}
	if _, err := os.Stat(filepath.Join(folder, "old.deb")); err != nil {
		t.Errorf("a failed build has removed the earlier release: %v", err)
	}
	if err := replace(folder, []file{{"new.deb", 0o644, nil}}); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(folder), "*", "*")); len(left) != 1 || filepath.Base(left[0]) != "new.deb" {
		t.Errorf("the folders have %v", left)
	}
}

// A program with uncommitted changes had the version and the date of the last commit.
func TestSourceWithChangesIsRefused(t *testing.T) {
	needs(t, "git")
	root := t.TempDir()
	if err := unchanged(root); err != nil {
		t.Errorf("a copy without history: %v", err)
	}
	runs(t, nil, "git", "init", "--quiet", root)
	if err := unchanged(root); err != nil {
		t.Errorf("a repository without changes: %v", err)
	}
	if err := os.WriteFile(filepath.Join(root, "extra.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := unchanged(root); err == nil || !strings.Contains(err.Error(), "extra.go") {
		t.Errorf("the error for a file that is not committed is %v", err)
	}
}

func TestChecksumsListEveryFile(t *testing.T) {
	m := theRelease(t)
	list := string(m.files["checksums.txt"])
	for name, data := range m.files {
		if sum := sha256.Sum256(data); name != "checksums.txt" && !strings.Contains(list, fmt.Sprintf("%x  %s\n", sum, name)) {
			t.Errorf("checksums.txt does not list %s with %x", name, sum)
		}
	}
}

func TestFormulaAndServerJSONHaveTheChecksums(t *testing.T) {
	m := theRelease(t)
	for holder, of := range map[string]string{"waybill.rb": m.archive, "server.json": m.name + ".mcpb"} {
		sum := sha256.Sum256(m.files[of])
		text := string(m.files[holder])
		if !strings.Contains(text, hex.EncodeToString(sum[:])) || !strings.Contains(text, m.release.download+"/"+of) {
			t.Errorf("%s does not name %s with its checksum:\n%s", holder, of, text)
		}
	}
}

// The homepage was the folder of the downloads.
func TestFormulaHasTheHomepageOfTheProject(t *testing.T) {
	r := release{download: "https://example.com/you/releases/download", homepage: "https://example.com/you"}
	if text := string(r.formula(nil).data); !strings.Contains(text, "\n  homepage \"https://example.com/you\"\n") {
		t.Errorf("the formula is\n%s", text)
	}
}

// Every module that the linker built in is in the list of components, and has its licence in the archive.
func TestArchiveListsWhatIsBuiltIn(t *testing.T) {
	m := theRelease(t)
	list, licences := string(m.files[m.name+".cdx.json"]), inTar(t, m.files[m.archive], m.name+"/THIRD_PARTY_LICENSES")
	deps := m.release.binaries[0].info.Deps
	if len(deps) < 10 {
		t.Fatalf("only %d modules are built in", len(deps))
	}
	for _, d := range deps {
		if !strings.Contains(list, `"name": "`+d.Path+`"`) {
			t.Errorf("%s is no component", d.Path)
		}
		if !strings.Contains(licences, "\n"+d.Path+" "+d.Version+"\n") {
			t.Errorf("%s %s has no licence", d.Path, d.Version)
		}
	}
}

// The manual has a page for each command and each verb, and groff reads them without a complaint. The usage of the help has
// a row "waybill COMMAND", for which no release could be made.
func TestManualPagesAreWellFormed(t *testing.T) {
	m := theRelease(t)
	needs(t, "groff")
	pages := 0
	for _, d := range m.release.docs {
		if strings.HasPrefix(d.name, "man/") {
			pages++
			path := filepath.Join(t.TempDir(), filepath.Base(d.name))
			if err := os.WriteFile(path, d.data, 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("groff", "-man", "-Tutf8", "-Wbreak", "-z", path)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: %v\n%s", d.name, err, out)
			}
		}
	}
	if pages < 50 {
		t.Errorf("the manual has %d pages", pages)
	}
}

func TestLicencesAreCurrent(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := writeLicences(root); err != nil {
			t.Fatal(err)
		}
	}
	want, err := licences(root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, licencesFile))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
		t.Errorf("%s is outdated; run the test with -update", licencesFile)
	}
}

// The figures of the page are of the day on which they were measured; its modules are those of today.
func TestDependenciesListTheModulesThatAreBuiltIn(t *testing.T) {
	m := theRelease(t)
	page, err := os.ReadFile(filepath.Join(m.release.root, dependenciesFile))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, " v") {
			rows++
		}
	}
	deps := m.release.binaries[0].info.Deps
	for _, d := range deps {
		if !strings.Contains(string(page), "| "+d.Path+" "+d.Version+" | ") {
			t.Errorf("%s %s has no row in %s; run make dependencies", d.Path, d.Version, dependenciesFile)
		}
	}
	if rows != len(deps) {
		t.Errorf("%s has %d rows for %d modules; run make dependencies", dependenciesFile, rows, len(deps))
	}
}

package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// allPlatforms are the systems of a release, as Go names them.
var allPlatforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// unowned and unownedPage are the addresses of the downloads and of the project until a maintainer states them. RFC 2606
// reserves the name, so they lead nowhere.
const (
	unowned     = unownedPage + "/download"
	unownedPage = "https://waybill.example"
)

const (
	name    = "waybill"
	license = "MIT"
	authors = "The waybill authors"
)

// A release has the facts that all its files state.
type release struct {
	root        string
	version     string    // of server.json
	description string    // likewise
	server      string    // name of the server in registries of MCP, likewise
	date        time.Time // of the last commit: every file of an archive has it
	download    string
	homepage    string
	environment []string // of the compiler
	binaries    []binary
	docs        []file // licences, completions and manual pages
}

// A binary is the program for one platform.
type binary struct {
	os, arch string
	data     []byte
	info     *buildinfo.BuildInfo
}

// program returns the name of the executable file.
func (b binary) program() string {
	if b.os == "windows" {
		return name + ".exe"
	}
	return name
}

// A file is one file of the release, or of an archive.
type file struct {
	name string
	mode os.FileMode
	data []byte
}

// sum returns the SHA-256 of the file in hexadecimal digits.
func (f file) sum() string {
	sum := sha256.Sum256(f.data)
	return hex.EncodeToString(sum[:])
}

func newRelease(root, download, homepage string) (*release, error) {
	raw, err := os.ReadFile(filepath.Join(root, "server.json"))
	if err != nil {
		return nil, err
	}
	var about struct{ Name, Description, Version string }
	if err := json.Unmarshal(raw, &about); err != nil {
		return nil, fmt.Errorf("server.json: %w", err)
	}
	date, err := sourceDate(root)
	if err != nil {
		return nil, err
	}
	environment, err := buildEnvironment(root)
	if err != nil {
		return nil, err
	}
	return &release{
		root: root, environment: environment, version: about.Version, description: about.Description, server: about.Name, date: date,
		download: strings.TrimSuffix(download, "/"), homepage: homepage,
	}, nil
}

// unchanged returns an error if the source differs from its last commit, which the files of a release state as their origin.
func unchanged(root string) error {
	out, err := exec.Command("git", "-C", root, "status", "--porcelain").Output()
	if _, missing := os.Stat(filepath.Join(root, ".git")); missing != nil {
		return nil // a copy without its history
	}
	if err != nil {
		return fmt.Errorf("git status: %w", err)
	}
	if len(out) > 0 {
		return fmt.Errorf("the source differs from its last commit; commit or remove the changes:\n%s", out)
	}
	return nil
}

// sourceDate returns SOURCE_DATE_EPOCH, or the date of the last commit. A copy of the source without its history needs
// the former.
func sourceDate(root string) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "-C", root, "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("date of the last commit: %w; set SOURCE_DATE_EPOCH", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// buildEnvironment returns the variables with which Go builds a release. They say where it finds files and modules. Others, such
// as GOFLAGS or GOEXPERIMENT, change the program, so neither the machine's nor those of its go/env file are among them.
func buildEnvironment(root string) (variables []string, err error) {
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "USERPROFILE", "LOCALAPPDATA", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if value, ok := os.LookupEnv(name); ok {
			variables = append(variables, name+"="+value)
		}
	}
	places := []string{"GOPATH", "GOCACHE", "GOMODCACHE", "GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOTOOLCHAIN"}
	cmd := exec.Command("go", append([]string{"env", "-json"}, places...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	values := map[string]string{}
	if err := json.Unmarshal(out, &values); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	for _, name := range places {
		variables = append(variables, name+"="+values[name])
	}
	return append(variables, "GOENV=off", "GOFLAGS=", "GOWORK=off", "GOAMD64=v1", "CGO_ENABLED=0"), nil
}

// build builds the program for the platforms, and makes the documents of the release.
func (r *release) build(platforms []string) error {
	folder, err := os.MkdirTemp("", "waybill-release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	own := "" // a program that this machine can run
	for _, platform := range platforms {
		b, path, err := r.compile(folder, platform)
		if err != nil {
			return err
		}
		r.binaries = append(r.binaries, b)
		if platform == ownPlatform {
			own = path
		}
	}
	if own == "" {
		if _, own, err = r.compile(folder, ownPlatform); err != nil {
			return err
		}
	}
	r.docs, err = r.documents(own)
	return err
}

const ownPlatform = runtime.GOOS + "/" + runtime.GOARCH

// compile builds the program for one platform in a folder, and returns it with its path.
func (r *release) compile(folder, platform string) (b binary, path string, err error) {
	b.os, b.arch = splitPlatform(platform)
	path = filepath.Join(folder, b.os+"-"+b.arch, b.program())
	// Neither the state of the repository nor its place is in the program, so that its bytes depend on the source alone.
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= -X main.version="+r.version, "-o", path, ".")
	cmd.Dir = r.root
	cmd.Env = append(r.environment, "GOOS="+b.os, "GOARCH="+b.arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return b, "", fmt.Errorf("build for %s: %w\n%s", platform, err, out)
	}
	if b.data, err = os.ReadFile(path); err != nil {
		return b, "", err
	}
	b.info, err = buildinfo.Read(bytes.NewReader(b.data))
	return b, path, err
}

// documents returns the files that an archive holds beside the program.
func (r *release) documents(program string) (docs []file, err error) {
	for _, from := range []string{"LICENSE", "README.md", "CHANGELOG.md", licencesFile} {
		text, err := os.ReadFile(filepath.Join(r.root, from))
		if err != nil {
			return nil, err
		}
		docs = append(docs, file{filepath.Base(from), 0o644, text})
	}
	print := func(args ...string) []byte {
		cmd := exec.Command(program, append(args, "--no-color")...)
		// The help of a setting names the home of a person where it has a default there.
		cmd.Env = []string{"HOME=/home/you", "PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
		out, problem := cmd.CombinedOutput()
		if problem != nil && err == nil {
			err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), problem, out)
		}
		return out
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		docs = append(docs, file{"completions/" + name + "." + shell, 0o644, print("completion", shell)})
	}
	var manuals func(title, summary string, command ...string)
	manuals = func(title, summary string, command ...string) {
		help := print(append([]string{"help"}, command...)...)
		docs = append(docs, file{"man/" + title + ".1", 0o644, r.manual(title, summary, help)})
		for _, row := range commandRow.FindAllStringSubmatch(string(help), -1) {
			if row[1] != "help" && row[1] != "completion" {
				manuals(title+"-"+row[1], row[2], append(command, row[1])...)
			}
		}
	}
	manuals(name, "Hand work to coding agents without losing any of it")
	return docs, err
}

// commandRow is a row in a table of commands in the help. Rows of the usage have COMMAND in the place of a sentence.
var commandRow = regexp.MustCompile(`(?m)^  ([a-z]+) +([A-Z][^A-Z].*)$`)

// manual returns a help text as a manual page. The help is laid out for a terminal, so the page keeps its lines.
func (r *release) manual(title, summary string, help []byte) []byte {
	var page bytes.Buffer
	fmt.Fprintf(&page, ".TH %s 1 %s %q\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n",
		strings.ToUpper(title), r.date.Format(time.DateOnly), name+" "+r.version, title, roff(summary))
	for line := range strings.Lines(string(help)) {
		page.WriteString(roff(line))
	}
	page.WriteString(".fi\n")
	return page.Bytes()
}

// roff escapes a line of text for a manual page.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}

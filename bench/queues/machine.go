package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A machine describes the hardware and the time of a measurement.
type machine struct {
	Date                  string
	Processor, System     string
	Cores                 int
	Disk                  string // file system of the items
	LoadBefore, LoadAfter string `json:",omitempty"`
	Versions              []version
}

// A version is a measured program or library.
type version struct{ Name, Version string }

// look describes this machine now.
func look(ctx context.Context, h *house) (machine, error) {
	m := machine{
		Date: time.Now().UTC().Format("2 January 2006"), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Processor: procLine("/proc/cpuinfo", "model name"), Disk: fileSystem(h.dir), LoadBefore: load(),
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System = "Linux " + strings.TrimSpace(string(release)) + ", " + runtime.GOARCH
	}
	var err error
	m.Versions, err = versions(ctx, h)
	return m, err
}

// load returns the load average of the last minute, or "".
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// procLine returns the value of a name in a file of /proc, or "".
func procLine(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// fileSystem returns the type of a folder's file system, or "".
func fileSystem(dir string) string {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return ""
	}
	longest, kind := 0, ""
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		at := strings.TrimSuffix(fields[1], "/")
		if (dir == at || strings.HasPrefix(dir, at+"/")) && len(fields[1]) >= longest {
			longest, kind = len(fields[1]), fields[2]
		}
	}
	return kind
}

// libraries are the modules to list, with their display names.
var libraries = [][2]string{
	{"River", "github.com/riverqueue/river"},
	{"NATS server", "github.com/nats-io/nats-server/v2"},
	{"nats.go", "github.com/nats-io/nats.go"},
	{"asynq", "github.com/hibiken/asynq"},
	{"go-redis", "github.com/redis/go-redis/v9"},
	{"pgx", "github.com/jackc/pgx/v5"},
	{"modernc.org/sqlite", "modernc.org/sqlite"},
}

func versions(ctx context.Context, h *house) ([]version, error) {
	all := []version{{"Go", runtime.Version()}, {"waybill", revision(ctx)}}
	if h.cluster != nil {
		v, err := postgresVersion(ctx, h)
		if err != nil {
			return nil, err
		}
		all = append(all, version{"PostgreSQL", v})
	}
	if h.redisErr == nil {
		said, err := exec.CommandContext(ctx, h.redis, "--version").Output()
		if err != nil {
			return nil, err
		}
		_, after, _ := strings.Cut(string(said), "v=")
		v, _, _ := strings.Cut(after, " ")
		all = append(all, version{"Redis", v})
	}
	required, err := modules(h.program)
	if err != nil {
		return nil, err
	}
	for _, l := range libraries {
		if v := required[l[1]]; v != "" {
			all = append(all, version{l[0], v})
		}
	}
	return all, nil
}

// modules returns the versions of the modules linked into this program and into waybill. Those of waybill take
// precedence.
func modules(waybill string) (map[string]string, error) {
	all := map[string]string{}
	if own, ok := debug.ReadBuildInfo(); ok {
		for _, m := range own.Deps {
			all[m.Path] = m.Version
		}
	}
	theirs, err := buildinfo.ReadFile(waybill)
	if err != nil {
		return nil, err
	}
	for _, m := range theirs.Deps {
		all[m.Path] = m.Version
	}
	return all, nil
}

// revision returns the commit of waybill, and whether there are uncommitted changes.
func revision(ctx context.Context) string {
	at, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=10", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := string(bytes.TrimSpace(at))
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no", "--", "../..", ":!../../docs", ":!../../bench", ":!../../*.md").Output()
	if err != nil || len(changed) > 0 {
		name += " with changes"
	}
	return name
}

func postgresVersion(ctx context.Context, h *house) (v string, err error) {
	c, err := pgx.Connect(ctx, h.cluster.Admin())
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close(ctx) }()
	err = c.QueryRow(ctx, "SHOW server_version").Scan(&v)
	v, _, _ = strings.Cut(v, " ")
	return v, err
}

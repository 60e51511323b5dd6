package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"waybill/store/postgres/pgtest"
)

// patience limits every wait.
const patience = 2 * time.Minute

// A house is the environment of a run: a folder, the measured program, and the servers that are available.
type house struct {
	dir      string
	program  string // waybill
	cluster  *pgtest.Server
	pgError  error // why there is no cluster
	redis    string
	redisErr error // why there is no Redis
	made     int   // databases and folders
}

// settings are server settings of PostgreSQL in addition to those of pgtest: its defaults where they affect speed, and
// enough connections.
var settings = []string{
	"max_connections = 200", "shared_buffers = 128MB", "fsync = on", "synchronous_commit = on",
	"shared_preload_libraries = 'pg_stat_statements'", "pg_stat_statements.track = 'none'",
}

// openHouse builds waybill and starts the available servers.
func openHouse(ctx context.Context) (h *house, err error) {
	h = &house{}
	if h.dir, err = os.MkdirTemp("", "waybill-queues-"); err != nil {
		return nil, err
	}
	if h.program, err = build(ctx, h.dir); err != nil {
		return nil, errors.Join(err, h.close())
	}
	h.cluster, h.pgError = pgtest.Start(settings...)
	h.redis, h.redisErr = exec.LookPath("redis-server")
	return h, nil
}

func (h *house) close() error {
	if h.cluster != nil {
		h.cluster.Stop()
	}
	return os.RemoveAll(h.dir)
}

// build builds waybill as released, with the modules of its own go.mod.
func build(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "waybill").Output()
	if err != nil {
		return "", fmt.Errorf("find waybill: %w", err)
	}
	path := filepath.Join(dir, "waybill")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Dir = strings.TrimSpace(string(root))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build waybill: %w\n%s", err, out)
	}
	return path, nil
}

// folder creates an empty folder.
func (h *house) folder() (string, error) {
	h.made++
	dir := filepath.Join(h.dir, fmt.Sprint("place-", h.made))
	return dir, os.Mkdir(dir, 0o700)
}

// database creates an empty database and returns its URL.
func (h *house) database(ctx context.Context) (string, error) {
	h.made++
	name := fmt.Sprint("place_", h.made)
	if err := execute(ctx, h.cluster.Admin(), "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	u, err := url.Parse(h.cluster.Admin())
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

// execute runs a statement on a new connection.
func execute(ctx context.Context, url, sql string) error {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, sql)
	return errors.Join(err, c.Close(ctx))
}

// freePort returns a free port of this machine.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// startRedis starts a server that syncs every write before it answers.
func startRedis(ctx context.Context, program, dir string) (*place, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--dir", dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always", "--daemonize", "no")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &place{address: fmt.Sprintf("127.0.0.1:%d", port), pid: cmd.Process.Pid, end: func() error {
		return errors.Join(cmd.Process.Kill(), ended(cmd.Wait()))
	}}
	client := redis.NewClient(&redis.Options{Addr: p.address})
	defer func() { _ = client.Close() }()
	if err := eventually(ctx, func() error { return client.Ping(ctx).Err() }); err != nil {
		return nil, errors.Join(err, p.end())
	}
	return p, nil
}

// ended drops the error of waiting for a killed process.
func ended(err error) error {
	if _, killed := errors.AsType[*exec.ExitError](err); killed {
		return nil
	}
	return err
}

// eventually repeats try until it succeeds or patience is over.
func eventually(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return err
		}
	}
}

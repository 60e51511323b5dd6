// Package endpoint reads and writes the files in the state folder that name the address of a running front door.
package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"syscall"
	"time"

	"waybill/cli/backend"
	"waybill/engine/workspace"
	"waybill/web"
)

const (
	// askTime bounds each request to a server that may be gone.
	askTime = 3 * time.Second
	// maxAnswer bounds the bytes that are read of an answer.
	maxAnswer = 1 << 16
)

// An Endpoint is the content of an endpoint file: where a process serves HTTP, and the token.
type Endpoint struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	PID   int    `json:"pid"`
	Store string `json:"store"` // that it serves

	path  string    // of the file
	Since time.Time `json:"-"` // the file has been there
}

// is reports whether both are of the same server.
func (k *Endpoint) is(other *Endpoint) bool {
	return k.URL == other.URL && k.Token == other.Token && k.PID == other.PID
}

func (k *Endpoint) text() []byte {
	text, err := json.Marshal(k)
	if err != nil {
		panic(err) // it is strings and a number
	}
	return append(text, '\n')
}

// Running returns the endpoint of a running server that has the page and the same store.
func Running(ctx context.Context, storeFlag string, ws workspace.Workspace) (*Endpoint, bool) {
	folder, err := Folder(storeFlag, ws)
	if err != nil {
		return nil, false
	}
	store, err := backend.StorePath(storeFlag, ws)
	if err != nil {
		return nil, false
	}
	for _, door := range running(folder) {
		if door.Store == store && door.opens(ctx) { // one of another store shows other questions
			return door, true
		}
	}
	return nil, false
}

// opens reports whether a front door with the page answers there and accepts the token. The token is sent only to a
// server that answers like a front door, because another program may have got the port or the process id.
func (k *Endpoint) opens(ctx context.Context) bool {
	stranger := &Endpoint{URL: k.URL}
	var health struct {
		OK bool `json:"ok"`
	}
	return stranger.Ask(ctx, http.MethodGet, "/healthz", &health) == nil && health.OK &&
		stranger.Ask(ctx, http.MethodGet, "/", nil) == nil && k.Ask(ctx, http.MethodGet, "/api/status", nil) == nil
}

// deserted reports whether no server listens at the door. Then its process has ended, even if its id was reused.
// Windows takes seconds to say so; there the id decides.
func (k *Endpoint) deserted() bool {
	if runtime.GOOS == "windows" {
		return false
	}
	dialer := net.Dialer{Timeout: askTime}
	conn, err := dialer.DialContext(context.Background(), "tcp", strings.TrimPrefix(k.URL, "http://"))
	if err == nil {
		_ = conn.Close() // no request was sent
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// local reports whether the address can be that of a front door. The token is sent to no other address.
func (k *Endpoint) local() bool {
	at, err := url.Parse(k.URL)
	if err != nil || k.URL != "http://"+at.Host {
		return false
	}
	_, err = web.ParseAddress(at.Host)
	return err == nil
}

// Ask sends a request without params, with the token if there is one, and reads the answer into result, if that is not
// nil. It goes there and nowhere else: by no proxy, and to no other address.
func (k *Endpoint) Ask(ctx context.Context, verb, path string, result any) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, verb, k.URL+path, nil)
	if err != nil {
		return err
	}
	if k.Token != "" {
		req.Header.Set("Authorization", "Bearer "+k.Token)
	}
	if verb == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	switch {
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("%s %s: %s", verb, path, res.Status)
	case result == nil:
		return nil
	}
	return json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(result)
}

package cli

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

	"waybill/engine/workspace"
	"waybill/web"
)

const (
	// knockTime bounds each question to a front door that may not be there.
	knockTime = 3 * time.Second
	// maxAnswer bounds what is read of an answer: what is asked for is short.
	maxAnswer = 1 << 16
)

// A knock is what a port file says, for who wants to come in.
type knock struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	PID   int    `json:"pid"`
	Store string `json:"store"` // that it is a door to

	path  string    // of the file
	since time.Time // the file has been there
}

// is reports whether the other one is of the same front door.
func (k *knock) is(other *knock) bool {
	return k.URL == other.URL && k.Token == other.Token && k.PID == other.PID
}

func (k *knock) text() []byte {
	text, err := json.Marshal(k)
	if err != nil {
		panic(err) // it is strings and a number
	}
	return append(text, '\n')
}

// runningDoor finds the front door of a running host that has the page. What a killed one left behind is none.
func (a *app) runningDoor(ctx context.Context, ws workspace.Workspace) (*knock, bool) {
	folder, err := portFolder(a.store, ws)
	if err != nil {
		return nil, false
	}
	store, err := storePath(a.store, ws)
	if err != nil {
		return nil, false
	}
	for _, door := range doorsIn(folder) {
		if door.Store == store && door.opens(ctx) { // one of another store shows other questions
			return door, true
		}
	}
	return nil, false
}

// opens reports whether a front door with the page answers there, and takes the token. It is not shown to what does not
// answer as a front door does: another program may have got the port, or the process id.
func (k *knock) opens(ctx context.Context) bool {
	stranger := &knock{URL: k.URL}
	var health struct {
		OK bool `json:"ok"`
	}
	return stranger.ask(ctx, http.MethodGet, "/healthz", &health) == nil && health.OK &&
		stranger.ask(ctx, http.MethodGet, "/", nil) == nil && k.ask(ctx, http.MethodGet, "/api/status", nil) == nil
}

// deserted reports whether nobody listens at the door. Then its process is gone, also if another one has got its id.
// Windows takes seconds to say so; there the id decides.
func (k *knock) deserted() bool {
	if runtime.GOOS == "windows" {
		return false
	}
	dialer := net.Dialer{Timeout: knockTime}
	conn, err := dialer.DialContext(context.Background(), "tcp", strings.TrimPrefix(k.URL, "http://"))
	if err == nil {
		_ = conn.Close() // nothing was asked
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// local reports whether the address is one that a front door can have; the token goes to no other.
func (k *knock) local() bool {
	at, err := url.Parse(k.URL)
	if err != nil || k.URL != "http://"+at.Host {
		return false
	}
	_, err = web.ParseAddress(at.Host)
	return err == nil
}

// ask sends a request without params, with the token if there is one, and reads the answer into result, if that is not
// nil. It goes there and nowhere else: by no proxy, and to no other address.
func (k *knock) ask(ctx context.Context, verb, path string, result any) error {
	ctx, cancel := context.WithTimeout(ctx, knockTime)
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

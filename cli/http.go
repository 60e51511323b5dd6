package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"waybill/api"
	"waybill/engine/workspace"
	"waybill/web"
)

// anyPort is where --http listens if it does not say where.
const anyPort = "127.0.0.1:0"

// portFileName is the file in the state folder that says where the front door is.
const portFileName = "http.json"

func addHTTPFlag(cmd *cobra.Command, at *string) {
	flags := cmd.Flags()
	flags.StringVar(at, "http", "", "serve HTTP as well, to this machine alone; without an address at a port that is free, "+
		"which "+portFileName+" in the state folder tells, with the token")
	flags.Lookup("http").NoOptDefVal = anyPort
	noFiles(cmd, "http")
}

// address gives where to serve HTTP, or nil.
func (f serveFlags) address() (*web.Address, error) {
	if f.http == "" {
		return nil, nil
	}
	at, err := web.ParseAddress(f.http)
	if err != nil {
		return nil, fmt.Errorf("--http %w", err)
	}
	return &at, nil
}

// An httpDoor is the front door for HTTP beside the conversation with the host.
type httpDoor struct {
	file   *portFile
	serves *group // nil if nobody listens
}

// openHTTP opens the front door. An address that is in use costs only this door: the host is served all the same,
// and the status says what is missing.
func (a *app) openHTTP(at *web.Address, service *api.Service, table *api.Table, b *backend) *httpDoor {
	d := &httpDoor{}
	if at == nil {
		return d
	}
	listener, err := at.Listen(context.Background())
	if err != nil {
		b.logger.Warn("HTTP is not served", "cause", err)
		b.degrade(fmt.Sprintf("HTTP is not served: %v", err))
		return d
	}
	token := web.NewToken()
	d.file = &portFile{URL: web.URL(listener), Token: token, PID: os.Getpid(), backend: b}
	b.found = d.file.put
	if ws, err := workspace.Resolve(a.sources()); err == nil {
		d.file.put(ws) // initialize may name another one; then the file goes there
	}
	d.serve(web.Options{
		Listener: listener, Table: table, Subscribe: service.Subscribe, Token: token, Counts: b.counts, Page: a.page, Logger: b.logger,
	})
	return d
}

func (d *httpDoor) serve(o web.Options) {
	d.serves = newGroup()
	d.serves.run(func(ctx context.Context) {
		if err := web.Serve(ctx, o); err != nil {
			o.Logger.Error("HTTP is not served any more", "cause", err)
		}
	})
}

// close takes the file away, so that nobody comes any more, and lets those go who are there.
func (d *httpDoor) close() {
	if d.serves == nil {
		return
	}
	d.file.remove()
	d.serves.stop()
}

// degrade notes what a person should know.
func (b *backend) degrade(said string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.degraded = append(b.degraded, said)
}

// A portFile tells programs of this user where the front door is. Of several processes of a workspace, it is that
// of the last that opened one.
type portFile struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	PID   int    `json:"pid"`

	backend *backend

	mu   sync.Mutex // guards what follows
	path string     // where it is, "" if it is nowhere
	gone bool       // it is not to be put anywhere any more
}

// put puts the file into the state folder of a workspace, and takes it away from where it was.
func (p *portFile) put(ws workspace.Workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	path, err := p.place(ws)
	if p.gone || err == nil && path == p.path {
		return
	}
	p.take()
	if err == nil {
		err = p.write(path)
	}
	if err != nil {
		p.backend.logger.Warn("nobody can find the front door", "cause", err)
		p.backend.degrade(fmt.Sprintf("%s could not be written, so that nobody knows the token: %v", portFileName, err))
		return
	}
	p.path = path
}

// place gives the path of the file, for which it makes the state folder.
func (p *portFile) place(ws workspace.Workspace) (string, error) {
	path, err := portPath(p.backend.store, ws)
	if err == nil && ws.StateDir != "" {
		err = ws.EnsureStateDir()
	}
	return path, err
}

// portPath gives the path of the file in the state folder, or beside the store if there is none.
func portPath(storeFlag string, ws workspace.Workspace) (string, error) {
	if ws.StateDir != "" {
		return filepath.Join(ws.StateDir, portFileName), nil
	}
	store, err := storePath(storeFlag, ws)
	return filepath.Join(filepath.Dir(store), portFileName), err
}

// write replaces the file as a whole, so that who reads it at the same time sees one or the other.
func (p *portFile) write(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), portFileName+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(p.text())
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (p *portFile) text() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // it is two strings and a number
	}
	return append(text, '\n')
}

// remove takes the file away for good.
func (p *portFile) remove() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	p.take()
}

// take takes the file away, unless it is another's by now; the caller holds mu.
func (p *portFile) take() {
	if p.path == "" {
		return
	}
	if text, err := os.ReadFile(p.path); err == nil && bytes.Equal(text, p.text()) {
		_ = os.Remove(p.path) // what stays is overwritten by the next one
	}
	p.path = ""
}

package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"waybill/api"
	"waybill/engine/workspace"
	"waybill/web"
)

// anyPort is where --http listens if it does not say where.
const anyPort = "127.0.0.1:0"

func addHTTPFlag(cmd *cobra.Command, at *string) {
	flags := cmd.Flags()
	flags.StringVar(at, "http", "", "serve HTTP as well, to this machine alone; without an address at a port that is free, "+
		"which "+portFileName+" in the state folder tells, with the token")
	flags.Lookup("http").NoOptDefVal = anyPort
	noFiles(cmd, "http")
}

// address gives where to serve HTTP, or nil.
func (f hostFlags) address() (*web.Address, error) {
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
	d.file = &portFile{backend: b, door: knock{URL: web.URL(listener), Token: token, PID: os.Getpid()}}
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

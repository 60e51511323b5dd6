package serve

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"waybill/api"
	"waybill/cli/backend"
	"waybill/cli/endpoint"
	"waybill/cli/inboxes"
	"waybill/cli/program"
	"waybill/engine/workspace"
	"waybill/web"
)

// anyPort is the address of --http without a value.
const anyPort = "127.0.0.1:0"

func addHTTPFlag(cmd *cobra.Command, at *string) {
	flags := cmd.Flags()
	flags.StringVar(at, "http", "", "serve HTTP as well, to this machine alone; without an address at a port that is free, "+
		"which "+endpoint.FileName+" in the state folder tells, with the token")
	flags.Lookup("http").NoOptDefVal = anyPort
	program.NoFiles(cmd, "http")
}

// address returns where to serve HTTP, or nil.
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

// An httpServer serves HTTP during the conversation with the host.
type httpServer struct {
	file   *endpoint.OwnFile
	serves *backend.Group // nil if HTTP is not served
	all    *inboxes.Server
}

// openHTTP opens the front door. If its address is in use, only this door is missing: the host is still served, and the
// status reports the fault.
func (a commands) openHTTP(at *web.Address, here bool, service *api.Service, table *api.Table, b *backend.Backend) *httpServer {
	d := &httpServer{}
	if at == nil {
		return d
	}
	listener, err := at.Listen(context.Background())
	if err != nil {
		b.Logger.Warn("HTTP is not served", "cause", err)
		b.Degrade(fmt.Sprintf("HTTP is not served: %v", err))
		return d
	}
	token := web.NewToken()
	d.file = &endpoint.OwnFile{Backend: b, Door: endpoint.Endpoint{URL: web.URL(listener), Token: token, PID: os.Getpid()}}
	d.all = inboxes.NewServer(a.App, here)
	b.Found = func(ws workspace.Workspace) {
		d.file.Put(ws)
		d.all.Found(ws)
	}
	if ws, err := workspace.Resolve(a.Sources()); err == nil {
		b.Found(ws) // initialize may name another one; then the file goes there
	}
	d.serve(web.Options{
		Listener: listener, Table: table, Subscribe: service.Subscribe, Token: token, Workspaces: d.all,
		Counts: b.Counts, Page: filesOfThePage(), Logger: b.Logger,
	})
	return d
}

func (d *httpServer) serve(o web.Options) {
	d.serves = backend.NewGroup()
	d.serves.Run(func(ctx context.Context) {
		if err := web.Serve(ctx, o); err != nil {
			o.Logger.Error("HTTP ended", "cause", err)
		}
	})
}

// close removes the endpoint file, so that no client comes any more, and ends the open connections.
func (d *httpServer) close() {
	if d.serves == nil {
		return
	}
	d.file.Remove()
	d.serves.Stop()
	d.all.Close()
}

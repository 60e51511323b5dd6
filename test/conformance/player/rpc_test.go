package player_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"waybill/api"
	"waybill/engine"
	"waybill/engine/resultfile"
	"waybill/engine/workspace"
	planfile "waybill/plan/file"
	"waybill/rpc"
	"waybill/schema"
	"waybill/store"
	"waybill/test/conformance"
	"waybill/test/conformance/player"
	"waybill/test/teststore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds each conversation. No test passes or fails by how fast it is.
const patience = 2 * time.Minute

// conversations returns every conversation of the kit that is for this door.
func conversations(t *testing.T) []*conformance.Conversation {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/conformance/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var all []*conformance.Conversation
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		c, err := conformance.Parse(strings.TrimSuffix(filepath.Base(file), ".txtar"), data)
		require.NoError(t, err)
		if c.For("rpc") {
			all = append(all, c)
		}
	}
	return all
}

// Every conversation is held with the front door for JSON-RPC.
func TestConversationsOverRPC(t *testing.T) {
	for _, c := range conversations(t) {
		for _, framing := range c.Framings {
			t.Run(c.Name+"/"+framing, func(t *testing.T) {
				t.Parallel()
				require.NoError(t, play(t, c, framing))
			})
		}
	}
}

func play(t *testing.T, c *conformance.Conversation, framing string) error {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d := &door{t: t, dir: t.TempDir(), store: teststore.New(t)}
	if c.Workspace {
		d.sources.Flag = d.dir
	}
	return player.Play(ctx, c, player.Options{Dir: d.dir, Framing: framing, Open: d.open})
}

// A door opens servers on one workspace and one store, one after the other.
type door struct {
	t       *testing.T
	dir     string
	store   store.Store
	sources workspace.Sources
}

func (d *door) open(ctx context.Context) (*player.Peer, error) {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	service, err := api.New(api.Options{Sources: d.sources, Start: func(ws workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
		return d.engine(ctx, &running, ws)
	}})
	if err != nil {
		stop()
		return nil, err
	}
	serverIn, in := io.Pipe()
	out, serverOut := io.Pipe()
	ended := make(chan int, 1)
	go func() { // ends with the conversation, or with ctx
		code, err := rpc.Serve(ctx, rpc.Options{In: serverIn, Out: serverOut, Table: service.Table(), Notify: service.Notify})
		if err != nil {
			d.t.Error(err)
		}
		stop()
		running.Wait()
		ended <- code
	}()
	return &player.Peer{In: in, Out: out, Wait: func() (int, error) { return <-ended, nil }}, nil
}

// engine starts an engine that ends with ctx.
func (d *door) engine(ctx context.Context, running *sync.WaitGroup, ws workspace.Workspace) (*engine.Engine, *engine.Plans, error) {
	root, err := planfile.Open(ws.Root, planfile.Options{Folders: true})
	if err != nil {
		return nil, nil, err
	}
	plans := engine.NewPlans(root, engine.PlanOptions{})
	e, err := engine.New(engine.Options{
		Open:  func(context.Context) (store.Store, error) { return d.store, nil },
		Plans: plans, MaxPending: schema.MaxPending, Outputs: resultfile.Folders{Workspace: ws.Root},
	})
	if err != nil {
		return nil, nil, err
	}
	running.Go(func() {
		if err := e.Run(ctx); err != nil {
			d.t.Error(err)
		}
		_ = root.Close()
	})
	return e, plans, nil
}

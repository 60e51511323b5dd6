package web

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"waybill/api"
	"waybill/schema"
	"waybill/schema/codec"
)

// Workspaces reaches all workspaces of a person. Its methods may be called at the same time.
type Workspaces interface {
	// Inbox returns what waits for the person, ready to encode. It waits for no disk that hangs.
	Inbox(ctx context.Context) (any, error)
	// Looked notes that the person has seen an inbox that was read at this time.
	Looked(ctx context.Context, readAt time.Time) error
	// Call carries out a method in the workspace with this id. It may block for as long as the disk of the workspace does.
	Call(ctx context.Context, workspace, method string, params []byte) api.Answer
	// Watch returns a channel of size 1 that is signalled when the inbox may have changed, until stop is called.
	Watch() (wake <-chan struct{}, stop func())
}

// workspacePaths is before the id of a workspace, in paths to the methods of that workspace.
const workspacePaths = "/api/workspaces/"

// splitWorkspace returns the id of the workspace that a path names, and the path of the method in it.
func splitWorkspace(path string) (id, method string) {
	rest, named := strings.CutPrefix(path, workspacePaths)
	id, method, whole := strings.Cut(rest, "/")
	if !named || !whole || id == "" {
		return "", path
	}
	return id, "/api/" + method
}

// elsewhere returns the entry of a method that is carried out in another workspace. A disk that hangs holds only the
// goroutine of the call.
func (s *server) elsewhere(workspace string, entry *api.Entry) *api.Entry {
	away := *entry
	away.Start = func(ctx context.Context, params []byte, done func(api.Answer)) {
		go func() { // ends when the workspace has answered
			defer func() {
				if p := recover(); p != nil {
					done(defectAnswer(fmt.Errorf("panic: %v\n%s", p, debug.Stack())))
				}
			}()
			done(s.workspaces.Call(ctx, workspace, entry.Name, params))
		}()
	}
	return &away
}

// inbox answers with what waits for the person.
func (s *server) inbox(req *request) {
	req.clearReadDeadline()
	ctx, cancel := context.WithTimeout(req.r.Context(), callTimeout)
	defer cancel()
	all, err := s.workspaces.Inbox(ctx)
	var body []byte
	if err == nil {
		body, err = codec.Encode(all)
	}
	if err != nil {
		req.refuse(encodable(api.Fault(err)))
		return
	}
	req.send(http.StatusOK, body)
}

// lookedParams are the params of POST /api/inbox/looked.
type lookedParams struct {
	ReadAt schema.Time `json:"read_at" schema:"required"` // of the inbox that was seen
}

// looked notes that the person has seen an inbox.
func (s *server) looked(req *request) {
	body, fault := s.readBody(req)
	var p lookedParams
	if fault == nil {
		fault = codec.Decode(body, &p)
	}
	if fault == nil {
		fault = s.noteLook(req.r.Context(), p.ReadAt)
	}
	if fault != nil {
		req.refuse(encodable(fault))
		return
	}
	req.write(http.StatusOK, struct{}{})
}

func (s *server) noteLook(ctx context.Context, readAt schema.Time) *schema.Error {
	at, err := time.Parse(time.RFC3339Nano, string(readAt))
	if err != nil {
		return schema.NewError(schema.InvalidParams, "read_at must be a time as in the inbox")
	}
	if err := s.workspaces.Looked(ctx, at); err != nil {
		return api.Fault(err)
	}
	return nil
}

// watchInbox returns a channel that is signalled when the inbox may have changed, which without workspaces is never.
func (s *server) watchInbox() (wake <-chan struct{}, stop func()) {
	if s.workspaces == nil {
		return nil, func() {}
	}
	return s.workspaces.Watch()
}

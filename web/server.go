package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"waybill/schema"
	"waybill/schema/codec"
)

// A server answers the requests of one listener.
type server struct {
	log        *slog.Logger
	auth       *auth
	conns      *connLimiter
	calls      caller
	streams    *streams
	metrics    *metrics
	readiness  *readiness
	routes     []route
	page       map[string]*route
	workspaces Workspaces      // nil without the inbox and other workspaces
	hosts      []string        // accepted values of Host
	shutdown   <-chan struct{} // closed when streams must end

	mu       sync.RWMutex   // guards closed, and that inFlight grows only before it is set
	closed   bool           // new requests are refused
	inFlight sync.WaitGroup // requests, and the reader of the log
}

// ServeHTTP answers a request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	connOf(r).parsed.Store(true)
	setSecurityHeaders(w.Header())
	req := &request{w: w, r: r}
	if r.TransferEncoding != nil {
		// The head may also have a Content-Length, which net/http hides. Closing the connection keeps the bytes after the
		// body from being read as a second request.
		w.Header().Set("Connection", "close")
	}
	if !s.begin() {
		w.Header().Set("Connection", "close")
		req.refuse(shuttingDown())
		return
	}
	defer s.inFlight.Done()
	if fault := s.admit(req); fault != nil {
		s.metrics.reject(fault.Data.Code)
		req.refuse(fault)
		return
	}
	if req.route.handle != nil {
		req.route.handle(s, req)
		return
	}
	s.callMethod(req)
}

// admit checks a request in the order of the package comment.
func (s *server) admit(req *request) *schema.Error {
	for _, check := range []func(*request) *schema.Error{s.checkHost, s.checkRoute, checkBody, checkOrigin, s.checkToken} {
		if fault := check(req); fault != nil {
			return fault
		}
	}
	return nil
}

// checkHost refuses a request for another host. A web site can make its name point to this machine. The browser then
// treats waybill as part of that site, and only Host reveals it.
func (s *server) checkHost(req *request) *schema.Error {
	if slices.Contains(s.hosts, req.r.Host) {
		return nil
	}
	return schema.NewError(schema.Forbidden, "the request is meant for another host").
		Hint("use the url of http.json")
}

func (s *server) checkRoute(req *request) (fault *schema.Error) {
	req.route, fault = s.fileRoute(req.r.Method, req.r.URL.EscapedPath())
	if req.route == nil && fault == nil {
		var path string
		req.workspace, path = splitWorkspace(req.r.URL.EscapedPath())
		req.route, req.args, fault = find(s.routes, req.r.Method, path)
	}
	if fault == nil && s.workspaces == nil && (req.workspace != "" || req.route.everywhere) ||
		fault == nil && req.workspace != "" && req.route.method == "" {
		return nothingThere()
	}
	if fault != nil && fault.Data.Code == schema.WrongVerb {
		allow, _ := fault.Data.Details["allow"].([]string)
		req.w.Header().Set("Allow", strings.Join(allow, ", "))
	}
	return fault
}

// checkBody refuses a body without the content type of JSON. The form of a web site cannot set that type, and a browser
// lets a script set it only after a preflight request, which fails.
func checkBody(req *request) *schema.Error {
	h := req.r.Header
	switch {
	case !req.route.takesBody() && req.r.ContentLength != 0:
		return schema.NewError(schema.InvalidRequest, "a GET has no body; params are in the query")
	case h.Values("Content-Encoding") != nil:
		return schema.NewError(schema.WrongMedia, "a body must not be compressed; leave Content-Encoding out")
	case req.route.takesBody() && !isJSON(h.Values("Content-Type")):
		return schema.NewError(schema.WrongMedia, "a body must be sent with Content-Type: application/json, also an empty one")
	case req.r.ContentLength > maxBodyBytes:
		return tooLarge()
	}
	return nil
}

func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	media, params, err := mime.ParseMediaType(values[0])
	charset := params["charset"]
	return err == nil && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

// checkOrigin refuses reads and writes by pages of another origin, which includes another port. The exception is a link
// that opens the page itself: the page holds no data, and the origin of the link cannot read it.
func checkOrigin(req *request) *schema.Error {
	for _, origin := range req.r.Header.Values("Origin") {
		if origin != "http://"+req.r.Host {
			return otherOrigin()
		}
	}
	for _, site := range req.r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" && !(req.route.page && isNavigation(req.r.Header)) {
			return otherOrigin()
		}
	}
	return nil
}

// isNavigation reports whether a browser opens the answer as a page, and not inside another page.
func isNavigation(h http.Header) bool {
	return slices.Equal(h.Values("Sec-Fetch-Mode"), []string{"navigate"}) && slices.Equal(h.Values("Sec-Fetch-Dest"), []string{"document"})
}

func otherOrigin() *schema.Error {
	return schema.NewError(schema.Forbidden, "the request comes from a page of another origin")
}

func (s *server) checkToken(req *request) *schema.Error {
	shown := req.r.Header.Values("Authorization")
	switch {
	case req.route.open:
		return nil
	case len(shown) == 1 && s.auth.accepts(shown[0]):
		if s.conns.authorize(connOf(req.r)) {
			return nil
		}
		req.w.Header().Set("Connection", "close")
		return overloaded(fmt.Sprintf("%d connections with a token are being answered", maxConnections))
	}
	return s.unauthorized("the request has no valid token; send Authorization: Bearer with the token of http.json")
}

// unauthorized returns the error for a wrong token or code, which is OVERLOADED after too many of them.
func (s *server) unauthorized(message string) *schema.Error {
	if s.auth.tooManyFailures(time.Now()) {
		return overloaded("too many requests without the right token")
	}
	return schema.NewError(schema.Unauthorized, message)
}

// callMethod calls the method of the request's route and answers with its result.
func (s *server) callMethod(req *request) {
	entry, ok := s.calls.table.Entry(req.route.method)
	if !ok {
		req.refuse(schema.NewError(schema.MethodNotFound, "there is no method "+req.route.method))
		return
	}
	params, fault := s.params(req, entry.Method)
	if fault != nil {
		req.refuse(fault)
		return
	}
	ctx, cancel := context.WithTimeout(req.r.Context(), callTimeout)
	defer cancel()
	if req.workspace != "" {
		entry = s.elsewhere(req.workspace, entry)
	}
	a := s.calls.answer(ctx, entry, params)
	if a.Err == nil {
		body, err := codec.Encode(a.Result)
		if err == nil {
			req.send(http.StatusOK, body)
			return
		}
		a = s.calls.withIncident(defectAnswer(err), entry.Name)
	}
	req.refuse(encodable(a.Err))
}

// params returns the params of a request, from its path and its query or body.
func (s *server) params(req *request, m schema.Method) ([]byte, *schema.Error) {
	if !req.route.takesBody() {
		req.clearReadDeadline()
		return paramsOfQuery(m.Params, object{text: []byte(req.route.fixed)}, req.args, req.r.URL.RawQuery)
	}
	if req.r.URL.RawQuery != "" {
		return nil, schema.NewError(schema.InvalidParams, "a POST has its params in the body, and no query")
	}
	body, fault := s.readBody(req)
	if fault != nil {
		return nil, fault
	}
	more := object{text: []byte(req.route.fixed)}
	for _, a := range req.args {
		more.add(a.name, a.value)
	}
	if m.Kind == schema.Change {
		for _, key := range req.r.Header.Values("Idempotency-Key") {
			more.add("idempotency_key", strings.Trim(key, `"`)) // may be quoted, as in the draft of the header
		}
	}
	return paramsOfBody(body, more)
}

// readBody reads the body of an admitted request. While it waits, the connection may be closed for another one.
func (s *server) readBody(req *request) ([]byte, *schema.Error) {
	came := s.conns.awaitBody(connOf(req.r))
	defer came()
	body, err := io.ReadAll(http.MaxBytesReader(req.w, req.r.Body, maxBodyBytes))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge()
	}
	if err != nil {
		return nil, cancelled("the body was incomplete or too slow")
	}
	req.bodyRead = true
	req.clearReadDeadline()
	return body, nil
}

// maxBodyBytes limits the body of a request.
const maxBodyBytes = 128 << 10

func tooLarge() *schema.Error {
	return schema.NewError(schema.TooLarge, "the body is over its limit").With("limit", maxBodyBytes)
}

// begin counts a request, unless the server shuts down. The caller must call s.inFlight.Done.
func (s *server) begin() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return false
	}
	s.inFlight.Add(1)
	return true
}

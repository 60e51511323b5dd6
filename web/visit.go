package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"waybill/schema"
)

// A visit is a request on its way.
type visit struct {
	w     http.ResponseWriter
	r     *http.Request
	route *route // nil until it was found
	args  []arg  // of the path
	read  bool   // the body was read
}

// ServeHTTP answers a request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guestOf(r).heard.Store(true)
	harden(w.Header())
	v := &visit{w: w, r: r}
	if r.TransferEncoding != nil {
		// The head may have said another length as well, which the library does not tell. What is behind the
		// body is not to be taken for a request then.
		w.Header().Set("Connection", "close")
	}
	if !s.enter() {
		w.Header().Set("Connection", "close")
		v.refuse(leaving())
		return
	}
	defer s.inHand.Done()
	if fault := s.admit(v); fault != nil {
		s.counted.reject(fault.Data.Code)
		v.refuse(fault)
		return
	}
	if v.route.do != nil {
		v.route.do(s, v)
		return
	}
	s.carry(v)
}

// admit checks a request, in the order that the package comment gives.
func (s *server) admit(v *visit) *schema.Error {
	for _, check := range []func(*visit) *schema.Error{s.checkHost, s.checkRoute, checkBody, checkOrigin, s.checkToken} {
		if fault := check(v); fault != nil {
			return fault
		}
	}
	return nil
}

// checkHost refuses what was meant for somebody else: the name of a web site that was made to point to this
// machine. For such a page the browser takes us for its own site, so nothing else of the request would tell.
func (s *server) checkHost(v *visit) *schema.Error {
	if slices.Contains(s.hosts, v.r.Host) {
		return nil
	}
	return schema.NewError(schema.Forbidden, "the request is meant for another host").
		Hint("use the url of http.json")
}

func (s *server) checkRoute(v *visit) (fault *schema.Error) {
	v.route, fault = s.toFile(v.r.Method, v.r.URL.EscapedPath())
	if v.route == nil && fault == nil {
		v.route, v.args, fault = find(v.r.Method, v.r.URL)
	}
	if fault != nil && fault.Data.Code == schema.WrongVerb {
		allow, _ := fault.Data.Details["allow"].([]string)
		v.w.Header().Set("Allow", strings.Join(allow, ", "))
	}
	return fault
}

// checkBody refuses a body that does not say that it is JSON. A form of a web site cannot say so, and a script of
// one is stopped by its browser, which asks us first and gets no leave.
func checkBody(v *visit) *schema.Error {
	h := v.r.Header
	switch {
	case !v.route.takesBody() && v.r.ContentLength != 0:
		return schema.NewError(schema.InvalidRequest, "a GET has no body; params are in the query")
	case h.Values("Content-Encoding") != nil:
		return schema.NewError(schema.WrongMedia, "a body must not be compressed; leave Content-Encoding out")
	case v.route.takesBody() && !saysJSON(h.Values("Content-Type")):
		return schema.NewError(schema.WrongMedia, "a body must be sent with Content-Type: application/json, also an empty one")
	case v.r.ContentLength > maxBodyBytes:
		return tooLarge()
	}
	return nil
}

func saysJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	media, params, err := mime.ParseMediaType(values[0])
	charset := params["charset"]
	return err == nil && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

func tooLarge() *schema.Error {
	return schema.NewError(schema.TooLarge, "the body is over its limit").With("limit", maxBodyBytes)
}

// checkOrigin refuses what a page of another origin sent. Pages of another port are of another origin, and of the
// same site, which is why nothing here relies on cookies. Reading is refused like writing. That a link or a file leads
// a person to the page is none of that: the page holds nothing, and whoever sent them there cannot read it.
func checkOrigin(v *visit) *schema.Error {
	for _, origin := range v.r.Header.Values("Origin") {
		if origin != "http://"+v.r.Host {
			return foreign()
		}
	}
	for _, site := range v.r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" && !(v.route.shell && navigates(v.r.Header)) {
			return foreign()
		}
	}
	return nil
}

// navigates reports whether a browser is to show the answer as a page of its own, and not within another one.
func navigates(h http.Header) bool {
	return slices.Equal(h.Values("Sec-Fetch-Mode"), []string{"navigate"}) && slices.Equal(h.Values("Sec-Fetch-Dest"), []string{"document"})
}

func foreign() *schema.Error {
	return schema.NewError(schema.Forbidden, "the request comes from a page of another origin")
}

func (s *server) checkToken(v *visit) *schema.Error {
	shown := v.r.Header.Values("Authorization")
	if v.route.open || len(shown) == 1 && s.pass.bears(shown[0]) {
		return nil
	}
	return s.unproven("the request does not carry a token that counts; send Authorization: Bearer with the token of http.json")
}

// unproven refuses a wrong proof, or says to wait if there were too many.
func (s *server) unproven(message string) *schema.Error {
	if s.pass.failed(time.Now()) {
		return overloaded("too many requests without the right token")
	}
	return schema.NewError(schema.Unauthorized, message)
}

// body reads the body of a request that may come in. One that is slow to come keeps nobody out.
func (s *server) body(v *visit) ([]byte, *schema.Error) {
	came := s.crowd.awaits(guestOf(v.r))
	defer came()
	body, err := io.ReadAll(http.MaxBytesReader(v.w, v.r.Body, maxBodyBytes))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge()
	}
	if err != nil {
		return nil, cancelled("the body did not come whole, or not in time")
	}
	v.read = true
	v.patient()
	return body, nil
}

// patient takes the time limit off that was for reading the request: how long the answer takes is bounded elsewhere.
func (v *visit) patient() {
	_ = http.NewResponseController(v.w).SetReadDeadline(time.Time{}) // fails on a connection that is broken anyway
}

// write answers.
func (v *visit) write(status int, result any) {
	body, err := schema.Encode(result)
	if err != nil {
		panic(err) // who has a result that may not be fit to be sent encodes it
	}
	v.send(status, body)
}

func (v *visit) send(status int, body []byte) {
	v.w.Header().Set("Content-Type", "application/json")
	_ = http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(writeTime))
	v.w.WriteHeader(status)
	_, _ = v.w.Write(append(body, '\n')) // a client that is gone wants no answer
}

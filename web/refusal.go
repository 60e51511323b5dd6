package web

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"waybill/api"
	"waybill/schema"
	"waybill/schema/codec"
)

// A refusal is the body of every error answer.
type refusal struct {
	Error *schema.Error `json:"error"`
}

// statuses maps error codes whose number does not begin with their HTTP status.
var statuses = map[schema.Code]int{
	schema.MethodNotFound:  http.StatusNotFound,
	schema.MessageTooLarge: http.StatusRequestEntityTooLarge,
	schema.Internal:        http.StatusInternalServerError,
	schema.Cancelled:       http.StatusServiceUnavailable,
	schema.InvalidState:    http.StatusConflict,
	schema.BadVersion:      http.StatusBadRequest,
	schema.StoreIO:         http.StatusServiceUnavailable,
	schema.StoreReadOnly:   http.StatusServiceUnavailable,
	schema.StoreNewer:      http.StatusServiceUnavailable,
	schema.StoreBusy:       http.StatusServiceUnavailable,
	schema.StoreCorrupt:    http.StatusServiceUnavailable,
	schema.StoreLost:       http.StatusServiceUnavailable,
	schema.StoreUnsafe:     http.StatusServiceUnavailable,
}

// statusOf returns the HTTP status of an error code.
func statusOf(code schema.Code) int {
	number := schema.ErrorNumber(code)
	if status, ok := statuses[code]; ok {
		return status
	}
	if number < 0 {
		return http.StatusBadRequest
	}
	return number / 10
}

// contentSecurityPolicy lets a page run only files of this server.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// securityHeaders are set on every answer.
var securityHeaders = [][2]string{
	{"Cache-Control", "no-store"},
	{"Content-Security-Policy", contentSecurityPolicy},
	{"Cross-Origin-Embedder-Policy", "require-corp"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy", "camera=(), clipboard-read=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"},
	{"Referrer-Policy", "no-referrer"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
}

func setSecurityHeaders(h http.Header) {
	for _, header := range securityHeaders {
		h.Set(header[0], header[1])
	}
}

// refuse answers a request with an error and does not read the rest of its body.
func (req *request) refuse(fault *schema.Error) {
	h := req.w.Header()
	if req.r.ContentLength != 0 && !req.bodyRead {
		h.Set("Connection", "close")
	}
	if fault.Data.RetryAfterMS > 0 {
		h.Set("Retry-After", strconv.Itoa((fault.Data.RetryAfterMS+999)/1000))
	}
	if fault.Data.Code == schema.Unauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	req.write(statusOf(fault.Data.Code), refusal{fault})
}

// rawAnswer returns a complete HTTP answer for a connection without a parsed request.
func rawAnswer(status int, fault *schema.Error) []byte {
	body, err := codec.Encode(refusal{fault})
	if err != nil {
		panic(err) // its texts are constants
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	for _, header := range securityHeaders {
		fmt.Fprintf(&b, "%s: %s\r\n", header[0], header[1])
	}
	fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
	return b.Bytes()
}

// rewriteRefusal turns a refusal that net/http has written into a JSON answer.
func rewriteRefusal(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\r\n"))
	word, reason, _ := strings.Cut(strings.TrimPrefix(string(line), "HTTP/1.1 "), " ")
	status, err := strconv.Atoi(word)
	if err != nil {
		return text
	}
	code := schema.InvalidRequest
	if status == http.StatusRequestHeaderFieldsTooLarge {
		code = schema.MessageTooLarge
	}
	return rawAnswer(status, schema.NewError(code, "the request cannot be read: "+strings.ToValidUTF8(reason, "?")))
}

func overloaded(message string) *schema.Error {
	fault := schema.NewError(schema.Overloaded, message)
	fault.Data.RetryAfterMS = 1000
	return fault
}

func shuttingDown() *schema.Error {
	return schema.NewError(schema.ShuttingDown, "waybill is shutting down and accepts no new requests").
		Hint("start a new process")
}

func cancelled(message string) *schema.Error { return schema.NewError(schema.Cancelled, message) }

// withIncident adds an incident id to an INTERNAL answer and logs its cause.
func (s *server) withIncident(a api.Answer, method string) api.Answer {
	if a.Err == nil || a.Err.Data.Code != schema.Internal || a.Err.Data.Incident != "" {
		return a
	}
	e := *a.Err
	e.Data.Incident = "inc_" + strings.ToLower(rand.Text()[:12])
	s.log.Error("a method failed", "method", method, "incident", e.Data.Incident, "cause", a.Cause)
	a.Err = &e
	return a
}

// defectAnswer returns an INTERNAL answer.
func defectAnswer(cause error) api.Answer {
	return api.Answer{
		Err: schema.NewError(schema.Internal, "the call failed; this is a defect of waybill").
			Hint("look for the incident in the log of waybill"),
		Cause: cause,
	}
}

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
)

// A refusal is the body of every answer that is not a success.
type refusal struct {
	Error *schema.Error `json:"error"`
}

// statuses are those of the errors whose numbers do not begin with one, or with one that HTTP means otherwise.
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

// statusOf gives the status of an error. The number of an error of the domain begins with it.
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

// policy lets a page run what comes from here as a file, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// always are the headers of every answer.
var always = [][2]string{
	{"Cache-Control", "no-store"},
	{"Content-Security-Policy", policy},
	{"Cross-Origin-Embedder-Policy", "require-corp"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy", "camera=(), clipboard-read=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"},
	{"Referrer-Policy", "no-referrer"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
}

func harden(h http.Header) {
	for _, header := range always {
		h.Set(header[0], header[1])
	}
}

// refuse answers a request with an error. What is left of its body is not read.
func (v *visit) refuse(fault *schema.Error) {
	h := v.w.Header()
	if v.r.ContentLength != 0 && !v.read {
		h.Set("Connection", "close")
	}
	if fault.Data.RetryAfterMS > 0 {
		h.Set("Retry-After", strconv.Itoa((fault.Data.RetryAfterMS+999)/1000))
	}
	if fault.Data.Code == schema.Unauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	v.write(statusOf(fault.Data.Code), refusal{fault})
}

// alone gives a whole answer for a connection that no request was read from.
func alone(status int, fault *schema.Error) []byte {
	body, err := schema.Encode(refusal{fault})
	if err != nil {
		panic(err) // it has no text but ours
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	for _, header := range always {
		fmt.Fprintf(&b, "%s: %s\r\n", header[0], header[1])
	}
	fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
	return b.Bytes()
}

// crowded is said to whom there is no room for.
func crowded() []byte {
	fault := overloaded(fmt.Sprintf("%d connections are being answered", maxConnections))
	return alone(statusOf(fault.Data.Code), fault)
}

// reworded gives what the library says of a request that it cannot read, in our words.
func reworded(text []byte) []byte {
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
	return alone(status, schema.NewError(code, "the request cannot be read: "+strings.ToValidUTF8(reason, "?")))
}

func overloaded(message string) *schema.Error {
	fault := schema.NewError(schema.Overloaded, message)
	fault.Data.RetryAfterMS = 1000
	return fault
}

func leaving() *schema.Error {
	return schema.NewError(schema.ShuttingDown, "waybill is on its way out; nothing new is accepted").
		Hint("start a new process")
}

func cancelled(message string) *schema.Error { return schema.NewError(schema.Cancelled, message) }

// explained completes an INTERNAL answer: it gets an incident, and its cause goes to the log.
func (s *server) explained(a api.Answer, method string) api.Answer {
	if a.Err == nil || a.Err.Data.Code != schema.Internal || a.Err.Data.Incident != "" {
		return a
	}
	e := *a.Err
	e.Data.Incident = "inc_" + strings.ToLower(rand.Text()[:12])
	s.log.Error("a method failed", "method", method, "incident", e.Data.Incident, "cause", a.Cause)
	a.Err = &e
	return a
}

// broken is an answer about a defect.
func broken(cause error) api.Answer {
	return api.Answer{
		Err: schema.NewError(schema.Internal, "the call failed; this is a defect of waybill").
			Hint("look for the incident in the log of waybill"),
		Cause: cause,
	}
}

package web

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"waybill/internal/lazy"
	"waybill/schema"
	"waybill/schema/codec"
)

// A refusal is the body of every error answer.
type refusal struct {
	Error *schema.Error `json:"error"`
}

// statuses maps error codes whose number does not begin with their HTTP status.
var statuses = lazy.Value[map[schema.Code]int]{Of: func() map[schema.Code]int {
	return map[schema.Code]int{
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
}}

// statusOf returns the HTTP status of an error code.
func statusOf(code schema.Code) int {
	number := schema.ErrorNumber(code)
	if status, ok := statuses.Get()[code]; ok {
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

// encodable returns the error with invalid UTF-8 in its message replaced.
func encodable(fault *schema.Error) *schema.Error {
	if _, err := codec.Encode(fault); err == nil {
		return fault
	}
	copied := schema.NewError(fault.Data.Code, strings.ToValidUTF8(fault.Message, "\uFFFD"))
	copied.Data.Outcome, copied.Data.Incident = fault.Data.Outcome, fault.Data.Incident
	return copied
}

package web

import (
	"net/http"
	"strconv"
	"time"

	"waybill/schema"
	"waybill/schema/codec"
)

// writeTimeout limits the writing of an answer, and of each part of a stream.
const writeTimeout = 10 * time.Second

// A request is an HTTP request and the state of its answer.
type request struct {
	w         http.ResponseWriter
	r         *http.Request
	route     *route      // nil before it is found
	args      []pathParam // of the path
	workspace string      // the id of another workspace, or ""
	bodyRead  bool        // readBody has read the body
}

// clearReadDeadline removes the time limit for reading the request. Other limits bound the answer.
func (req *request) clearReadDeadline() {
	_ = http.NewResponseController(req.w).SetReadDeadline(time.Time{}) // it fails only on a broken connection
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

// write answers with a result, which must be encodable.
func (req *request) write(status int, result any) {
	body, err := codec.Encode(result)
	if err != nil {
		panic(err) // callers with other results encode them first
	}
	req.send(status, body)
}

func (req *request) send(status int, body []byte) {
	req.w.Header().Set("Content-Type", "application/json")
	_ = http.NewResponseController(req.w).SetWriteDeadline(time.Now().Add(writeTimeout))
	req.w.WriteHeader(status)
	_, _ = req.w.Write(append(body, '\n')) // the client may be gone
}

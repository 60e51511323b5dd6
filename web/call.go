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

// callMethod calls the method of the request's route and answers with its result.
func (s *server) callMethod(req *request) {
	entry, ok := s.o.Table.Entry(req.route.method)
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
	a := s.call(ctx, entry, params)
	if a.Err == nil {
		body, err := codec.Encode(a.Result)
		if err == nil {
			req.send(http.StatusOK, body)
			return
		}
		a = s.withIncident(defectAnswer(err), entry.Name)
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

// call calls a method. If the store hangs, it returns an error with an unknown outcome instead of blocking.
func (s *server) call(ctx context.Context, entry *api.Entry, params []byte) (a api.Answer) {
	defer func() {
		if p := recover(); p != nil {
			a = defectAnswer(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
		a = s.withIncident(a, entry.Name)
	}()
	answers := make(chan api.Answer, 1)
	entry.Start(ctx, params, func(a api.Answer) { answers <- a })
	select {
	case a := <-answers:
		return a
	case <-ctx.Done():
	}
	late := time.NewTimer(lateAnswerTime)
	defer late.Stop()
	select {
	case a := <-answers: // the end of ctx ends the method
		return a
	case <-late.C:
		return api.Answer{Err: storeHangs()}
	}
}

// storeHangs returns the error for a call that does not end.
func storeHangs() *schema.Error {
	fault := schema.NewError(schema.StoreIO, "the store does not answer").
		Hint("repeat the call with the same idempotency_key: it takes effect once")
	fault.Data.Outcome = schema.OutcomeUnknown
	return fault
}

// encodable returns the error with invalid UTF-8 in its message replaced.
func encodable(fault *schema.Error) *schema.Error {
	if _, err := codec.Encode(fault); err == nil {
		return fault
	}
	copied := schema.NewError(fault.Data.Code, strings.ToValidUTF8(fault.Message, "\uFFFD"))
	copied.Data.Outcome, copied.Data.Incident = fault.Data.Outcome, fault.Data.Incident
	return copied
}

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
)

// carry carries the method of a route out.
func (s *server) carry(v *visit) {
	entry, ok := s.o.Table.Entry(v.route.method)
	if !ok {
		v.refuse(schema.NewError(schema.MethodNotFound, "there is no method "+v.route.method))
		return
	}
	params, fault := s.params(v, entry.Method)
	if fault != nil {
		v.refuse(fault)
		return
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), callTime)
	defer cancel()
	a := s.call(ctx, entry, params)
	if a.Err == nil {
		body, err := schema.Encode(a.Result)
		if err == nil {
			v.send(http.StatusOK, body)
			return
		}
		a = s.explained(broken(err), entry.Name)
	}
	v.refuse(fit(a.Err))
}

// params gathers the params of a request.
func (s *server) params(v *visit, m schema.Method) ([]byte, *schema.Error) {
	if !v.route.takesBody() {
		v.patient()
		return queried(m.Params, object{text: []byte(v.route.fixed)}, v.args, v.r.URL.RawQuery)
	}
	if v.r.URL.RawQuery != "" {
		return nil, schema.NewError(schema.InvalidParams, "a POST has its params in the body, and no query")
	}
	body, fault := s.body(v)
	if fault != nil {
		return nil, fault
	}
	more := object{text: []byte(v.route.fixed)}
	for _, a := range v.args {
		more.add(a.name, a.value)
	}
	if m.Kind == schema.Change {
		for _, key := range v.r.Header.Values("Idempotency-Key") {
			more.add("idempotency_key", strings.Trim(key, `"`)) // quoted, as the header's own draft has it, or plain
		}
	}
	return posted(body, more)
}

// call carries a method out. The answer may be that nobody knows: a store that hangs does not hold up who asks.
func (s *server) call(ctx context.Context, entry *api.Entry, params []byte) (a api.Answer) {
	defer func() {
		if p := recover(); p != nil {
			a = broken(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
		a = s.explained(a, entry.Name)
	}()
	answers := make(chan api.Answer, 1)
	entry.Start(ctx, params, func(a api.Answer) { answers <- a })
	select {
	case a := <-answers:
		return a
	case <-ctx.Done():
	}
	late := time.NewTimer(lateTime)
	defer late.Stop()
	select {
	case a := <-answers: // it was told to give up, or to hurry
		return a
	case <-late.C:
		return api.Answer{Err: hangs()}
	}
}

// hangs answers in place of a change that is neither carried out nor given up.
func hangs() *schema.Error {
	fault := schema.NewError(schema.StoreIO, "the store does not answer").
		Hint("repeat the call with the same idempotency_key: it takes effect once")
	fault.Data.Outcome = schema.OutcomeUnknown
	return fault
}

// fit gives an error that can be sent: one whose text is no UTF-8 keeps its code and its outcome.
func fit(fault *schema.Error) *schema.Error {
	if _, err := schema.Encode(fault); err == nil {
		return fault
	}
	plain := schema.NewError(fault.Data.Code, strings.ToValidUTF8(fault.Message, "\uFFFD"))
	plain.Data.Outcome, plain.Data.Incident = fault.Data.Outcome, fault.Data.Incident
	return plain
}

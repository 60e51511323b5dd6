package web

import (
	"net/http"
	"time"

	"waybill/schema"
	"waybill/schema/codec"
)

// loginParams are the params of POST /api/login, which a page sends that was opened with a code.
type loginParams struct {
	Code string `json:"code" schema:"required"`
}

type loginResult struct {
	Token string `json:"token"`
}

type issueResult struct {
	Code        string `json:"code"`
	ExpiresInMS int64  `json:"expires_in_ms"`
}

// login exchanges a one-time code for a token of this browser. A browser is opened with a code because it stores the
// addresses that it visits, and a used code is worthless. An unused code is as secret as a token.
func (s *server) login(req *request) {
	body, fault := s.readBody(req)
	var p loginParams
	if fault == nil {
		fault = codec.Decode(body, &p)
	}
	if fault != nil {
		req.refuse(encodable(fault))
		return
	}
	token, ok := s.auth.redeem(p.Code, time.Now())
	if !ok {
		req.refuse(s.unauthorized("the code is not known, was used before, or is older than a minute"))
		return
	}
	req.write(http.StatusOK, loginResult{token})
}

// issue answers with a new one-time code.
func (s *server) issue(req *request) {
	body, fault := s.readBody(req)
	if fault == nil {
		fault = codec.Decode(body, new(schema.None))
	}
	if fault != nil {
		req.refuse(encodable(fault))
		return
	}
	req.write(http.StatusOK, issueResult{s.auth.issue(time.Now()), codeTime.Milliseconds()})
}

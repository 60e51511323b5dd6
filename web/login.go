package web

import (
	"net/http"
	"time"

	"waybill/schema"
)

// loginParams are what a page sends that was opened with a code.
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

// login exchanges a one-time code for the token. A browser is opened with the code and not with the token, because
// others can see what a program is started with; they see a code that is spent.
func (s *server) login(v *visit) {
	body, fault := s.body(v)
	var p loginParams
	if fault == nil {
		fault = schema.Decode(body, &p)
	}
	if fault != nil {
		v.refuse(fit(fault))
		return
	}
	token, ok := s.pass.redeem(p.Code, time.Now())
	if !ok {
		v.refuse(s.unproven("the code is not known, was used before, or is older than a minute"))
		return
	}
	v.write(http.StatusOK, loginResult{token})
}

// issue gives whoever has the token a code.
func (s *server) issue(v *visit) {
	body, fault := s.body(v)
	if fault == nil {
		fault = schema.Decode(body, new(schema.None))
	}
	if fault != nil {
		v.refuse(fit(fault))
		return
	}
	v.write(http.StatusOK, issueResult{s.pass.issue(time.Now()), codeTime.Milliseconds()})
}

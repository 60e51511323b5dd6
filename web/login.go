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

// login exchanges a one-time code for a token of the browser's own. A browser is opened with a code because it
// keeps the addresses that it was at, and a code there is spent. Until it is, a code is as good as a token, so nobody
// else may see it either.
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

// issue gives whoever is in a code, to let a browser in.
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

package web

import (
	"net/http"

	"waybill/schema"
	"waybill/web/markdown"
)

// markdownParams are a text that the page shows, which somebody else has written.
type markdownParams struct {
	Text string `json:"text" schema:"required"`
}

// markdown gives the markup of a text as nodes. It is read here so that there is one reader, which is tested and bounded
// where the hostile texts are, and so that no HTML ever comes near the page: what comes is kinds from a list, words, and
// addresses that were looked at, and the page draws nothing else. The text is sent along instead of an id because the
// page asks for what it shows, and any text that it shows may be read so. Nothing of it is kept.
func (s *server) markdown(v *visit) {
	body, fault := s.body(v)
	var p markdownParams
	if fault == nil {
		fault = schema.Decode(body, &p)
	}
	if fault != nil {
		v.refuse(fit(fault))
		return
	}
	v.write(http.StatusOK, markdown.Read(p.Text))
}

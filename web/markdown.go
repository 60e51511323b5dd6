package web

import (
	"net/http"

	"waybill/schema/codec"
	"waybill/web/markdown"
)

// markdownParams hold an untrusted text that the page shows.
type markdownParams struct {
	Text string `json:"text" schema:"required"`
}

// markdown parses a text as Markdown and answers with a tree of nodes. The server parses it so that the page never
// handles HTML: it draws only known kinds of nodes, text, and checked addresses. The page sends the text itself,
// because it formats any text that it shows. The server keeps nothing of it.
func (s *server) markdown(req *request) {
	body, fault := s.readBody(req)
	var p markdownParams
	if fault == nil {
		fault = codec.Decode(body, &p)
	}
	if fault != nil {
		req.refuse(encodable(fault))
		return
	}
	req.write(http.StatusOK, markdown.Read(p.Text))
}

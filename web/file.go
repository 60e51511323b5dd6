package web

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"waybill/schema"
)

// A File is a file of the page. Every client can read it, because a new browser has no token yet. So it must hold no
// secret and no data of a workspace.
type File struct {
	// Path is the path of the file, such as "/" or "/page.js". Only "/" may be opened by a link from another origin.
	Path string
	// Type is the value of its Content-Type.
	Type string
	// ETag is the value of its ETag, quoted. It differs for each text.
	ETag string
	// Text is the content.
	Text string
}

// fileRoutes maps the path of each file to a route.
func fileRoutes(files []File, routes []route) (map[string]*route, error) {
	to := make(map[string]*route, len(files))
	for _, f := range files {
		switch {
		case !strings.HasPrefix(f.Path, "/") || f.Type == "" || !isTag(f.ETag):
			return nil, fmt.Errorf("web: Options.Page: the file %q needs a path from /, a type and a quoted ETag", f.Path)
		case to[f.Path] != nil || isRoute(routes, f.Path):
			return nil, fmt.Errorf("web: Options.Page: the path %q is taken", f.Path)
		}
		to[f.Path] = &route{verb: http.MethodGet, path: f.Path, open: true, page: f.Path == "/", handle: func(_ *server, req *request) { req.sendFile(f) }}
	}
	return to, nil
}

func isTag(s string) bool {
	return len(s) > 2 && s[0] == '"' && strings.IndexByte(s[1:], '"') == len(s)-2
}

// isRoute reports whether a path belongs to a route.
func isRoute(routes []route, path string) bool {
	for i := range routes {
		if _, ok := routes[i].match(strings.Split(path, "/")); ok {
			return true
		}
	}
	return false
}

// fileRoute returns the route to a file of the page, or nil if no file has this path.
func (s *server) fileRoute(verb, path string) (*route, *schema.Error) {
	r := s.page[path]
	if r == nil || verb == r.verb {
		return r, nil
	}
	return nil, wrongVerb([]string{r.verb})
}

// sendFile answers with a file, or with 304 if the browser has it. Browsers keep the file and ask each time.
func (req *request) sendFile(f File) {
	h := req.w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.ETag)
	req.clearReadDeadline()
	_ = http.NewResponseController(req.w).SetWriteDeadline(time.Now().Add(writeTimeout))
	if req.hasTag(f.ETag) {
		req.w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.Type)
	_, _ = req.w.Write([]byte(f.Text)) // the client may be gone
}

// hasTag reports whether If-None-Match has the tag. It compares tags weakly.
func (req *request) hasTag(tag string) bool {
	for _, value := range req.r.Header.Values("If-None-Match") {
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}

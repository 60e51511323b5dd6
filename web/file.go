package web

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"waybill/schema"
)

// A File is a part of a page. Whoever can connect gets it, because a browser that was just opened has no token yet,
// so it must hold no secret and nothing of a workspace.
type File struct {
	// Path is all that it is found under, such as "/" or "/page.js". What is at "/" is the page itself, to which a
	// link may lead from anywhere; the rest is for the page.
	Path string
	// Type is the value of its Content-Type.
	Type string
	// ETag is the value of its ETag, quoted. Another text has another one.
	ETag string
	// Text is what it says.
	Text string
}

// routesTo gives a route for each file by its path. There are no folders: what is not a file is not there.
func routesTo(files []File) (map[string]*route, error) {
	to := make(map[string]*route, len(files))
	for _, f := range files {
		switch {
		case !strings.HasPrefix(f.Path, "/") || f.Type == "" || !isTag(f.ETag):
			return nil, fmt.Errorf("web: Options.Page: the file %q needs a path from /, a type and a quoted ETag", f.Path)
		case to[f.Path] != nil || isRoute(f.Path):
			return nil, fmt.Errorf("web: Options.Page: the path %q is taken", f.Path)
		}
		to[f.Path] = &route{verb: http.MethodGet, path: f.Path, open: true, shell: f.Path == "/", do: func(_ *server, v *visit) { v.file(f) }}
	}
	return to, nil
}

func isTag(s string) bool {
	return len(s) > 2 && s[0] == '"' && strings.IndexByte(s[1:], '"') == len(s)-2
}

// isRoute reports whether a path is that of a route.
func isRoute(path string) bool {
	for i := range routes {
		if _, ok := routes[i].match(strings.Split(path, "/")); ok {
			return true
		}
	}
	return false
}

// toFile gives the route to a file of the page, if the path is that of one.
func (s *server) toFile(verb, path string) (*route, *schema.Error) {
	r := s.page[path]
	if r == nil || verb == r.verb {
		return r, nil
	}
	return nil, wrongVerb([]string{r.verb})
}

// file answers with a file, or says that the browser has it already. A browser keeps it, and asks each time.
func (v *visit) file(f File) {
	h := v.w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.ETag)
	v.patient()
	_ = http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(writeTime))
	if v.has(f.ETag) {
		v.w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.Type)
	_, _ = v.w.Write([]byte(f.Text)) // a client that is gone wants no answer
}

// has reports whether the client says that it has what the tag is of. Tags are compared as weak ones.
func (v *visit) has(tag string) bool {
	for _, value := range v.r.Header.Values("If-None-Match") {
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}

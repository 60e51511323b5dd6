package web_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"waybill/api"
	"waybill/schema"
	"waybill/web"
)

// somePage is a page of two files.
func somePage() []web.File {
	return []web.File{
		{Path: "/", Type: "text/html; charset=utf-8", ETag: `"d0"`, Text: "<!doctype html><title>waybill</title>"},
		{Path: "/page.js", Type: "text/javascript; charset=utf-8", ETag: `"s0"`, Text: "'use strict'"},
	}
}

// A browser that has no token yet gets the page, with the headers of every answer; what it has already is not
// sent again.
func TestPageIsForEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{page: somePage()})
		api := h.ask("GET", "/api/tasks", "")
		for _, f := range somePage() {
			for _, path := range []string{f.Path, f.Path + "?token=x"} {
				a := h.ask("GET", path, "", "Authorization")
				require.Equal(t, 200, a.status)
				require.Equal(t, f.Text, string(a.body))
				require.Equal(t, f.Type, a.header.Get("Content-Type"))
				require.Equal(t, f.ETag, a.header.Get("ETag"))
				require.Equal(t, []string{"no-cache"}, a.header.Values("Cache-Control"))
				require.Empty(t, a.header.Values("Set-Cookie"))
				for name := range api.header {
					switch name {
					case "Date", "Content-Length", "Content-Type", "Cache-Control":
					default:
						require.Equal(t, api.header.Values(name), a.header.Values(name), name)
					}
				}
			}
			for tags, status := range map[string]int{
				f.ETag: 304, "W/" + f.ETag: 304, `"old", ` + f.ETag: 304, "*": 304, `"old"`: 200, "": 200, f.ETag[1:]: 200,
			} {
				a := h.ask("GET", f.Path, "", "If-None-Match: "+tags)
				require.Equal(t, status, a.status, tags)
				require.Equal(t, status == 304, len(a.body) == 0)
				require.Equal(t, f.ETag, a.header.Get("ETag"))
			}
		}
	})
}

// TestFaultW12_PathsThatAreNoFile: paths are taken as they are. There are no folders, nothing above the page, and
// nobody is sent elsewhere.
func TestFaultW12_PathsThatAreNoFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := build(t, plot{page: somePage()})
		for _, path := range []string{
			"//", "/.", "/..", "/./page.js", "//page.js", "/page.js/", "/%70age.js", "/x/../page.js", "/%2e%2e/page.js", "/..%2fpage.js",
			"/PAGE.JS", "/page.js%00", "/page.js.map", "/index.html", "//evil.test/", "/favicon.ico",
		} {
			a := h.ask("GET", path, "")
			a.refused(404, schema.MethodNotFound)
			require.Empty(t, a.header.Get("Location"))
		}
		for _, verb := range []string{"POST", "PUT", "DELETE", "TRACE", "OPTIONS"} {
			a := h.ask(verb, "/page.js", "")
			a.refused(405, schema.WrongVerb)
			require.Equal(t, "GET", a.header.Get("Allow"))
		}
		h.ask("GET", "/", "", "Host: evil.test").refused(403, schema.Forbidden)
		h.ask("GET", "/", "", "Sec-Fetch-Site: cross-site").refused(403, schema.Forbidden)
		h.ask("GET", "/", "", "Content-Length: 1").refused(400, schema.InvalidRequest)
	})
}

func TestNoPageWithoutFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		build(t, plot{}).ask("GET", "/", "").refused(404, schema.MethodNotFound)
	})
}

// A page that cannot be served as it is meant is a mistake of who asks for it.
func TestFilesThatCannotBeServed(t *testing.T) {
	for name, change := range map[string]func(f *web.File){
		"no path":        func(f *web.File) { f.Path = "" },
		"a bare name":    func(f *web.File) { f.Path = "page.js" },
		"no type":        func(f *web.File) { f.Type = "" },
		"no tag":         func(f *web.File) { f.ETag = "" },
		"a bare tag":     func(f *web.File) { f.ETag = "s0" },
		"two tags":       func(f *web.File) { f.ETag = `"s0", "s1"` },
		"twice":          func(f *web.File) { f.Path = "/" },
		"that of health": func(f *web.File) { f.Path = "/healthz" },
		"that of a task": func(f *web.File) { f.Path = "/api/tasks/x" },
	} {
		page := somePage()
		change(&page[1])
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		err = web.Serve(t.Context(), web.Options{
			Listener: listener, Table: api.NewTable(nil), Token: token, Page: page,
			Subscribe: func() (<-chan struct{}, func(), error) { return nil, nil, context.Canceled },
		})
		require.ErrorContains(t, err, "Options.Page", name)
		require.NoError(t, listener.Close())
	}
}

package web_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

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
func TestPageNeedsNoToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, setup{page: somePage()})
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

// A page that cannot be served as it is meant is a mistake of who asks for it.
func TestInvalidFilesAreRefused(t *testing.T) {
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
		o := optionsOf()
		o.Page = page
		require.ErrorContains(t, web.Serve(t.Context(), o), "Options.Page", name)
	}
}

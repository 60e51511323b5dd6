// Package page holds the page for a browser: three files, ready to be sent as they are.
//
// It refuses to know who asks for them, and how: that is the front door's. The files hold no secret and nothing of
// any workspace, so whoever can connect may have them. What the page shows it reads over the front door.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
)

//go:generate go test . -run TestBundleIsCurrent -update

var (
	//go:embed dist/index.html
	document string
	//go:embed dist/page.css
	style string
	//go:embed dist/page.js
	script string
)

// A File is one file of the page.
type File struct {
	// Path is where the page expects it: "/", "/page.css" or "/page.js".
	Path string
	// Type is the value of its Content-Type.
	Type string
	// ETag is the value of its ETag, quoted. Another text has another one.
	ETag string
	// Text is what it says.
	Text string
}

// Files gives every file of the page, the document first. Nothing else is needed to show it.
func Files() []File {
	return []File{
		newFile("/", "text/html; charset=utf-8", document),
		newFile("/page.css", "text/css; charset=utf-8", style),
		newFile("/page.js", "text/javascript; charset=utf-8", script),
	}
}

func newFile(path, media, text string) File {
	hash := sha256.Sum256([]byte(text))
	return File{Path: path, Type: media, ETag: `"` + hex.EncodeToString(hash[:16]) + `"`, Text: text}
}

// Package page has the files of the web page, ready to serve. It knows no front door. The files hold no secret and
// nothing of a workspace, so every client may read them. The page reads its content through the front door.
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
	// Path is the path on the server: "/", "/page.css" or "/page.js".
	Path string
	// Type is its Content-Type.
	Type string
	// ETag is its ETag, quoted. It differs for each text.
	ETag string
	// Text is its content.
	Text string
}

// Files returns all files of the page, the document first.
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

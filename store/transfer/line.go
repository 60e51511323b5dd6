package transfer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	digest "hash"
	"io"

	"waybill/core"
	"waybill/store"
)

// A line is one object, {"kind":"…", …, "sum":"…"}, as encode writes it, and a line feed. The sum is the first 16
// hexadecimal digits of the SHA-256 over everything before it in the file. An altered, lost or moved line is therefore
// found at its place, and not only at the end.
const (
	lineHead   = `{"kind":"`
	sumHead    = `,"sum":"`
	lineEnd    = "\"}\n"
	sumDigits  = 16
	headerKind = "waybill-export"
	endKind    = "end"

	// maxLine is the most bytes of a line. The largest record that a host can have made has less.
	maxLine = 64 << 20
)

// header is the first line.
type header struct {
	Format    int     `json:"format"`
	Workspace string  `json:"workspace"`
	Schema    int     `json:"schema"` // of the tables that it was read from; 0 if they have no version
	Root      root    `json:"root"`
	Counts    counted `json:"counts"`
}

// root is a store.Root.
type root struct {
	Seq  int64        `json:"seq"`
	Hash hash         `json:"hash"`
	At   core.Instant `json:"at"`
}

// counted is what a store can count without reading it all.
type counted struct {
	Events       int `json:"events"`
	Instructions int `json:"instructions"`
	Runs         int `json:"runs"`
	Tasks        int `json:"tasks"`
	Notices      int `json:"notices"`
}

func (c Counts) counted() counted {
	return counted{c.Events, c.Instructions, c.Runs, c.Tasks, c.Notices}
}

// trailer is the last line.
type trailer struct {
	Counts Counts `json:"counts"`
	SHA256 string `json:"sha256"` // of all lines before
}

// A lineWriter writes lines.
type lineWriter struct {
	to  *bufio.Writer
	sum digest.Hash // of everything written so far
}

func newLineWriter(w io.Writer) *lineWriter {
	return &lineWriter{bufio.NewWriterSize(w, 1<<16), sha256.New()}
}

func (w *lineWriter) write(kind, name string, v any) error {
	object, err := encode(v)
	if err != nil {
		return err
	}
	return w.object(kind, name, object)
}

func (w *lineWriter) object(kind, name string, object []byte) error {
	if len(object) > maxLine-1024 {
		return fmt.Errorf("%s has %d bytes, and no line of an export has more than %d", name, len(object), maxLine)
	}
	if err := w.add([]byte(lineHead+kind+`",`), object[1:len(object)-1]); err != nil {
		return err
	}
	return w.add([]byte(sumHead + shortSum(w.sum) + lineEnd))
}

func (w *lineWriter) add(parts ...[]byte) error {
	for _, part := range parts {
		w.sum.Write(part)
		if _, err := w.to.Write(part); err != nil {
			return err
		}
	}
	return nil
}

func shortSum(h digest.Hash) string { return hex.EncodeToString(h.Sum(nil))[:sumDigits] }

func wholeSum(h digest.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// A lineReader reads lines. Every error of it but one of the file itself is a *FormatError.
type lineReader struct {
	from *bufio.Reader
	n    int // the number of the last line
	sum  digest.Hash
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(r, 1<<16), sum: sha256.New()}
}

func (r *lineReader) wrong(format string, args ...any) error {
	return &FormatError{Line: r.n, Message: fmt.Sprintf(format, args...)}
}

const again = ": take the file once more from where it was written, or export anew"

// next returns the kind and the object of the next line; a file that ends is one that was cut.
func (r *lineReader) next() (kind string, object []byte, err error) {
	r.n++
	line, err := r.line()
	if err != nil {
		return "", nil, err
	}
	at := len(line) - len(lineEnd) - sumDigits - len(sumHead)
	if at < len(lineHead) || !bytes.HasPrefix(line, []byte(lineHead)) || !bytes.HasPrefix(line[at:], []byte(sumHead)) ||
		!bytes.HasSuffix(line, []byte(lineEnd)) {
		return "", nil, r.wrong("it is no line of an export" + again)
	}
	r.sum.Write(line[:at])
	if got := line[at+len(sumHead):][:sumDigits]; string(got) != shortSum(r.sum) {
		return "", nil, r.wrong("it is not what was written, or what stood before it is missing" + again)
	}
	r.sum.Write(line[at:])
	name, fields, ok := bytes.Cut(line[len(lineHead):at], []byte(`",`))
	if !ok {
		return "", nil, r.wrong("it has no fields" + again)
	}
	return string(name), append(append([]byte("{"), fields...), '}'), nil
}

// line reads up to and with the next line feed.
func (r *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case len(line) > maxLine:
			return nil, r.wrong("it has more than %d bytes, and no line of an export has"+again, maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, r.wrong("the file ends here, and is not complete" + again)
		default:
			return nil, err
		}
	}
}

// read decodes an object. One that encode would have written in another way was not written by it.
func (r *lineReader) read(object []byte, v any) error {
	if err := strictly(object, v); err != nil {
		return r.wrong("%v"+again, err)
	}
	written, err := encode(v)
	if err != nil || !bytes.Equal(written, object) {
		return r.wrong("it is not written as waybill writes it" + again)
	}
	return nil
}

// header reads the first line.
func (r *lineReader) header() (h header, err error) {
	r.n = 1
	want := lineHead + headerKind + `","format":`
	begin, err := r.from.Peek(len(want) + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return h, err
	}
	if len(begin) <= len(want) || string(begin[:len(want)]) != want {
		return h, r.foreign(begin)
	}
	newer, err := r.newer(len(want))
	if err != nil {
		return h, err
	}
	if newer != "" {
		return h, &FormatError{Line: 1, Newer: true, Message: fmt.Sprintf(
			"it has format %s, and this waybill reads format %d: use the newer waybill", newer, Format)}
	}
	r.n = 0
	_, object, err := r.next()
	if err == nil {
		err = r.read(object, &h)
	}
	if err == nil && h.Format < 1 {
		err = r.wrong("there is no format %d"+again, h.Format)
	}
	return h, err
}

// foreign returns an error that names the kind of a file that is not an export.
func (r *lineReader) foreign(begin []byte) error {
	switch {
	case len(begin) == 0:
		return r.wrong("the file is empty: name a file that `waybill store export` has written")
	case bytes.HasPrefix(begin, []byte("SQLite format 3")):
		return r.wrong("the file is a database, and no export: `waybill store restore` puts a copy of a store back")
	}
	return r.wrong("it is not that of an export: name a file that `waybill store export` has written")
}

// newer returns the format of the file, of which the digits stand at that place, if this waybill does not read it.
func (r *lineReader) newer(at int) (string, error) {
	begin, err := r.from.Peek(at + 8)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	var format int
	if n, _ := fmt.Sscanf(string(begin[at:]), "%d", &format); n == 1 && format > Format {
		return fmt.Sprint(format), nil
	}
	return "", nil
}

// end reads the last line and checks that no line follows.
func (r *lineReader) end(object []byte, before string, counts Counts) error {
	var last trailer
	if err := r.read(object, &last); err != nil {
		return err
	}
	if last.SHA256 != before || last.Counts != counts {
		return r.wrong("it does not say what stands before it" + again)
	}
	if _, err := r.from.ReadByte(); !errors.Is(err, io.EOF) {
		if err != nil {
			return err
		}
		r.n++
		return r.wrong("the export has ended before it" + again)
	}
	return nil
}

func (r root) value() store.Root { return store.Root{Seq: r.Seq, Hash: store.Hash(r.Hash), At: r.At} }

// hash is a store.Hash in hexadecimal digits.
type hash store.Hash

// MarshalText writes the digits.
func (h hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads them.
func (h *hash) UnmarshalText(digits []byte) error {
	if len(digits) != hex.EncodedLen(len(h)) {
		return fmt.Errorf("a hash has %d digits, and %q has %d", hex.EncodedLen(len(h)), digits, len(digits))
	}
	_, err := hex.Decode(h[:], digits)
	return err
}

// encode writes a value in the one way in which waybill writes it, without an end of line.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

var errTrailing = errors.New("something stands behind the object")

// strictly reads one object, of which every field must be known.
func strictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errTrailing
	}
	return nil
}

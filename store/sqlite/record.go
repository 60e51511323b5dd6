package sqlite

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// The fields have a fixed width, so that a record is overwritten as a whole by one call. The sum covers the bytes
// before it. Without the lock, a reader may find the first half of one record and the second half of the next.
const (
	recordFormat = "waybill lock 1\npid %010d\nhost %-64s\nboot %-36s\nnewest %019d\ncommits %019d\nstate %-4s\nreserve %-5s\n"
	sumFormat    = "sum %08x\n"
	recordSize   = 235
	sumSize      = 13
	hostSize     = 64
	bootSize     = 36
)

// text returns the contents of the file.
func (r record) text() []byte {
	reserve := "held"
	if r.spent {
		reserve = "spent"
	}
	text := fmt.Appendf(make([]byte, 0, recordSize), recordFormat, r.pid, r.host, r.boot, r.newest, r.commits, r.state, reserve)
	return fmt.Appendf(text, sumFormat, crc32.ChecksumIEEE(text))
}

// whole reports whether the text is one record and not parts of two.
func whole(text []byte) bool {
	if len(text) != recordSize {
		return false
	}
	body, sum := text[:recordSize-sumSize], text[recordSize-sumSize:]
	return bytes.Equal(sum, fmt.Appendf(nil, sumFormat, crc32.ChecksumIEEE(body)))
}

func (l *lockFile) write() error {
	text := l.says.text()
	_, err := l.files.lock.WriteAt(text, 0)
	l.text = text
	return err
}

// read returns the record in the file, or the zero record if it is unreadable.
func (l *lockFile) read() record {
	buf := make([]byte, recordSize)
	n, _ := l.files.lock.ReadAt(buf, 0)
	if buf = buf[:n]; l.text == nil || !bytes.Equal(buf, l.text) {
		l.text, l.says = buf, parseRecord(buf)
	}
	return l.says
}

func parseRecord(text []byte) record {
	var r record
	first := true
	for line := range bytes.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimRight(string(line), " \n"), " ")
		if first && (name != "waybill" || value != "lock 1") {
			return record{}
		}
		first = false
		number, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "pid":
			r.pid = int(number)
		case "host":
			r.host = value
		case "boot":
			r.boot = value
		case "newest":
			r.newest = number
		case "commits":
			r.commits = number
		case "state":
			r.state = state(value)
		case "reserve":
			r.spent = value == "spent"
		}
	}
	return r
}

package plan

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Remarks collect the diagnostics of a plan by byte offset. A JSON plan may be one line of megabytes with a diagnostic
// at every other byte, so the cost of a position does not depend on the length of its line.
type Remarks struct {
	text  string
	files []FileSpan
	all   []remarked
}

type remarked struct {
	at int
	Diagnostic
}

// NewRemarks returns an empty collection for the text of a plan. files is nil for a plan of one file.
func NewRemarks(text string, files []FileSpan) *Remarks { return &Remarks{text: text, files: files} }

// Add adds a diagnostic at an offset, and returns it so that the caller can set its flags.
func (m *Remarks) Add(at int, severity Severity, code, message string) *Diagnostic {
	m.all = append(m.all, remarked{at, Diagnostic{Severity: severity, Code: code, Message: message}})
	return &m.all[len(m.all)-1].Diagnostic
}

// Diagnostics returns the diagnostics with their positions, in the order of files and lines. Those of one line keep the
// order in which they were added.
func (m *Remarks) Diagnostics() []Diagnostic {
	if len(m.all) == 0 {
		return nil
	}
	order := make([]int32, len(m.all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return m.all[a].at - m.all[b].at })
	p := newPosition(m.text, m.files)
	for _, i := range order {
		d := &m.all[i]
		d.Source, d.Line, d.Column = p.of(d.at)
	}
	// The files are in text order, so that the first offset of a line orders lines of different files as well.
	slices.SortStableFunc(m.all, func(a, b remarked) int {
		if a.Source != b.Source {
			return a.at - b.at
		}
		return a.Line - b.Line
	})
	all := make([]Diagnostic, len(m.all))
	for i := range m.all {
		all[i] = m.all[i].Diagnostic
	}
	return all
}

// Position converts increasing offsets to files, lines and columns.
type position struct {
	text          string
	files         []FileSpan
	at            int // the offset of the last position
	file          int
	line, column  int
	pastReturn    bool // the last byte before at is a carriage return
	fileBeginning int
}

func newPosition(text string, files []FileSpan) *position {
	p := &position{text: text, files: files, file: -1}
	p.begin(-1, 0)
	return p
}

// begin moves to the beginning of a file.
func (p *position) begin(file, at int) {
	p.file, p.at, p.line, p.column, p.pastReturn = file, at, 1, 1, false
	if strings.HasPrefix(p.text[at:], "\ufeff") {
		p.at += len("\ufeff")
	}
	p.fileBeginning = p.at
}

func (p *position) of(offset int) (source string, line, column int) {
	for p.file+1 < len(p.files) && p.files[p.file+1].From <= offset {
		p.begin(p.file+1, p.files[p.file+1].From)
	}
	if offset > p.at {
		p.move(min(offset, len(p.text)))
	}
	if p.file >= 0 {
		source = p.files[p.file].Name
	}
	return source, p.line, p.column
}

// move goes forward to an offset. A line ends with LF, CRLF or a single CR.
func (p *position) move(offset int) {
	between := p.text[p.at:offset]
	p.at = offset
	if p.pastReturn {
		p.pastReturn = false
		if between[0] == '\n' {
			between = between[1:]
		}
	}
	for between != "" {
		end := strings.IndexAny(between, "\r\n")
		if end < 0 {
			break
		}
		next := end + 1
		if between[end] == '\r' {
			if next < len(between) && between[next] == '\n' {
				next++
			}
			p.pastReturn = next == len(between) && between[next-1] == '\r'
		}
		between = between[next:]
		p.line++
		p.column = 1
	}
	p.column += utf8.RuneCountInString(between)
}

// Clone returns a copy that grows independently.
func (m *Remarks) Clone() *Remarks {
	return &Remarks{text: m.text, files: m.files, all: slices.Clone(m.all)}
}

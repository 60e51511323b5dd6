package transfer_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"waybill/core/coretest"
	"waybill/core/run"
	"waybill/core/task"
	"waybill/store"
	"waybill/store/transfer"
	"waybill/test/slow"
	"waybill/test/teststore"
)

// file returns the lines of an export that has every kind of record.
func file(t *testing.T) []string {
	t.Helper()
	s := teststore.New(t)
	whole(t, s)
	return slices.Collect(strings.Lines(string(export(t, s))))
}

// refused imports a file that must be refused, and makes sure that nothing of it was put.
func refused(t *testing.T, file string) *transfer.FormatError {
	t.Helper()
	return refusedFrom(t, strings.NewReader(file))
}

func refusedFrom(t *testing.T, file io.ReadSeeker) *transfer.FormatError {
	t.Helper()
	return refusedBy(t, teststore.New(t), file)
}

// refusedBy requires that an empty store refuses the file and stays empty.
func refusedBy(t *testing.T, s store.Store, file io.ReadSeeker) *transfer.FormatError {
	t.Helper()
	_, err := transfer.Import(t.Context(), s, file)
	var bad *transfer.FormatError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, transfer.Counts{}, counts(t, s))
	return bad
}

func counts(t *testing.T, s store.Store) transfer.Counts {
	t.Helper()
	summary, err := transfer.Export(t.Context(), s, io.Discard, "ws")
	require.NoError(t, err)
	return summary.Counts
}

func TestCutFileIsRefused(t *testing.T) {
	s, lines := teststore.New(t), file(t)
	refused := func(file string) *transfer.FormatError { return refusedBy(t, s, strings.NewReader(file)) }
	require.Equal(t, 1, refused("").Line)
	for n := range lines {
		before := strings.Join(lines[:n], "")
		if n > 0 {
			bad := refused(before)
			require.Equal(t, n+1, bad.Line, "behind a whole line")
			require.Contains(t, bad.Message, "not complete")
		}
		require.Equal(t, n+1, refused(before+lines[n][:len(lines[n])/2]).Line, "in the midst of line %d", n+1)
		require.Equal(t, n+1, refused(before+strings.TrimSuffix(lines[n], "\n")).Line, "before the end of line %d", n+1)
	}
}

func TestFlippedByteIsFoundInItsLine(t *testing.T) {
	s, lines := teststore.New(t), file(t)
	step := 1
	if slow.Race {
		step = 7
	}
	for _, n := range []int{0, 1, len(lines) / 2, len(lines) - 1} {
		for i := 0; i < len(lines[n]); i += step {
			spoilt := []byte(lines[n])
			spoilt[i] ^= 1
			altered := slices.Clone(lines)
			altered[n] = string(spoilt)
			bad := refusedBy(t, s, strings.NewReader(strings.Join(altered, "")))
			if i < len(spoilt)-1 { // without its line feed, it is a part of the next one
				require.Equal(t, n+1, bad.Line, "byte %d of line %d: %s", i, n+1, bad.Message)
			}
		}
	}
}

func TestLineLostOrMovedIsFound(t *testing.T) {
	s, lines := teststore.New(t), file(t)
	for n := 1; n < len(lines)-1; n++ {
		require.Equal(t, n+1, refusedBy(t, s, strings.NewReader(strings.Join(slices.Delete(slices.Clone(lines), n, n+1), ""))).Line, "without line %d", n+1)
		twice := slices.Insert(slices.Clone(lines), n, lines[n])
		require.Equal(t, n+2, refusedBy(t, s, strings.NewReader(strings.Join(twice, ""))).Line, "line %d twice", n+1)
	}
	require.Equal(t, len(lines)+1, refusedBy(t, s, strings.NewReader(strings.Join(lines, "")+"x")).Line)
}

var sums = regexp.MustCompile(`,"sum":"[0-9a-f]{16}"}\n$`)

var whole256 = regexp.MustCompile(`"sha256":"[0-9a-f]{64}"`)

// forged returns a file of these lines with the right sums, as somebody could make it who knows them.
func forged(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		sum := sha256.Sum256([]byte(b.String()))
		b.WriteString(whole256.ReplaceAllString(sums.ReplaceAllString(line, ""), `"sha256":"`+hex.EncodeToString(sum[:])+`"`))
		sum = sha256.Sum256([]byte(b.String()))
		fmt.Fprintf(&b, ",\"sum\":\"%s\"}\n", hex.EncodeToString(sum[:])[:16])
	}
	return b.String()
}

func TestSumsAloneDoNotMakeAnExport(t *testing.T) {
	lines := file(t)
	_, err := transfer.Import(t.Context(), teststore.New(t), strings.NewReader(forged(lines)))
	require.NoError(t, err, "the forger does it right")
	for name, change := range map[string]struct {
		change func(lines []string) []string
		says   string
	}{
		"events do not follow":  {func(l []string) []string { return slices.Delete(l, 2, 3) }, "the event before it has the number 7"},
		"an altered event":      {replaced("event", `"at":`, `"at":9`), "its hash does not follow"},
		"an event without time": {replaced("event", `"at":`, `"at":-`), "older than"},
		"a kind nobody knows":   {replaced("notice", `"kind":"notice"`, `"kind":"rumour"`), `kind "rumour"`},
		"a field nobody knows":  {replaced("notice", `"id":`, `"colour":1,"id":`), `unknown field "colour"`},
		"a space":               {replaced("notice", `"id":`, `"id": `), "not written as waybill writes it"},
		"a field twice":         {replaced("notice", `"id":`, `"position":1,"id":`), "not written as waybill writes it"},
		"a state nobody knows":  {replaced("instruction", `"state":"queued"`, `"state":"lost"`), `"lost" is no state`},
		"a field of another state": {
			replaced("instruction", `"state":"queued"`, `"state":"queued","late_ack_at":1`), "fields that none in its state has",
		},
		"a prompt for nobody":      {replaced("prompt", `"role":"worker"`, `"role":"implementer"`), `"implementer" is no role`},
		"an attempt of another":    {ofOther("attempt", "task_id"), "it stands behind task"},
		"a fact of another run":    {ofOther("fact", "run_id"), "it stands behind run"},
		"a lease too few":          {running, "not written as waybill writes it"},
		"a short hash":             {replaced("event", `"hash":"`, `"hash":"0`), "hash: encoding/hex: odd length"},
		"other counts at the end":  {replaced("end", `"events":3`, `"events":4`), "does not say what stands before it"},
		"other counts at the head": {replaced("waybill-export", `"events":3`, `"events":4`), "counts other records"},
		"a task without attempts":  {without("attempt", "reply"), "has no attempt"},
		"a task that is not what its attempt says": {
			replaced("task", `"status":"COMPLETE"`, `"status":"AWAITING_RESPONSE"`), "is AWAITING_RESPONSE, and its newest attempt",
		},
		"a format that never was": {replaced("waybill-export", `"format":1`, `"format":0`), "there is no format 0"},
		"a reply before its time": {replaced("reply", `"number":1`, `"number":2`), "the next one is 1"},
		"a notice twice":          {twice("notice"), "it is there twice"},
		"a breaker twice":         {twice("breaker"), "is there twice"},
		"an answer twice":         {twice("answer"), "is there twice"},
		"a task twice":            {twice("task"), "is there twice"},
		"a run twice":             {twice("run"), "it is there twice"},
		"a fact twice":            {twice("fact"), "is there twice"},
		"a tally twice":           {twice("tally"), "is there twice"},
		"a prompt twice":          {twice("prompt"), "is there twice"},
		"a dependency twice":      {twice("dependency"), "it is there twice"},
		"an instruction twice":    {twice("instruction"), "is there twice"},
		"kinds in another order": {func(l []string) []string {
			slices.Reverse(l[1 : len(l)-1])
			return l
		}, "where none can stand"},
		"an end without records": {func(l []string) []string { return []string{l[0], l[len(l)-1]} }, "does not say what stands before it"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, failure(t, forged(change.change(slices.Clone(lines)))), change.says)
		})
	}
}

// failure imports what must fail, and returns the error.
func failure(t *testing.T, file string) string {
	t.Helper()
	s := teststore.New(t)
	_, err := transfer.Import(t.Context(), s, strings.NewReader(file))
	var wrong *transfer.FormatError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, transfer.Counts{}, counts(t, s))
	return err.Error()
}

// replaced changes the first line of a kind that has the text.
func replaced(kind, old, new string) func([]string) []string {
	return func(lines []string) []string {
		for i, line := range lines {
			if strings.HasPrefix(line, `{"kind":"`+kind+`"`) && strings.Contains(line, old) {
				lines[i] = strings.Replace(line, old, new, 1)
				return lines
			}
		}
		panic("no line of kind " + kind + " has " + old)
	}
}

// ofOther has the first record of a kind belong to something else.
func ofOther(kind, field string) func([]string) []string {
	return func(lines []string) []string {
		i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, `{"kind":"`+kind+`"`) })
		lines[i] = regexp.MustCompile(`"`+field+`":("[^"]*"|\{[^}]*\})`).ReplaceAllString(lines[i], `"`+field+`":"x"`)
		return lines
	}
}

func running(lines []string) []string {
	for i, line := range lines {
		lines[i] = regexp.MustCompile(`,"expires_at":\d+`).ReplaceAllString(line, "")
	}
	return lines
}

func without(kinds ...string) func([]string) []string {
	return func(lines []string) []string {
		return slices.DeleteFunc(lines, func(line string) bool {
			return slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(line, `{"kind":"`+kind+`"`) })
		})
	}
}

// twice puts the first line of a kind in twice; of a notice and the like, in another place.
func twice(kind string) func([]string) []string {
	return func(lines []string) []string {
		for i, line := range lines {
			if strings.HasPrefix(line, `{"kind":"`+kind+`"`) {
				again := line
				if kind == "notice" {
					again = regexp.MustCompile(`"position":(\d+)`).ReplaceAllString(line, `"position":1${1}`)
				}
				return slices.Insert(lines, i+1, again)
			}
		}
		panic("no line of kind " + kind)
	}
}

func TestForeignFilesAreRefused(t *testing.T) {
	for begin, says := range map[string]string{
		"":                             "the file is empty",
		"{}\n":                         "it is not that of an export",
		"Dear reader,\n":               "it is not that of an export",
		"SQLite format 3\x00 and more": "waybill store restore",
	} {
		bad := refused(t, begin)
		require.Equal(t, 1, bad.Line)
		require.Contains(t, bad.Message, says)
		require.False(t, bad.Newer)
	}
	lines := file(t)
	lines[0] = strings.Replace(lines[0], `"format":1,`, `"format":12,"more":[],`, 1)
	bad := refused(t, forged(lines))
	require.True(t, bad.Newer)
	require.Contains(t, bad.Message, "format 12")
}

func TestDirectoryIsNoExport(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder cannot be opened there")
	}
	d, err := os.Open(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	_, err = transfer.Import(t.Context(), teststore.New(t), d)
	require.ErrorContains(t, err, "directory")
}

// endless is a line without an end.
type endless struct{ begin io.Reader }

func (e *endless) Read(p []byte) (int, error) {
	if n, err := e.begin.Read(p); err == nil {
		return n, nil
	}
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func (e *endless) Seek(int64, int) (int64, error) { return 0, nil }

func TestHugeLineIsRefused(t *testing.T) {
	bad := refusedFrom(t, &endless{strings.NewReader(file(t)[0])})
	require.Equal(t, 2, bad.Line)
	require.Contains(t, bad.Message, "no line of an export has")
}

func TestOnlyAnEmptyStoreIsFilled(t *testing.T) {
	text := strings.Join(file(t), "")
	full := teststore.New(t)
	whole(t, full)
	before := export(t, full)
	for _, fill := range []func() error{
		func() error { _, err := transfer.Import(t.Context(), full, strings.NewReader(text)); return err },
		func() error { _, err := transfer.Migrate(t.Context(), teststore.New(t), full); return err },
	} {
		var found *transfer.NotEmptyError
		require.ErrorAs(t, fill(), &found)
		require.Equal(t, string(before), string(export(t, full)))
	}
	for name, put := range map[string]func(tx store.Tx) error{
		"answers":  func(tx store.Tx) error { return tx.PutAnswer(store.Answer{Key: "k"}) },
		"breakers": func(tx store.Tx) error { return tx.PutBreaker(task.Breaker{Key: "k"}) },
		"runs": func(tx store.Tx) error {
			r, _ := run.Start("r", "tasks.md", "1", "", coretest.Policy(), 1)
			return tx.PutRun(r)
		},
		"notices": func(tx store.Tx) error { return tx.PutNotice(store.Notice{ID: "n", Position: 1}) },
		"events":  func(tx store.Tx) error { return tx.PutRoot(store.Root{Seq: 1}) },
	} {
		s := teststore.New(t)
		require.NoError(t, s.Update(t.Context(), put))
		_, err := transfer.Import(t.Context(), s, strings.NewReader(text))
		require.ErrorContains(t, err, name)
	}
}

// full is a disk that takes so many bytes.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return 0, io.ErrShortWrite
	}
	f.left -= len(p)
	return len(p), nil
}

func TestFullDiskIsSaid(t *testing.T) {
	s := teststore.New(t)
	whole(t, s)
	size := len(export(t, s))
	for _, left := range []int{0, size / 2, size - 1} {
		_, err := transfer.Export(t.Context(), s, &full{left}, "ws")
		require.ErrorIs(t, err, io.ErrShortWrite)
	}
	if f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
		_, err = transfer.Export(t.Context(), s, f, "ws")
		require.Error(t, err)
		require.NoError(t, f.Close())
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"kind":"waybill-export","format":1}`))
	var small bytes.Buffer
	if _, err := transfer.Export(f.Context(), teststore.New(f), &small, "ws"); err != nil {
		f.Fatal(err)
	}
	f.Add(small.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		s := teststore.New(t)
		if _, err := transfer.Import(t.Context(), s, bytes.NewReader(data)); err == nil {
			require.Equal(t, string(data), string(exportAs(t, s, data)))
		}
	})
}

// exportAs exports with the workspace that a file names.
func exportAs(t *testing.T, s store.Store, file []byte) []byte {
	t.Helper()
	summary, err := transfer.Import(t.Context(), teststore.New(t), bytes.NewReader(file))
	require.NoError(t, err)
	var again bytes.Buffer
	_, err = transfer.Export(t.Context(), s, &again, summary.Workspace)
	require.NoError(t, err)
	return again.Bytes()
}

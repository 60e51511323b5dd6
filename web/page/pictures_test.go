package page_test

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"waybill/engine"
	"waybill/store"
	"waybill/store/sqlite"
)

// maxPicture bounds each picture of docs/img: they are in the repository for good.
const maxPicture = 150_000

// A clock of a story stands still until it is set.
type clock struct {
	mu sync.Mutex // guards at
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// set puts it to a time of the day of the story, such as "09:30:00".
func (c *clock) set(t *testing.T, at string) {
	t.Helper()
	day, err := time.Parse(time.DateTime, "2026-03-02 "+at)
	require.NoError(t, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = day
}

// numbered returns ids that are the same each time.
func numbered() func(prefix string) string {
	var mu sync.Mutex // guards n
	n := 0
	return func(prefix string) string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf("%s019cadf2-1c00-7000-8000-%012x", prefix, n)
	}
}

const libraryPlan = `# The library moves

- [x] 1. Count the books
- [ ] 2. Move the loans
  - [x] 2.1 Read the old cards
  - [-] 2.2 Write the new table
    - Files: loans/table.sql
    - _Requirements: 1.1, 1.2_
  - [ ] 2.3 Tell the readers
    - _Depends: 2.2_
- [ ] 3. Open the doors
  - _Depends: 2_
`

// A story is what the pictures are of: a morning in a library that moves.
type story struct {
	*harness
	*clock

	loans, shelves, running string // tasks: one that went a long way, one that asks, and one that is worked on
	run                     string
	path                    string // of the store
}

// newStory tells it, with a check that fails if there is one.
func newStory(t *testing.T, checked bool) *story {
	t.Helper()
	c := &clock{}
	c.set(t, "09:00:00")
	// A store that lasts is not pointed out as something that is not as it should be.
	path := filepath.Join(t.TempDir(), "store.db")
	open := func(ctx context.Context) (store.Store, error) { return sqlite.Open(ctx, sqlite.Options{Path: path}) }
	s := &story{clock: c, path: path, harness: newHarnessOf(t, engine.Options{Now: c.now, NewID: numbered(), Open: open})}
	s.write("tasks.md", libraryPlan)
	require.NoError(t, os.Chtimes(filepath.Join(s.dir, "tasks.md"), c.at, c.at))
	s.loans = s.longWay(t)
	s.run = s.sentBack(t, checked)
	s.questions(t)
	c.set(t, "10:12:00")
	return s
}

// longWay is a task that changed the model, asked, lost its connection, and was done in the end.
func (s *story) longWay(t *testing.T) string {
	id := s.create(map[string]any{
		"prompt": "Move the loans of the old cards into the new table.\n\nEvery reader keeps what they have borrowed.", "description": "Move the loans", "max_attempts": 5,
		"models": []map[string]any{{"provider_id": "acme", "model_id": "large"}, {"provider_id": "acme", "model_id": "small"}},
	})
	attempt := func(begins, session, ends, status string, more map[string]any) {
		s.set(t, begins)
		require.Equal(t, id, s.claim())
		s.call("bind_session", map[string]any{"task_id": id, "attempt_id": s.tasks[id].attempt, "lease_token": s.tasks[id].lease, "session_id": session})
		s.set(t, ends)
		s.finish(id, status, more)
	}
	attempt("09:00:02", "ses_oak", "09:00:14", "error", map[string]any{"error": map[string]any{"class": "provider", "message": "429 Too Many Requests", "http_status": 429}})
	attempt("09:00:15", "ses_elm", "09:00:50", "awaiting_response", map[string]any{
		"output": "3,112 loans are read. 40 of them have no reader.", "question": "Shall I keep the 40 loans that have no reader?",
	})
	s.set(t, "09:01:20")
	s.call("reply", map[string]any{"task_id": id, "reply": "Keep them, and put them on a list for the desk.", "by": "Ada"})
	attempt("09:01:21", "ses_ash", "09:01:46", "error", map[string]any{"error": map[string]any{"class": "transient", "message": "connection reset by peer"}})
	attempt("09:01:48", "ses_yew", "09:02:31", "completed", map[string]any{"output": "3,112 loans are in the new table. The list for the desk has 40 lines: loans/desk.md"})
	return id
}

// sentBack is a run whose work a reviewer has sent back.
func (s *story) sentBack(t *testing.T, checked bool) string {
	s.set(t, "09:20:00")
	run := s.call("init_run", map[string]any{"plan": "tasks.md", "item_id": "2.2"})["run"].(map[string]any)["run_id"].(string)
	s.call("compile_prompt", map[string]any{"run_id": run, "role": "worker"})
	s.set(t, "09:31:00")
	s.call("ingest_output", map[string]any{
		"run_id": run, "role": "worker",
		"output": "role: worker\ntask_id: 2.2\nstatus: pass\ngit_range: 3f1c9e0..a40d77b\nissues: none\nfiles_changed: loans/table.sql\nconfidence: high\n",
	})
	if checked {
		s.call("report_check", map[string]any{
			"run_id": run, "check": "make-test", "outcome": "red", "exit_code": 2, "command": "make test", "output": "a reader has two copies\n",
		})
	}
	s.set(t, "09:44:00")
	s.call("ingest_output", map[string]any{
		"run_id": run, "role": "spec-reviewer",
		"output": "BEGIN_DISPATCH_RESULT\n{\"task_id\":\"2.2\",\"assessment\":\"needs_changes\",\"strengths\":[\"Every loan has a date.\"]," +
			"\"issues\":[{\"severity\":\"important\",\"file\":\"loans/table.sql\",\"message\":\"A reader can borrow the same book twice.\",\"fix\":\"Make reader and book unique.\"}]," +
			"\"required_fixes\":[\"Make reader and book unique together.\"]}\nEND_DISPATCH_RESULT\n",
	})
	return run
}

// questions are what waits for a person.
func (s *story) questions(t *testing.T) {
	s.shelves = s.asking(t, "Order the shelves", "09:41:00", "09:48:00", "The plan of the new hall is drawn: halls/north.svg",
		"The new hall is two metres shorter than the plan says, so the shelves for the maps do not fit.\n\n"+
			"Shall I put the maps into the reading room, or leave out a shelf of the encyclopedias?")
	s.asking(t, "Write to the readers", "10:01:00", "10:03:00", "Three drafts are in letters/", "In which languages shall the letter be?")
	s.asking(t, "Print the labels", "10:04:00", "10:11:20", "The labels of the first floor are printed.", "The printer has no paper left. Shall I go on tomorrow?")
	s.create(map[string]any{"prompt": "Carry the catalogue.", "description": "Carry the catalogue"})
	s.running = s.claim()
}

// asking is a task that was worked on for a while, and asks.
func (s *story) asking(t *testing.T, name, from, to, output, question string) string {
	s.set(t, from)
	id := s.create(map[string]any{"prompt": name + ", as the plan of the move says.", "description": name, "models": []map[string]any{{"provider_id": "acme", "model_id": "small"}}})
	require.Equal(t, id, s.claim())
	s.set(t, to)
	s.finish(id, "awaiting_response", map[string]any{"output": output, "question": question})
	return id
}

// still opens a tab in which it is the time of the story, in the zone of nobody.
func (s *story) still(b *browser) *tab {
	p := b.tab()
	p.run(
		tell(emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"}),
		tell(emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: "en-GB"}),
		tell(cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(
			`globalThis.Date = class extends Date { constructor(...of) { super(...(of.length > 0 ? of : [%[1]d])); } static now() { return %[1]d; } };`, s.now().UnixMilli())}),
		chromedp.EmulateViewport(1280, 800, chromedp.EmulateScale(1)),
	)
	p.prefer("prefers-reduced-motion", "reduce")
	for _, at := range []string{"GET /api/status", "GET /api/inbox"} {
		s.instead(at, s.inALibrary())
	}
	p.open(s.link())
	return p
}

// inALibrary answers with the workspace and the store of the story in place of those of this machine.
func (s *story) inALibrary() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := httptest.NewRecorder()
		s.inner.ServeHTTP(got, r)
		text := strings.NewReplacer(s.path, "/home/ada/.local/state/waybill/library-1f0c/store.db", s.dir, "/home/ada/library").Replace(got.Body.String())
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(got.Code)
		_, _ = io.WriteString(w, text)
	})
}

// TestPictures takes the pictures of docs/img, of a story in which nothing depends on when and where it is told. They
// are written where WAYBILL_SHOTS says, which `make screenshots` sets.
func TestPictures(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	s := newStory(t, false)
	p := s.still(b)
	p.look(`location.hash = ` + quoted("#/inbox/"+s.shelves))
	p.focus("#reply")
	p.write("Put the maps into the reading room, beside the globes.")
	p.look(`document.activeElement.blur()`) // a caret comes and goes
	for _, theme := range []string{"light", "dark"} {
		p.look(`document.documentElement.dataset.theme = ` + quoted(theme))
		p.sees("leave out a shelf")
		p.sees("3 things wait for you")
		p.kept("inbox-"+theme, s.dir)
	}
	p.look(`document.documentElement.dataset.theme = "light"`)
	p.look(`location.hash = ` + quoted("#/tasks/"+s.loans))
	p.sees("429 Too Many Requests")
	p.sees("3,112 loans are in the new table.")
	p.kept("task", s.dir)
	p.look(`location.hash = ` + quoted("#/runs/"+s.run))
	p.sees("Make reader and book unique together.")
	p.kept("run", s.dir)
}

// kept takes a picture that is fit to be kept: not large, and with nothing in it of where it was taken.
func (p *tab) kept(name, dir string) {
	p.t.Helper()
	p.until(`document.querySelector(".loading") === null`)
	require.NotContains(p.t, p.text("body"), dir, "%s shows a folder of this machine", name)
	shot := p.shot()
	picture, err := png.Decode(bytes.NewReader(shot))
	require.NoError(p.t, err)
	require.Equal(p.t, "(1280,800)", picture.Bounds().Size().String())
	require.LessOrEqual(p.t, len(shot), maxPicture, name)
	p.picture(name)
}

// TestPicturesThatAreShownAreThere: every picture that a document shows is one of docs/img, and it says in words what
// can be seen.
func TestPicturesThatAreShownAreThere(t *testing.T) {
	t.Parallel()
	picture := regexp.MustCompile(`!\[([^\]]*)\]\(([^)]*)\)`)
	for _, document := range []string{"../../README.md", "../../docs/page.md"} {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		found := picture.FindAllStringSubmatch(string(text), -1)
		require.Len(t, found, 2)
		for _, one := range found {
			require.NotEmpty(t, one[1], one[0])
			info, err := os.Stat(filepath.Join(filepath.Dir(document), one[2]))
			require.NoError(t, err)
			require.LessOrEqual(t, info.Size(), int64(maxPicture))
		}
	}
}

package bench

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"waybill/web/page"
)

// A door is the HTTP side of a server.
type door struct{ URL, Token string }

// servedPage starts waybill with its page on an empty workspace, until the end of the benchmark.
func servedPage(b *testing.B) (*host, door) {
	b.Helper()
	root := b.TempDir()
	work, state := filepath.Join(root, "work"), filepath.Join(root, "state")
	require.NoError(b, os.Mkdir(work, 0o700))
	cmd := waybill(work, state)
	cmd.Args = append(cmd.Args, "--http")
	h := connected(b, cmd)
	h.call(b, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	var d door
	for end := time.Now().Add(patience); d.URL == ""; {
		if text := portFile(b, state); json.Unmarshal(text, &d) != nil {
			require.True(b, time.Now().Before(end), "waybill does not say where it is")
			<-time.After(10 * time.Millisecond)
		}
	}
	return h, d
}

// portFile returns what says where the page is, or nil.
func portFile(b *testing.B, state string) (text []byte) {
	b.Helper()
	err := filepath.WalkDir(state, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Base(path) == "http.json" {
			text, err = os.ReadFile(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it is being written
		}
		return err
	})
	require.NoError(b, err)
	return text
}

// link returns an address that lets a browser in.
func (d door) link(b *testing.B) string {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, d.URL+"/api/codes", http.NoBody)
	require.NoError(b, err)
	req.Header.Set("Authorization", "Bearer "+d.Token)
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	require.NoError(b, err)
	defer func() { require.NoError(b, res.Body.Close()) }()
	require.Equal(b, http.StatusOK, res.StatusCode)
	var issued struct{ Code string }
	require.NoError(b, json.NewDecoder(res.Body).Decode(&issued))
	return d.URL + "/#c=" + issued.Code
}

// shows goes to the page and waits until it is current.
func (s *screen) shows(d door) {
	s.b.Helper()
	s.do(chromedp.Navigate(d.link(s.b)))
	s.until(`document.querySelector("[data-link=live]") !== null`)
}

// ask has the oldest task of the queue ask something, and returns its id.
func (h *host) ask(b *testing.B) (task string) {
	claimed := h.call(b, `{"jsonrpc":"2.0","id":1,"method":"claim_task","params":{"worker":"bench"}}`)
	task, lease := member(claimed, "task_id"), member(claimed, "token")
	h.call(b, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"finish_attempt","params":{"status":"awaiting_response",`+
		`"question":"Which of the two is it to be?","output":%q,"task_id":%q,"lease_token":%q}}`, content, task, lease))
	return task
}

// BenchmarkPageFirstPaint measures the time from the beginning of a navigation until the first question of the
// inbox is painted, with a hundred thousand tasks in the store of which a hundred ask something; beside it stands
// the list of all tasks. The probe is the same browser, in turns, with what the inbox has become as one static
// file: the same elements with the same style, and no script.
func BenchmarkPageFirstPaint(b *testing.B) {
	s := newScreen(b)
	h, d := servedPage(b)
	h.create(b, manyTasks)
	for range 100 {
		h.ask(b)
	}
	s.timePaints()
	s.shows(d)
	s.until(`document.querySelectorAll(".row").length > 5`)
	static := stillLife(b, look[string](s, `document.documentElement.outerHTML`))
	var inbox, tasks, still, anything series
	for b.Loop() {
		_, row := s.paint(static.URL)
		still = append(still, row)
		first, row := s.paint(d.URL + "/#/inbox")
		anything, inbox = append(anything, first), append(inbox, row)
		_, row = s.paint(static.URL) // between two addresses of the page that differ only behind the #
		still[len(still)-1] = (still[len(still)-1] + row) / 2
		_, row = s.paint(d.URL + "/#/tasks")
		tasks = append(tasks, row)
	}
	reportOnly(b)
	b.ReportMetric(inbox.median(), "ms-inbox")
	b.ReportMetric(tasks.median(), "ms-tasks")
	b.ReportMetric(anything.median(), "ms-anything")
	b.ReportMetric(still.median(), "ms-static")
	b.ReportMetric(inbox.over(still), "x-static")
}

// stillLife serves what a page has become, without its script and with its style inside.
func stillLife(b *testing.B, document string) *httptest.Server {
	style := ""
	for _, file := range page.Files() {
		if file.Path == "/page.css" {
			style = file.Text
		}
	}
	document = regexp.MustCompile(`(?s)<script.*?</script>|<link rel="stylesheet"[^>]*>`).ReplaceAllString(document, "")
	document = "<!doctype html>" + strings.Replace(document, "</head>", "<style>"+style+"</style></head>", 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = io.WriteString(w, document)
	}))
	b.Cleanup(server.Close)
	return server
}

// BenchmarkPageScroll measures the frames of the list of all tasks, of a hundred thousand, while it is scrolled by three
// rows in each, which are read as they come into sight. The probe is the same page with nobody who scrolls.
func BenchmarkPageScroll(b *testing.B) {
	s := newScreen(b)
	h, d := servedPage(b)
	h.create(b, manyTasks)
	s.shows(d)
	s.until(`(location.hash = "#/tasks", document.querySelectorAll(".row").length > 5)`)
	const frames = 300
	scroll := func(pixels int) (gaps series) {
		return look[series](s, fmt.Sprintf(`new Promise((done) => {
			const list = document.querySelector(".rows"), gaps = [];
			let last = performance.now();
			const frame = (now) => {
				gaps.push(now - last);
				last = now;
				list.scrollTop += %d;
				gaps.length < %d ? requestAnimationFrame(frame) : done(gaps.slice(1));
			};
			requestAnimationFrame(frame);
		})`, pixels, frames))
	}
	var ours, raw series
	for b.Loop() {
		raw = append(raw, scroll(0)...)
		before := look[float64](s, `document.querySelector(".rows").scrollTop`)
		ours = append(ours, scroll(192)...)
		require.Greater(b, look[float64](s, `document.querySelector(".rows").scrollTop`), before, "nothing was scrolled")
	}
	reportOnly(b)
	b.ReportMetric(ours.rate(), "frames/s")
	b.ReportMetric(ours.quantile(0.99), "p99-ms")
	b.ReportMetric(raw.rate(), "frames/s-at-rest")
}

// rate returns how many there were in a second, of what each took so many ms.
func (s series) rate() float64 {
	sum := 0.0
	for _, ms := range s {
		sum += ms
	}
	return float64(len(s)) * 1000 / sum
}

// BenchmarkPageReply measures the time from the press of Enter in the reply box until the host hears on standard
// input and output that the task goes on. The page asks whether the task still waits before it sends the answer,
// so there are two calls in it and one durable change. The probe is one fetch of the same page that asks for
// nothing, started and answered by the same wire to the browser, and one synced append.
func BenchmarkPageReply(b *testing.B) {
	s := newScreen(b)
	h, d := servedPage(b)
	log := newRawLog(b, filepath.Dir(h.cmd.Dir))
	s.shows(d)
	var ours, raw series
	for b.Loop() {
		h.create(b, 1)
		task := h.ask(b)
		look[bool](s, `(location.hash = "#/inbox/`+task+`", true)`)
		s.until(`document.querySelector("article")?.innerText.includes(` + quoted(task) + `) && (document.querySelector("#reply")?.focus(), document.activeElement.id === "reply")`)
		s.do(tell(input.InsertText, input.InsertTextParams{Text: "The left one."}))
		s.until(`document.querySelector("#reply").value === "The left one."`)
		start := time.Now()
		s.enter()
		h.hears(b, "task/updated", `"task_id":"`+task+`"`, `"status":"QUEUED"`)
		ours = append(ours, millis(time.Since(start)))

		start = time.Now()
		look[bool](s, `fetch("/healthz", { cache: "no-store" }).then((answer) => answer.json()).then((said) => said.ok)`)
		require.NoError(b, log.Append(1))
		raw = append(raw, millis(time.Since(start)))
		h.call(b, `{"jsonrpc":"2.0","id":1,"method":"cancel_task","params":{"task_id":"`+task+`"}}`)
	}
	reportOnly(b)
	b.ReportMetric(ours.median(), "p50-ms")
	b.ReportMetric(ours.quantile(0.99), "p99-ms")
	b.ReportMetric(raw.median(), "p50-ms-fetch-and-fdatasync")
	b.ReportMetric(ours.over(raw), "x-fetch-and-fdatasync")
}

// hears waits for a notification that says all of that.
func (h *host) hears(b *testing.B, method string, words ...string) {
	b.Helper()
	words = append(words, `"method":"`+method+`"`)
	for {
		line, err := h.line()
		require.NoError(b, err)
		missing := false
		for _, word := range words {
			missing = missing || !bytes.Contains(line, []byte(word))
		}
		if !missing {
			return
		}
	}
}

// BenchmarkPageBundle reports how large what a browser loads is as gzip would have it, against the budget of 60 KiB.
func BenchmarkPageBundle(b *testing.B) {
	var packed bytes.Buffer
	plain := 0
	for b.Loop() {
		packed.Reset()
		plain = 0
		w := gzip.NewWriter(&packed)
		for _, file := range page.Files() {
			n, err := io.WriteString(w, file.Text)
			require.NoError(b, err)
			plain += n
		}
		require.NoError(b, w.Close())
	}
	reportOnly(b)
	b.ReportMetric(float64(plain), "bytes")
	b.ReportMetric(float64(packed.Len()), "bytes-gzip")
	b.ReportMetric(float64(packed.Len())/(60<<10), "x-budget")
}

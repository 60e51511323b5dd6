//go:build unix

package page_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// rebinding asks for everything that there is under its own name, with all that a stranger can know and more.
const rebinding = `
window.tried = {};
window.attack = async (id, token) => {
  const json = { "Content-Type": "application/json" };
  const asks = [["GET", "/"], ["GET", "/page.js"], ["GET", "/healthz"], ["GET", "/api/tasks"], ["GET", "/api/tasks/" + id], ["GET", "/api/events"],
    ["POST", "/api/codes", "{}"], ["POST", "/api/tasks/" + id + "/reply", '{"reply":"To the stranger."}']];
  for (const bearer of ["", token]) {
    for (const [method, path, body] of asks) {
      const headers = { ...(body ? json : {}), ...(bearer ? { Authorization: "Bearer " + bearer } : {}) };
      const name = (bearer ? "known " : "") + method + " " + path;
      try {
        const answer = await fetch(path, { method, body, headers, cache: "no-store" });
        tried[name] = answer.status + " " + (await answer.text());
      } catch (e) {
        tried[name] = "nothing: " + e.message;
      }
    }
  }
  tried.done = "yes";
};
`

// TestFaultW1_RebindingInABrowser: the name of a web site is bound to this machine after its page was loaded, so that
// for the browser waybill is a part of that site. It answers nobody who asks for it by such a name.
func TestFaultW1_RebindingInABrowser(t *testing.T) {
	t.Parallel()
	evil := newHostileSite(t, rebinding)
	b := newBrowser(t, chromedp.Flag("host-resolver-rules", "MAP evil.test "+evil.Listener.Addr().String()))
	w := newYard(t)
	h := w.serve("")
	id := h.asks("Move the gate", "Where to?")
	seq, plate := h.cursor(), w.doorplate()
	door := strings.TrimPrefix(plate.URL, "http://")
	_, port, err := net.SplitHostPort(door)
	require.NoError(t, err)
	at := "http://evil.test:" + port + "/"

	p := b.stranger()
	p.run(navigate(at))
	p.sees("Hello.")
	evil.becomes(door)
	p.look(fmt.Sprintf(`void attack(%q, %q)`, id, plate.Token))
	tried := p.tried()
	require.Len(t, tried, 16)
	for what, came := range tried {
		require.Regexp(t, `^403 \{"error":\{"code":\d+,"message":"the request is meant for another host",`, came, what)
		require.NotContains(t, came, "gate", what)
	}
	require.GreaterOrEqual(t, plate.rejected(t, "FORBIDDEN"), len(tried), "not all of it has reached the front door")

	p.run(navigate(at + "?again"))
	p.sees("the request is meant for another host")
	require.Equal(t, float64(0), p.look(`document.scripts.length + document.querySelectorAll("link, #page").length`), "the page came all the same")
	h.unmoved(id, seq)

	person := b.tab()
	person.open(w.link()) // the same browser, under the right name
	person.sees("Where to?")
}

// crossing tries everything that a page of another port can: for the browser that is another origin, of the same site.
const crossing = `
window.tried = {};
window.attack = async (base, id, token) => {
  const reply = base + "/api/tasks/" + id + "/reply";
  const text = '{"reply":"To the stranger."}';
  const asked = async (name, path, how) => {
    try {
      const answer = await fetch(path.startsWith("http") ? path : base + path, { cache: "no-store", ...how });
      tried[name] = answer.type + " " + answer.status + " " + (await answer.text());
    } catch (e) {
      tried[name] = "nothing";
    }
  };
  const shown = (name, tag, attributes, act) => new Promise((done) => {
    const element = Object.assign(document.createElement(tag), attributes);
    document.body.append(element); // an empty frame is loaded by that
    element.onload = () => done((tried[name] = tag === "iframe" ? "frame " + String(element.contentDocument) : "load"));
    element.onerror = () => done((tried[name] = "error"));
    act?.();
  });
  const sent = (name, method, enctype, action) => {
    const form = Object.assign(document.createElement("form"), { method, enctype, action, target: name });
    // As text/plain, the name and the value of this field are one JSON object.
    form.append(Object.assign(document.createElement("input"), { name: '{"reply":"To the stranger.","by":"', value: '"}' }));
    document.body.append(form);
    return shown(name, "iframe", { name }, () => form.submit());
  };
  const json = { "Content-Type": "application/json" };
  const bearer = { Authorization: "Bearer " + token };
  await asked("simple POST", reply, { method: "POST", body: text });
  await asked("blind POST", reply, { method: "POST", body: text, mode: "no-cors" });
  await asked("POST with a type", reply, { method: "POST", body: text, headers: json });
  await asked("POST with the token", reply, { method: "POST", body: text, headers: { ...json, ...bearer } });
  await asked("blind POST with the token", reply, { method: "POST", body: text, mode: "no-cors", headers: { ...json, ...bearer } });
  await asked("GET", "/api/tasks");
  await asked("blind GET", "/api/tasks", { mode: "no-cors" });
  await asked("GET with the token", "/api/tasks", { headers: bearer });
  await asked("GET of the page", "/");
  await asked("GET of health", "/healthz");
  await asked("code", "/api/codes", { method: "POST", body: "{}", headers: { ...json, ...bearer } });
  await asked("stream", "/api/events");
  await asked("stream with the token", "/api/events", { headers: bearer });
  tried.beacon = "queued " + navigator.sendBeacon(reply, text);
  tried["event source"] = await new Promise((done) => {
    const source = new EventSource(base + "/api/events");
    source.onopen = () => done("open");
    source.onerror = () => (source.close(), done("error"));
  });
  tried.socket = await new Promise((done) => {
    const socket = new WebSocket(base.replace("http", "ws") + "/api/events");
    socket.onopen = () => done("open");
    socket.onerror = () => done("error");
  });
  tried.module = await import(base + "/page.js").then(() => "load", () => "error");
  await shown("image", "img", { src: base + "/api/tasks/" + id });
  await shown("script", "script", { src: base + "/page.js" });
  await shown("data as a script", "script", { src: base + "/api/tasks" });
  await shown("style", "link", { rel: "stylesheet", href: base + "/page.css" });
  await shown("frame", "iframe", { src: base + "/" });
  await shown("frame of data", "iframe", { src: base + "/api/tasks/" + id });
  await sent("plain form", "post", "text/plain", reply);
  await sent("form", "post", "application/x-www-form-urlencoded", reply);
  await sent("form in parts", "post", "multipart/form-data", reply);
  await sent("form that reads", "get", "", base + "/api/tasks");
  tried.done = "yes";
};
`

// TestFaultW2_PageOfAnotherPortInABrowser: a page at another port of this machine can send requests to waybill. None
// changes anything, and nothing of an answer can be read or shown, whatever the page knows.
func TestFaultW2_PageOfAnotherPortInABrowser(t *testing.T) {
	t.Parallel()
	evil := newHostileSite(t, crossing)
	b := newBrowser(t)
	w := newYard(t)
	h := w.serve("")
	id := h.asks("Move the gate", "Where to?")
	person := b.tab()
	person.open(w.link()) // somebody is signed in, in the same browser
	person.look(`location.hash = "#/inbox/" + ` + quoted(id))
	seq, plate := h.cursor(), w.doorplate()

	p := b.stranger()
	p.run(navigate(evil.URL))
	p.sees("Hello.")
	p.look(fmt.Sprintf(`void attack(%q, %q, %q)`, plate.URL, id, plate.Token))
	const unseen = "frame null"
	require.Equal(t, map[string]string{
		"simple POST": "nothing", "blind POST": "nothing", "POST with a type": "nothing", "POST with the token": "nothing", "blind POST with the token": "nothing",
		"GET": "nothing", "blind GET": "nothing", "GET with the token": "nothing", "GET of the page": "nothing", "GET of health": "nothing", "code": "nothing",
		"stream": "nothing", "stream with the token": "nothing", "beacon": "queued true", "event source": "error", "socket": "error",
		"module": "error", "image": "error", "script": "error", "data as a script": "error", "style": "error",
		"frame": unseen, "frame of data": unseen, "plain form": unseen, "form": unseen, "form in parts": unseen, "form that reads": unseen,
	}, p.tried())
	require.Equal(t, []string{
		"chrome-error://chromewebdata/", "chrome-error://chromewebdata/", "chrome-error://chromewebdata/",
		"chrome-error://chromewebdata/", "chrome-error://chromewebdata/", "chrome-error://chromewebdata/",
	}, p.frames(), "a frame shows something")
	h.unmoved(id, seq)
	for _, code := range []string{"FORBIDDEN", "UNSUPPORTED_MEDIA_TYPE", "METHOD_NOT_ALLOWED"} {
		require.GreaterOrEqual(t, plate.rejected(t, code), 5, "the requests have not reached the front door: %s", code)
	}

	person.focus("#reply")
	person.write("To the street.")
	person.press("Enter")
	h.hears("task/updated", id, `"QUEUED"`)
}

// The frame of the page: navigation, the state of the connection, and the present view.
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { Announcer } from "./announce.tsx";
import { canAsk } from "./badge.ts";
import { BulkBar } from "./bulk.tsx";
import { status } from "./counts.ts";
import { Help, helpOpen } from "./help.tsx";
import { Home } from "./home.tsx";
import { nameOf, waiting } from "./inbox.ts";
import { Instructions } from "./instructions.tsx";
import { heldBack, linkReason, linkState, pause, paused, refreshAll } from "./live.ts";
import { Notices } from "./notices.tsx";
import { Overview } from "./overview.tsx";
import { Plans } from "./plans.tsx";
import { link, route, views } from "./route.ts";
import type { View } from "./route.ts";
import { Runs } from "./runs.tsx";
import { SignIn } from "./signin.tsx";
import { Tasks } from "./tasks.tsx";
import { Text } from "./text.tsx";
import { signedIn } from "./wire.ts";
import { many } from "./words.ts";

const shown: Record<View, () => JSX.Element> = {
  inbox: Home, tasks: Tasks, runs: Runs, plans: Plans, instructions: Instructions, notices: Notices, status: Overview,
};

export function App(): JSX.Element {
  const { view, at } = route.value;
  const Shown = shown[view];
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>Skip to the content</a>
      <header class="top">
        <nav aria-label="Views">
          <ul>{views.map((v) => <li key={v}><a href={link({ view: v, ...(v === "inbox" ? { at: "" } : {}) })} aria-current={v === view ? "page" : undefined}>{name(v)}<Tally of={v} /></a></li>)}</ul>
        </nav>
        <button type="button" class="quiet" onClick={() => (helpOpen.value = true)} aria-label="Keys and settings">?</button>
      </header>
      <Banner />
      <main id="main" tabIndex={-1}>
        <Shown key={view === "inbox" ? view : view + at} />
      </main>
      <BulkBar />
      <footer>
        <Place />
        <Currency />
      </footer>
      <Help />
      <Announcer />
    </>
  );
}

/** The fragment of the URL is the route, so the link to the content must not change it. */
function skip(e: Event): void {
  e.preventDefault();
  document.getElementById("main")?.focus();
}

function name(v: View): string {
  return v.charAt(0).toUpperCase() + v.slice(1);
}

function Tally({ of }: { of: View }): JSX.Element | null {
  const counts = status.value?.counts;
  const n = of === "inbox" ? waiting.value : of === "notices" ? (counts?.notices_open ?? 0) : of === "instructions" ? (counts?.instructions["failed"] ?? 0) : 0;
  if (n === 0) return null;
  const what = { inbox: "waiting", notices: "open" }[of as string] ?? "failed";
  return <span class={of === "inbox" ? "count hot" : "count"}>{n}<span class="unseen"> {what}</span></span>;
}

const words = {
  connecting: "connecting", live: "live", reconnecting: "reconnecting", refused: "refused", gone: "gone", out: "signed out", paused: "paused",
} as const;

/** The workspace that is shown, and its store. */
function Place(): JSX.Element {
  const s = status.value;
  if (!s) return <span class="where" />;
  const { workspace, store } = s;
  return (
    <span class="where">
      {route.value.at !== "" && route.value.view !== "inbox" && <a href={link({ view: "inbox", at: "" })}>Inbox</a>}
      <b title={workspace.root}><Text of={nameOf(workspace.root)} /></b>
      <span title={workspace.root}><Text of={workspace.root} /></span>
      <span title={store.path}>store: <Text of={store.path ?? store.kind} /></span>
    </span>
  );
}

/** The age of the page. A press pauses updates; a lost connection still shows. */
function Currency(): JSX.Element {
  const link = linkState.value;
  const whole = link === "live" || link === "connecting";
  const state = !signedIn.value ? "out" : paused.value && whole ? "paused" : link;
  const held = heldBack.value > 0 ? `, ${many(heldBack.value, "event")}` : "";
  const word = !paused.value || state === "out" ? words[state] : whole ? words.paused + held : `${words.paused}${held}, ${words[link]}`;
  return (
    <>
      <span class={`link link-${state}`} data-link={state}>
        <span class="dot" aria-hidden="true" />
        {word}
      </span>
      <button type="button" class="quiet" aria-pressed={paused.value} onClick={() => pause(!paused.value)}>
        {paused.value ? "Go on" : "Pause"}
      </button>
    </>
  );
}

/** Shows problems at the top without taking the focus. */
function Banner(): JSX.Element | null {
  const asked = useSignal(false);
  if (!signedIn.value) return <SignIn />;
  switch (linkState.value) {
    case "gone":
      return (
        <div class="banner bad" role="alert">
          waybill has ended or does not answer. What you see is what it was. What you type is not sent; it is kept as long as this tab is open. <button type="button" onClick={refreshAll}>Try again</button>
        </div>
      );
    case "refused":
      return (
        <div class="banner bad" role="alert">
          waybill is there, but does not tell this page what happens: <Text of={linkReason.value} />. What you see is what it was. <button type="button" onClick={refreshAll}>Try again</button>
        </div>
      );
    case "live":
      if (status.value?.store.mode === "read_only") return <div class="banner wait" role="status">The store is read-only: you cannot answer or change anything.</div>;
      if (status.value && status.value.degraded.length > 0) {
        return (
          <div class="banner wait" role="status">
            {many(status.value.degraded.length, "thing is", "things are")} not as it should be: <a href={link({ view: "status" })}>status</a>
          </div>
        );
      }
      if (route.value.view === "inbox" && waiting.value === 0 && canAsk() && !asked.value) {
        return (
          <div class="banner" role="status">
            Be told of what waits for you while you look elsewhere?{" "}
            <button type="button" class="quiet" onClick={() => void Notification.requestPermission().finally(() => (asked.value = true))}>Tell me</button>{" "}
            <button type="button" class="quiet" onClick={() => (asked.value = true)}>No</button>
          </div>
        );
      }
      return null;
    case "connecting":
    case "reconnecting":
      return null;
  }
}

// Small parts of all views.
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { computed, useSignal } from "@preact/signals";
import { now } from "./clock.ts";
import { visible } from "./marks.ts";
import { asFault, newKey } from "./wire.ts";
import type { Fault } from "./wire.ts";
import { Text } from "./text.tsx";
import { ago, agoSpoken, curl, instant } from "./words.ts";
import { announce } from "./announce.tsx";

/** Colour and sign of a state, shown with its word. */
const tones: Record<string, "wait" | "run" | "good" | "bad" | "idle"> = {
  AWAITING_RESPONSE: "wait", QUEUED: "idle", RUNNING: "run", COMPLETE: "good", ERROR: "bad", CANCELLED: "idle", BLOCKED: "bad",
  armed: "idle", queued: "idle", sent: "run", acknowledged: "good", failed: "bad", cancelled: "idle",
  pending: "idle", running: "run", completed: "good", error: "bad", interrupted: "bad", lost: "bad", awaiting_response: "wait",
  in_progress: "run", blocked: "bad", skipped: "idle", done: "good",
};

const signs = { wait: "?", run: "▶", good: "✓", bad: "!", idle: "·" };

function toneOf(state: string): keyof typeof signs {
  return Object.hasOwn(tones, state) ? (tones[state] ?? "idle") : "idle";
}

/** A state as words: AWAITING_RESPONSE is "awaiting response". */
export function stateWord(state: string): string {
  return visible(state.toLowerCase().replaceAll("_", " "));
}

const signsOf: Record<string, { tone: keyof typeof signs; sign: string; word: string }> = {
  question: { tone: "wait", sign: "?", word: "question" },
  blocked: { tone: "bad", sign: "■", word: "blocked" },
  failed_task: { tone: "bad", sign: "!", word: "failed" },
  failed_instruction: { tone: "bad", sign: "!", word: "not acknowledged" },
  reported: { tone: "wait", sign: "!", word: "reported" },
  unreadable: { tone: "bad", sign: "!", word: "unreadable" },
  gone: { tone: "idle", sign: "–", word: "gone" },
  // The signs of proof
  proven: { tone: "good", sign: "✓", word: "proven" },
  refuted: { tone: "bad", sign: "✗", word: "refuted" },
  stale: { tone: "wait", sign: "↻", word: "stale" },
  missing: { tone: "wait", sign: "○", word: "not checked yet" },
  untrusted: { tone: "wait", sign: "?", word: "needs your trust" },
  none_required: { tone: "idle", sign: "“", word: "only said" },
  said: { tone: "idle", sign: "“", word: "only said" },
};

/** The sign of a kind of entry, or of a proof. It is the same everywhere. */
export function Sign({ of, word }: { of: string; word?: boolean }): JSX.Element {
  const { tone, sign, word: says } = signsOf[of] ?? { tone: "idle", sign: "·", word: stateWord(of) };
  return (
    <span class={`state tone-${tone}`} title={says}>
      <span class="sign" aria-hidden="true">{sign}</span>
      {word && says}
    </span>
  );
}

export function State({ of, note }: { of: string; note?: string | undefined }): JSX.Element {
  const tone = toneOf(of);
  return (
    <span class={`state tone-${tone}`}>
      <span class="sign" aria-hidden="true">{signs[tone]}</span>
      {stateWord(of)}
      {note && <span class="note"> · <Text of={note.replaceAll("_", " ")} /></span>}
    </span>
  );
}

/** An age that counts on, with the full time on demand. It is drawn only when its text changes. */
export function Age({ of }: { of: string }): JSX.Element {
  const short = useMemo(() => computed(() => ago(now.value - Date.parse(of))), [of]).value;
  return (
    <time dateTime={of} title={`${instant(of)} (${agoSpoken(now.peek() - Date.parse(of))})`}>
      {short}
    </time>
  );
}

export function At({ of }: { of: string | undefined }): JSX.Element {
  return of === undefined ? <span class="faint">–</span> : <time dateTime={of} title={of}>{instant(of)}</time>;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

export function Waiting({ what }: { what: string }): JSX.Element {
  return <p class="loading" role="status">Reading {what}…</p>;
}

/** An error in the words of the server, with its hint. lead says what it means for the person. */
export function Trouble({ fault, again, lead = "" }: { fault: Fault; again?: (() => unknown) | undefined; lead?: string }): JSX.Element {
  return (
    <div class="trouble" role="alert">
      <p>
        {lead && <strong>{lead} </strong>}
        <Text of={fault.message} />
      </p>
      {fault.hint && <p class="faint"><Text of={fault.hint} /></p>}
      {fault.code && <p class="faint"><code>{fault.code}</code></p>}
      {again && <button type="button" onClick={() => void again()}>Try again</button>}
    </div>
  );
}

/** Names with their values; entries without a value are left out. */
export function Facts({ children }: { children: ComponentChildren }): JSX.Element {
  return <dl class="facts">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }): JSX.Element | null {
  if (children === undefined || children === null || children === "" || children === false) return null;
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** An id with a copy button. */
export function Id({ of }: { of: string }): JSX.Element {
  return <span class="id"><Copyable of={of} /></span>;
}

/** A line with a copy button. */
export function Copyable({ of }: { of: string }): JSX.Element {
  const copied = useSignal(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(of);
      copied.value = true;
      announce("Copied.");
    } catch {
      announce("The browser did not allow copying.");
    }
  };
  return (
    <>
      <code><Text of={of} /></code>
      <button type="button" class="quiet" onClick={() => void copy()} onBlur={() => (copied.value = false)} aria-label={`Copy ${visible(of)}`}>
        {copied.value ? "copied" : "copy"}
      </button>
    </>
  );
}

interface Action {
  label: string;
  question?: string;
  done: string;
  danger?: boolean;
  disabled?: boolean;
  /** Identity of the change, if the label does not have it. A repeat must be the same change. */
  what?: string;
  run: (key: string) => Promise<unknown>;
}

/**
 * A button that changes shared state. It asks its question first, if it has one, and shows the outcome. It does what
 * it offered at the time of the click. The key of run stays the same until the outcome is known.
 */
export function Act(props: Action): JSX.Element {
  const key = useRef({ what: "", key: "" });
  const busy = useSignal(false);
  const fault = useSignal<Fault | undefined>(undefined);
  const asking = useSignal<Action | undefined>(undefined);
  const run = async (action: Action) => {
    asking.value = undefined;
    if (busy.value) return;
    busy.value = true;
    fault.value = undefined;
    try {
      const what = action.what ?? action.label;
      if (key.current.key === "" || key.current.what !== what) key.current = { what, key: newKey() };
      await action.run(key.current.key);
      key.current.key = "";
      announce(action.done);
    } catch (thrown) {
      fault.value = asFault(thrown);
      if (fault.value.outcome !== "unknown") key.current.key = "";
    } finally {
      busy.value = false;
    }
  };
  const asked = asking.value;
  return (
    <span class="act">
      <button
        type="button"
        class={props.danger ? "danger" : ""}
        aria-disabled={busy.value || props.disabled}
        onClick={() => {
          if (busy.value || props.disabled) return;
          if (props.question) asking.value = props;
          else void run(props);
        }}
      >
        {busy.value ? "…" : props.label}
      </button>
      {fault.value && <Trouble fault={fault.value} />}
      {asked && (
        <Dialog title={asked.label} close={() => (asking.value = undefined)}>
          <p>{asked.question}</p>
          <p class="buttons">
            <button type="button" class={asked.danger ? "danger" : "primary"} onClick={() => void run(asked)}>{asked.label}</button>
            <button type="button" autofocus onClick={() => (asking.value = undefined)}>Leave it</button>
          </p>
        </Dialog>
      )}
    </span>
  );
}

/** A dialog. Escape closes it, and the focus returns. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  const before = useRef(document.activeElement);
  const gone = useRef(false);
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      gone.current = true; // the close event comes later, perhaps after another dialog has opened
      // Only if the user has not moved the focus.
      const at = document.activeElement;
      const elsewhere = at !== document.body && !dialog?.contains(at);
      dialog?.close(); // no element outside of an open dialog can take the focus
      if (before.current instanceof HTMLElement && !elsewhere) before.current.focus();
    };
  }, []);
  return (
    <dialog ref={ref} onClose={() => gone.current || close()} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** The whole answer of the server, and the request for a script. */
export function Raw({ of, at }: { of: unknown; at: string }): JSX.Element {
  const open = useSignal(false);
  return (
    <details class="raw" onToggle={(e) => (open.value = e.currentTarget.open)}>
      <summary>Raw JSON</summary>
      {open.value && (
        <>
          <p class="curl"><Copyable of={curl(location.origin + at)} /></p>
          <pre tabIndex={0}><Text of={JSON.stringify(of, null, 2)} /></pre>
        </>
      )}
    </details>
  );
}

/** Progress as a bar and in words. */
export function Bar({ done, of, label }: { done: number; of: number; label: string }): JSX.Element {
  const share = of > 0 ? Math.min(1, done / of) : 0;
  return (
    <span class="bar" role="img" aria-label={label}>
      <svg aria-hidden="true" width="100%" height="8">
        <rect class="bar-all" width="100%" height="8" rx="4" />
        <rect class="bar-done" width={`${share * 100}%`} height="8" rx="4" />
      </svg>
    </span>
  );
}

// The attempts of a task over time, as bars and as a table.
import type { JSX } from "preact";
import type { Attempt, Model } from "../../../schema/gen/protocol.ts";
import { now } from "./clock.ts";
import { visible } from "./marks.ts";
import { At, State, stateWord, toneOf } from "./parts.tsx";
import { Text } from "./text.tsx";
import { clockTime, duration } from "./words.ts";

/** A Span is the start and end of a bar, as shares of the width. */
export interface Span {
  from: number;
  width: number;
  /** It still runs. */
  open: boolean;
}

/** Places attempts between the first start and the last end, or now if one still runs. */
export function spans(attempts: readonly Attempt[], at: number): { spans: Span[]; first: number; last: number } {
  const begins = attempts.map((a) => Date.parse(a.started_at ?? a.created_at));
  const ends = attempts.map((a, i) => {
    if (a.completed_at) return Math.max(begins[i] ?? 0, Date.parse(a.completed_at));
    return Math.max(begins[i] ?? 0, at);
  });
  const first = Math.min(...begins);
  const last = Math.max(...ends);
  const whole = Math.max(1, last - first);
  return {
    first,
    last,
    spans: attempts.map((a, i) => ({
      from: ((begins[i] ?? first) - first) / whole,
      width: ((ends[i] ?? first) - (begins[i] ?? first)) / whole,
      open: a.completed_at === undefined,
    })),
  };
}

export function modelName(model: Model | undefined): string {
  if (model === undefined) return "";
  return `${model.provider_id}/${model.model_id}` + (model.variant ? `:${model.variant}` : "");
}

function lasted(a: Attempt, at: number): string {
  if (a.duration_ms !== undefined) return duration(a.duration_ms);
  if (a.started_at && !a.completed_at) return duration(at - Date.parse(a.started_at));
  return "";
}

/** More bars are unreadable; the table has all attempts. */
const mostBars = 40;
const rowHeight = 28;

export function Timeline({ attempts, total }: { attempts: readonly Attempt[]; total: number }): JSX.Element | null {
  if (attempts.length === 0) return null;
  const running = attempts.some((a) => !a.completed_at);
  const at = running ? now.value : 0;
  const drawn = attempts.slice(-mostBars);
  const layout = spans(drawn, at);
  return (
    <section class="timeline" aria-labelledby="timeline-title">
      <h3 id="timeline-title">Attempts</h3>
      <svg class="chart" role="img" aria-label={said(attempts, total)} width="100%" height={drawn.length * rowHeight + 20}>
        <defs>
          {/* Besides its colour, each kind of end has a pattern. */}
          <pattern id="fill-bad" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="6" height="6" class="bar-bad" />
            <rect width="2" height="6" class="bar-stripe" />
          </pattern>
          <pattern id="fill-wait" width="6" height="6" patternUnits="userSpaceOnUse">
            <rect width="6" height="6" class="bar-wait" />
            <circle cx="3" cy="3" r="1" class="bar-stripe" />
          </pattern>
          <pattern id="fill-idle" width="4" height="4" patternUnits="userSpaceOnUse">
            <rect width="4" height="4" class="bar-idle" />
            <rect width="4" height="1" class="bar-stripe" />
          </pattern>
        </defs>
        {drawn.map((a, i) => {
          const span = layout.spans[i];
          return span ? <Row key={a.attempt_id} a={a} span={span} y={i * rowHeight} at={at} /> : null;
        })}
        <text x="0" y={drawn.length * rowHeight + 14} class="axis">{clockTime(new Date(layout.first).toISOString())}</text>
        <text x="100%" y={drawn.length * rowHeight + 14} class="axis" text-anchor="end">
          {running ? "now" : clockTime(new Date(layout.last).toISOString())} · {duration(layout.last - layout.first)}
        </text>
      </svg>
      <Table attempts={attempts} total={total} at={at} />
    </section>
  );
}

function Row({ a, span, y, at }: { a: Attempt; span: Span; y: number; at: number }): JSX.Element {
  const tone = toneOf(a.status);
  const words = [`${a.attempt_number}`, stateWord(a.status), visible(modelName(a.model)), lasted(a, at)].filter((w) => w !== "").join(" · ");
  // The text is at the nearer end, so that it has room.
  const late = span.from > 0.5;
  return (
    <g>
      <rect class="bar-track" x="0" y={y + 18} width="100%" height="6" rx="3" />
      <rect
        class={`bar-${tone}${span.open ? " bar-open" : ""}`}
        fill={tone === "bad" || tone === "wait" || tone === "idle" ? `url(#fill-${tone})` : undefined}
        x={`${Math.min(99, span.from * 100)}%`}
        y={y + 16}
        width={`${span.width * 100}%`}
        style={{ width: `max(3px, ${span.width * 100}%)` }}
        height="10"
        rx="2"
      />
      <text class="bar-word" x={late ? "100%" : "0"} y={y + 12} text-anchor={late ? "end" : "start"}>
        {words}
      </text>
    </g>
  );
}

function said(attempts: readonly Attempt[], total: number): string {
  const last = attempts.at(-1);
  return `${total} ${total === 1 ? "attempt" : "attempts"}; the last is ${last ? stateWord(last.status) : "unknown"}. The table below has the same.`;
}

function Table({ attempts, total, at }: { attempts: readonly Attempt[]; total: number; at: number }): JSX.Element {
  return (
    <div class="scroll" role="group" tabIndex={0} aria-label="Attempts as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">#</th>
            <th scope="col">Status</th>
            <th scope="col">Model</th>
            <th scope="col">Lasted</th>
            <th scope="col">Began</th>
            <th scope="col">Session</th>
            <th scope="col">What went wrong</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((a, i) => {
            const before = attempts[i - 1]?.attempt_number ?? 0;
            const skipped = a.attempt_number - before - 1;
            return [
              skipped > 0 && (
                <tr key={`gap-${a.attempt_id}`}>
                  <td colSpan={7} class="faint">… {skipped} of {total} are not shown</td>
                </tr>
              ),
              <tr key={a.attempt_id}>
                <td>{a.attempt_number}</td>
                <td><State of={a.status} note={a.cause === "first" ? undefined : a.cause} /></td>
                <td><Text of={modelName(a.model)} /></td>
                <td class="nowrap">{lasted(a, at)}{a.clock_skew && " (clock set back)"}</td>
                <td class="nowrap"><At of={a.started_at} /></td>
                <td><Text of={a.session_id} /></td>
                <td class="error-cell">
                  <Text of={a.error} />
                  {a.error_class && <span class="faint"> ({a.error_class})</span>}
                  {a.stale_events > 0 && <span class="faint"> {a.stale_events} late reports</span>}
                </td>
              </tr>,
            ];
          })}
        </tbody>
      </table>
    </div>
  );
}

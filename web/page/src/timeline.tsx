// The attempts of a task, as a table.
import type { JSX } from "preact";
import type { Attempt, Model } from "../../../schema/gen/protocol.ts";
import { now } from "./clock.ts";
import { At, State } from "./parts.tsx";
import { Text } from "./text.tsx";
import { duration } from "./words.ts";

export function modelName(model: Model | undefined): string {
  if (model === undefined) return "";
  return `${model.provider_id}/${model.model_id}` + (model.variant ? `:${model.variant}` : "");
}

function lasted(a: Attempt, at: number): string {
  if (a.duration_ms !== undefined) return duration(a.duration_ms);
  if (a.started_at && !a.completed_at) return duration(at - Date.parse(a.started_at));
  return "";
}

export function Timeline({ attempts, total }: { attempts: readonly Attempt[]; total: number }): JSX.Element | null {
  if (attempts.length === 0) return null;
  const running = attempts.some((a) => !a.completed_at);
  return (
    <section class="timeline" aria-labelledby="timeline-title">
      <h3 id="timeline-title">Attempts</h3>
      <Table attempts={attempts} total={total} at={running ? now.value : 0} />
    </section>
  );
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

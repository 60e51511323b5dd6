// One thing that is shown, read again when it became old.
import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { Topic } from "./fold.ts";
import { touches } from "./fold.ts";
import { watch } from "./live.ts";
import { inTurn } from "./turns.ts";
import { asFault } from "./wire.ts";
import type { Fault } from "./wire.ts";

export interface Thing<T> {
  /** The last reading, which stays while the next one is under way or fails. */
  value: ReadonlySignal<T | undefined>;
  fault: ReadonlySignal<Fault | undefined>;
  reload(): Promise<void>;
}

/** What is read for a key, until there is another one or nobody looks any more. */
interface Subject {
  key: string;
  reload: () => Promise<void>;
}

/** Reads a thing as long as the component is there: at once, for another key, and when one of the topics became old. */
export function useThing<T>(key: string, read: () => Promise<T>, topics: readonly Topic[], subject?: string): Thing<T> {
  const value = useSignal<T | undefined>(undefined);
  const fault = useSignal<Fault | undefined>(undefined);
  const current = useRef<Subject | undefined>(undefined);
  const latest = useRef(read);
  latest.current = read;
  const about = (): Subject => {
    const mine: Subject = {
      key,
      reload: inTurn(async () => {
        if (current.current !== mine) return;
        try {
          const got = await latest.current();
          if (current.current !== mine) return;
          value.value = got;
          fault.value = undefined;
        } catch (thrown) {
          if (current.current === mine) fault.value = asFault(thrown);
        }
      }),
    };
    return mine;
  };
  if (current.current?.key !== key) {
    // What was read for another key must not be seen for a moment under this one.
    current.current = about();
    value.value = undefined;
    fault.value = undefined;
  }
  useEffect(() => {
    const mine = (current.current ??= about());
    void mine.reload();
    const stop = watch((change) => {
      if (touches(change, topics, subject)) void mine.reload();
    });
    return () => {
      if (current.current === mine) current.current = undefined;
      stop();
    };
  }, [key]);
  return { value, fault, reload: current.current.reload };
}

// The filter line above a list, and the states to choose from.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { parseFilter, route, filterBy, withField } from "./route.ts";
import type { Filter } from "./route.ts";

export function filterOf(names: readonly string[]): Filter {
  return parseFilter(route.value.filter, names);
}

/** The states of a field, with their counts. */
interface Choice {
  value: string;
  label: string;
  count?: number | undefined;
}

/** Pause in typing before a search, because otherwise each key would ask the server. */
const settled = 150;

/** The text of the line, ahead of the filter. */
function useLine(): { line: string; type: (line: string) => void; settle: () => void } {
  const typed = useSignal<string | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const settle = () => {
    clearTimeout(timer.current);
    if (typed.value !== undefined) filterBy(typed.value);
    typed.value = undefined;
  };
  const type = (line: string) => {
    typed.value = line;
    clearTimeout(timer.current);
    timer.current = setTimeout(settle, settled);
  };
  return { line: typed.value ?? route.value.filter, type, settle };
}

interface Bar {
  example: string;
  /** The field of the choices. */
  field?: string;
  choices?: readonly Choice[];
  chosen?: string;
}

export function FilterBar({ example, field = "", choices = [], chosen = "" }: Bar): JSX.Element {
  const { line, type, settle } = useLine();
  return (
    <div class="filter">
      <input
        id="filter"
        type="search"
        value={line}
        placeholder={example}
        aria-label="Filter"
        autocomplete="off"
        spellcheck={false}
        onInput={(e) => type(e.currentTarget.value)}
        onBlur={settle}
      />
      {choices.length > 0 && <div class="choices" role="group" aria-label={field}>
        {[{ value: "", label: "all" }, ...choices].map((c: Choice) => (
          <button
            key={c.value}
            type="button"
            aria-pressed={c.value.toLowerCase() === chosen.toLowerCase()}
            onClick={() => filterBy(withField(route.value.filter, field, c.value))}
          >
            {c.label}
            {c.count !== undefined && c.count > 0 && <span class="count">{c.count}</span>}
          </button>
        ))}
      </div>}
    </div>
  );
}

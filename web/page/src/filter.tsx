// The line above a list that says what is looked for, and the states to choose from.
import type { JSX } from "preact";
import { parseFilter, route, filterBy, withField } from "./route.ts";
import type { Filter } from "./route.ts";

export function filterOf(names: readonly string[]): Filter {
  return parseFilter(route.value.filter, names);
}

/** The states that a field may have, each with how many there are. */
interface Choice {
  value: string;
  label: string;
  count?: number | undefined;
}

export function FilterBar(p: { example: string; field: string; choices: readonly Choice[]; chosen: string }): JSX.Element {
  return (
    <div class="filter">
      <input
        id="filter"
        type="search"
        value={route.value.filter}
        placeholder={p.example}
        aria-label="Filter"
        autocomplete="off"
        spellcheck={false}
        onInput={(e) => filterBy(e.currentTarget.value)}
      />
      {p.choices.length > 0 && <div class="choices" role="group" aria-label={p.field}>
        {[{ value: "", label: "all" }, ...p.choices].map((c: Choice) => (
          <button
            key={c.value}
            type="button"
            aria-pressed={c.value.toLowerCase() === p.chosen.toLowerCase()}
            onClick={() => filterBy(withField(route.value.filter, p.field, c.value))}
          >
            {c.label}
            {c.count !== undefined && c.count > 0 && <span class="count">{c.count}</span>}
          </button>
        ))}
      </div>}
    </div>
  );
}

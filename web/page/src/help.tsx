// Help for the keys, and the settings.
import type { JSX } from "preact";
import { signal } from "@preact/signals";
import { Dialog } from "./parts.tsx";
import { chooseName, chooseShortcuts, chooseTheme, me, shortcuts, theme } from "./settings.ts";
import type { Theme } from "./settings.ts";

export const helpOpen = signal(false);

const keys: readonly (readonly [string, string])[] = [
  ["j k ↓ ↑", "move in the list"],
  ["Enter", "open what is chosen; in the reply box, send"],
  ["r", "to the reply box"],
  ["n", "to the next question"],
  ["z", "take back an action about many entries"],
  ["/", "to the filter"],
  ["g i", "to the inbox; g t tasks, g r runs, g p plans, g n notices, g c instructions, g s status"],
  [".", "pause: nothing moves until you go on"],
  ["Esc", "out of a field, or back to the list"],
  ["?", "this help"],
];

export function Help(): JSX.Element | null {
  if (!helpOpen.value) return null;
  const themes: readonly Theme[] = ["system", "light", "dark"];
  return (
    <Dialog title="Keys and settings" close={() => (helpOpen.value = false)}>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>{key.split(" ").map((k) => <kbd key={k}>{k}</kbd>)}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog" class="settings">
        <label class="inline">
          <input type="checkbox" checked={shortcuts.value} onChange={(e) => chooseShortcuts(e.currentTarget.checked)} /> Single keys are commands
        </label>
        <fieldset>
          <legend>Colours</legend>
          {themes.map((t) => (
            <label key={t} class="inline">
              <input type="radio" name="theme" checked={theme.value === t} onChange={() => chooseTheme(t)} /> {t}
            </label>
          ))}
        </fieldset>
        <label>
          Your name, which goes with your answers
          <input type="text" value={me.value} maxLength={100} autocomplete="off" onInput={(e) => chooseName(e.currentTarget.value.trim())} />
        </label>
        <p class="buttons"><button type="submit">Close</button></p>
      </form>
    </Dialog>
  );
}

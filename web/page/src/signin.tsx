// Signs a person in again without losing the content of the tab.
import type { JSX } from "preact";
import { useSignal } from "@preact/signals";
import { notIn, refreshAll, signIn } from "./live.ts";
import { codeIn } from "./wire.ts";

/** The problem of an address with a code, or "". */
function objection(line: string): string {
  if (codeIn(line) === "") return "That is not an address that waybill ui prints.";
  if (!line.startsWith(location.origin + "/")) {
    return "That address belongs to another page: open it in a new tab. Your typed text stays in this one.";
  }
  return "";
}

export function SignIn(): JSX.Element {
  const line = useSignal("");
  const said = useSignal("");
  const enter = async () => {
    const address = line.value.trim();
    said.value = objection(address);
    if (said.value !== "") return;
    if ((await signIn(codeIn(address))) === "") refreshAll();
  };
  return (
    <div class="banner bad">
      <p role="alert">
        {notIn.value || "This tab is not signed in: waybill was started again, or the address did not come from waybill ui."} Run{" "}
        <code>waybill ui --no-browser</code>, and put the address here that it prints. What you have typed is kept as long as this tab is open.
      </p>
      <form
        class="sign-in"
        aria-label="Sign in"
        onSubmit={(e) => {
          e.preventDefault();
          void enter();
        }}
      >
        <input type="text" value={line.value} aria-label="Address" placeholder={location.origin + "/#c=…"} autocomplete="off" spellcheck={false} onInput={(e) => (line.value = e.currentTarget.value)} />
        <button type="submit">Sign in</button>
      </form>
      {said.value && <p role="alert">{said.value}</p>}
    </div>
  );
}

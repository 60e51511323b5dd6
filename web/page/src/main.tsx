// Starts the page.
import { render } from "preact";
import { announceAlong } from "./announce.tsx";
import { App } from "./app.tsx";
import { keepBadge, tellOfQuestions } from "./badge.ts";
import { runClock } from "./clock.ts";
import { countAlong } from "./counts.ts";
import { readAlong } from "./inbox.ts";
import { listenToKeys } from "./keys.ts";
import { refreshAll, signIn, stayCurrent } from "./live.ts";
import { followURL, link, route } from "./route.ts";
import { chooseTheme, theme } from "./settings.ts";
import { codeIn } from "./wire.ts";

/** Removes the one-time code from the URL, so that neither the history nor a copied address has it. */
function takeCode(then: string): string {
  const code = codeIn(location.hash);
  if (code !== "") history.replaceState(null, "", then);
  return code;
}

/** A pasted address with a code signs this page in and keeps the view. */
function signInByURL(): void {
  addEventListener("hashchange", () => {
    const code = takeCode(link(route.value));
    if (code !== "") void signIn(code).then(refreshAll);
  });
}

async function begin(): Promise<void> {
  const code = takeCode(location.pathname);
  chooseTheme(theme.value);
  if (code !== "") await signIn(code);
  signInByURL();
  followURL();
  runClock();
  keepBadge();
  listenToKeys();
  render(<App />, document.getElementById("page") as HTMLElement);
  readAlong();
  countAlong();
  tellOfQuestions();
  announceAlong();
  void stayCurrent();
}

void begin();

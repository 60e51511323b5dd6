// Begins the page.
import { render } from "preact";
import { App } from "./app.tsx";
import { keepBadge, tellOfQuestions } from "./badge.ts";
import { runClock } from "./clock.ts";
import { countAlong } from "./counts.ts";
import { listenToKeys } from "./keys.ts";
import { linkState, stayCurrent } from "./live.ts";
import { followURL } from "./route.ts";
import { chooseTheme, theme } from "./settings.ts";
import { login, token } from "./wire.ts";

/** Takes the one-time code out of the URL, so that neither the history nor a copied address has it. */
function takeCode(): string {
  if (!location.hash.startsWith("#c=")) return "";
  const code = new URLSearchParams(location.hash.slice(1)).get("c") ?? "";
  history.replaceState(null, "", location.pathname);
  return code;
}

async function begin(): Promise<void> {
  const code = takeCode();
  chooseTheme(theme.value);
  if (code !== "") await login(code).catch(() => undefined); // then there is no token, which is said below
  followURL();
  runClock();
  keepBadge();
  listenToKeys();
  render(<App />, document.getElementById("page") as HTMLElement);
  if (token() === "") {
    linkState.value = "out";
    return;
  }
  countAlong();
  tellOfQuestions();
  stayCurrent();
}

void begin();

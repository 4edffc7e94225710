import { render } from "preact";
import { chooseTransport, connect } from "./model/answers.ts";
import { followLanguage } from "./model/language.ts";
import { followOpener } from "./model/opened.ts";
import { followAddress } from "./model/route.ts";
import { followTheme } from "./model/theme.ts";
import { askFirst } from "./model/trace.ts";
import { Shell } from "./views/shell/shell.tsx";

const SOON_MS = 60;

await chooseTransport();
followAddress();
followTheme();
// The list of runs is there in a few milliseconds. With it the page is drawn once instead of twice, and its first
// question is on the way while it is drawn.
await Promise.all([followLanguage(), Promise.race([connect(), new Promise((done) => setTimeout(done, SOON_MS))])]);
followOpener();
askFirst();
render(<Shell />, document.getElementById("page") as HTMLElement);

import { render } from "preact";
import { theReport } from "./api/report.ts";
import { connect, setTransport } from "./model/answers.ts";
import { followAddress } from "./model/route.ts";
import { followTheme } from "./model/theme.ts";
import { askFirst } from "./model/trace.ts";
import { Shell } from "./views/shell/shell.tsx";

const SOON_MS = 60;

// In a report the answers are in the page's own file, and what reads them is needed nowhere else.
const report = theReport();
if (report) setTransport((await import("./api/embedded.ts")).embedded(report));
followAddress();
followTheme();
// The list of runs is there in a few milliseconds. With it the page is drawn once instead of twice, and its first
// question is on the way while it is drawn.
await Promise.race([connect(), new Promise((done) => setTimeout(done, SOON_MS))]);
askFirst();
render(<Shell />, document.getElementById("page") as HTMLElement);

import { render } from "preact";
import { connect } from "./model/answers.ts";
import { followAddress } from "./model/route.ts";
import { followTheme } from "./model/theme.ts";
import { Shell } from "./views/shell/shell.tsx";

followAddress();
followTheme();
connect();
render(<Shell />, document.getElementById("page") as HTMLElement);

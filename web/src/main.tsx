import { render } from "preact";
import { connect } from "./model/data.ts";
import { followAddress } from "./model/place.ts";
import { followTheme } from "./model/theme.ts";
import { Shell } from "./views/shell.tsx";

followAddress();
followTheme();
connect();
render(<Shell />, document.getElementById("page") as HTMLElement);

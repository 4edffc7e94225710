// The package for programs in JavaScript:
//
//     import { open } from "tacho-profiler";
//     const trace = await open("trace.json.gz");
//     trace.ask("overview").verdict.text
//     trace.query("select name, count(*) from slice group by 1")   rows as objects
//     trace.arrow("select …")                                       an Arrow stream, for apache-arrow and others
import { statSync } from "node:fs";
import { address } from "../api/transport.ts";
import type { Answer, Open, Parameters, Reply } from "./library-types.ts";
import { ours, sleep } from "./node-files.ts";
import { nodeHost, theModule } from "./node-host.ts";
import { start } from "./program.ts";

const LOOK_MS = 100;

export const open: Open = async (path) => {
  statSync(path);
  const program = await start(theModule(), nodeHost([]));
  program.open(ours(path), false);
  const text = (reply: Reply) => new TextDecoder().decode(reply.body);
  function raw(route: string, parameters: Parameters = {}): Reply {
    for (;;) {
      const reply = program.ask(address(route, parameters));
      if (reply.code === 202 && program.work()) continue;
      if (reply.code === 202 && program.look()) {
        sleep(LOOK_MS); // a file that is being written
        continue;
      }
      if (reply.code !== 200) throw new Error(JSON.parse(text(reply)).error?.msg ?? text(reply));
      return reply;
    }
  }
  const ask = (route: string, parameters?: Parameters) => JSON.parse(text(raw(route, parameters))) as Answer;
  return {
    raw,
    ask,
    query(sql, parameters) {
      const [table] = Object.values(ask("query", { limit: 0, ...parameters, sql }).tables);
      const names = table?.columns.map((c) => c.name) ?? [];
      return (table?.rows ?? []).map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])));
    },
    arrow: (sql, parameters) => raw("query", { limit: 0, ...parameters, sql, format: "arrow" }).body,
  };
};

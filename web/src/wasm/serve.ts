// `npx tacho serve FOLDER`: the page and its answers over HTTP, for this machine alone. The guard is that of
// src/serve/guard.c in short: only GET, only a Host that means this machine, no other site.
import { createReadStream, existsSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";
import { ours } from "./node-files.ts";
import { here, nodeHost, theModule } from "./node-host.ts";
import { type Program, start } from "./program.ts";

const MEDIA: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
  "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const LOOK_MS = 2000;
const FIRST_PORT = 8080;
const LAST_PORT = 8099;

const isOurs = (request: IncomingMessage): boolean => {
  const host = (request.headers.host ?? "").replace(/:\d+$/, "");
  const site = request.headers["sec-fetch-site"];
  return ["127.0.0.1", "localhost", "[::1]"].includes(host) && (!site || site === "same-origin" || site === "none");
};

function send(response: ServerResponse, code: number, media: string, body: string | Uint8Array, name = ""): void {
  const saved = name ? { "Content-Disposition": `attachment; filename="${name.replace(/[^\w.+=-]/g, "_")}"` } : {};
  response.writeHead(code, {
    "Content-Type": media,
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    ...saved,
  });
  response.end(body);
}

function sendFile(response: ServerResponse, path: string): void {
  const name = path === "/" ? "index.html" : path.slice(1);
  const file = join(here, "page", name);
  if (!/^[\w.-]+$/.test(name) || !existsSync(file)) {
    send(response, 404, "text/plain", "not found\n");
    return;
  }
  response.setHeader("Content-Security-Policy", POLICY);
  response.setHeader("Content-Type", MEDIA[extname(file)] ?? "application/octet-stream");
  createReadStream(file).pipe(response);
}

function listener(program: Program) {
  let working = false;
  /** Reads what was asked for, one file at a time, and lets requests in between. */
  const work = () => {
    if (working) return;
    working = true;
    setImmediate(function step() {
      if (program.work()) setImmediate(step);
      else working = false;
    });
  };
  setInterval(() => {
    program.look();
    work();
  }, LOOK_MS).unref();
  work();
  return (request: IncomingMessage, response: ServerResponse): void => {
    const target = request.url ?? "/";
    if (request.method !== "GET" || !isOurs(request)) send(response, 403, "text/plain", "this page is for this machine\n");
    else if (target.startsWith("/api/")) {
      const reply = program.ask(target);
      send(response, reply.code, reply.media, reply.body, reply.name);
      work();
    } else sendFile(response, target.split("?")[0] ?? "/");
  };
}

const listen = (server: ReturnType<typeof createServer>, port: number): Promise<boolean> =>
  new Promise((done) => {
    server.once("error", () => done(false));
    server.listen(port, "127.0.0.1", () => done(true));
  });

/** The folder, and the ports that may be taken: the one that was named, else the first free one from 8080 on. */
function parse(args: readonly string[]): { folder: string; ports: number[] } | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { port: { type: "string", short: "p" } },
      allowPositionals: true,
    });
    const all = Array.from({ length: LAST_PORT - FIRST_PORT + 1 }, (_, i) => FIRST_PORT + i);
    const ports = values.port === undefined ? all : [Number(values.port)];
    const [folder] = positionals;
    if (folder && positionals.length === 1 && ports.every(Number.isInteger)) return { folder, ports };
  } catch {
    // an option that is not known
  }
  return undefined;
}

export async function serve(args: readonly string[]): Promise<number> {
  const wanted = parse(args);
  if (!wanted) {
    console.error("usage: tacho serve LOGDIR [--port PORT]   (tacho for Linux has more options)");
    return 1;
  }
  const { folder, ports } = wanted;
  if (!existsSync(folder)) {
    console.error(`tacho: cannot open ${folder}: no such file or folder`);
    return 2;
  }
  const program = await start(theModule(), nodeHost([]));
  try {
    program.open(ours(folder), false);
  } catch (e) {
    console.error(`tacho: ${(e as Error).message}`);
    return 2;
  }
  const server = createServer(listener(program));
  for (const port of ports)
    if (await listen(server, port)) {
      console.error(`tacho: http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      return new Promise((done) => process.once("SIGINT", () => server.close(() => done(0))));
    }
  console.error(`tacho: port ${ports[0]} is in use`);
  return 2;
}

// The package for node, as a program uses it, and `serve`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const { open } = await import(join(root, "build/wasm/npm/index.mjs"));
const sample = join(root, "tests/data/sample.pt.trace.json.gz");
const tests = {
  async "questions, rows and Arrow of a trace"() {
    const trace = await open(sample);
    assert.match(trace.ask("overview").verdict.text.en, /GPU/);
    const rows = trace.query("select name, count(*) as n from slice group by 1 order by n desc, name limit 3");
    assert.equal(rows.length, 3);
    assert.ok(rows[0].n >= rows[1].n && typeof rows[0].name === "string");
    const arrow = trace.arrow("select 1 as one");
    assert.equal(new DataView(arrow.buffer, arrow.byteOffset).getUint32(0, true), 0xffffffff, "a stream of Arrow");
    assert.throws(() => trace.ask("query", { sql: "selec" }), /selec/);
    assert.throws(() => trace.ask("nothing"), /nothing/);
  },
  async "what cannot be read says why"() {
    await assert.rejects(open(join(root, "tests/data/none")), /none/);
    const trace = await open(join(root, "tests/wasm"));
    assert.throws(() => trace.ask("overview"), /no trace/i);
  },
  async "serve answers this machine alone"() {
    const server = spawn(join(root, "tests/wasm/tacho"), ["serve", sample, "--port", "0"], { stdio: ["ignore", "ignore", "pipe"] });
    try {
      const url = await new Promise((done, fail) => {
        let said = "";
        server.stderr.on("data", (d) => {
          said += d;
          const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(said);
          if (found) done(found[0]);
        });
        server.on("exit", () => fail(new Error(said)));
      });
      assert.match(await (await fetch(url)).text(), /<title>tacho<\/title>/);
      for (let i = 0; ; i++) {
        const answer = await fetch(`${url}api/v1/overview?wait=0`);
        if (answer.status === 202 && i < 100) continue;
        assert.match((await answer.json()).verdict.text.en, /GPU/);
        break;
      }
      assert.equal((await fetch(`${url}../../package.json`)).status, 404);
      assert.equal((await fetch(url, { method: "POST" })).status, 403);
      assert.equal((await fetch(url, { headers: { "Sec-Fetch-Site": "cross-site" } })).status, 403);
    } finally {
      server.kill();
    }
  },
};

let failed = 0;
for (const [name, run] of Object.entries(tests))
  try {
    await run();
  } catch (e) {
    failed++;
    console.log(`FAIL ${name}\n  ${e.stack}`);
  }
console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);

// Runs the tests, a few at a time: each has a separate browser context, the server and the files are shared.
import { stand } from "./stand.mjs";
import { tests } from "./tools.mjs";
import "./numbers.mjs";
import "./ways.mjs";
import "./shell.mjs";
import "./timeline.mjs";
import "./views.mjs";
import "./pictures.mjs";
import "./paddle.mjs";
import "./frameworks.mjs";
import "./ranks.mjs";
import "./together.mjs";
import "./truth.mjs";
import "./evidence.mjs";
import "./jumps.mjs";
import "./layout.mjs";
import "./tables.mjs";
import "./drop.mjs";
import "./compare.mjs";
import "./history.mjs";
import "./query.mjs";
import "./serving.mjs";
import "./report.mjs";
import "./why.mjs";
import "./code.mjs";
import "./tabs.mjs";
import "./live.mjs";
import "./findings.mjs";
import "./readme.mjs";

/** The line of a test that an error came from. */
const where = (e) => /tests\/browser\/(?!tools|stand|suite)[\w.]+:\d+/.exec(String(e.stack))?.[0] ?? String(e.message).split("\n")[0];

const LIMIT_MS = 480_000;

/** Runs a test; one that never ends is late, and the others go on without it. */
async function runWithLimit(test, s) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Timeout ${LIMIT_MS}ms exceeded: ${test.name}`)), LIMIT_MS);
  });
  try {
    await Promise.race([test.run(s), limit]);
  } finally {
    clearTimeout(timer);
  }
}

const AT_ONCE = Number(process.env.TACHO_BROWSER_JOBS ?? 3);

export async function main(root, words) {
  let s;
  try {
    s = { root, ...(await stand(root)) };
  } catch (e) {
    console.log(String(e.message ?? e));
    return /unknown command serve/.test(String(e)) ? 77 : 1;
  }
  const wanted = tests.filter(({ name }) => !words.length || words.some((w) => name.includes(w)));
  const able = wanted.filter(({ needs }) => needs.every((n) => s.has.includes(n)));
  for (const { name, needs } of wanted.filter((t) => !able.includes(t)))
    console.log(`SKIP ${name}: ${s.data} has no ${needs.filter((n) => !s.has.includes(n)).join(", ")}`);
  const count = { passed: 0, failed: 0, skipped: wanted.length - able.length };
  const queue = [...able];
  const late = [];
  const fail = (name, e) => {
    count.failed++;
    console.log(`FAIL ${name}\n  ${String(e.message ?? e).split("\n").slice(0, 24).join("\n  ")}`);
  };
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const begun = Date.now();
      try {
        await runWithLimit(next, s);
        count.passed++;
      } catch (e) {
        if (/Timeout \d+ms/.test(String(e.message))) late.push({ ...next, why: where(e) });
        else fail(next.name, e);
      }
      if (process.env.TACHO_BROWSER_TIMES) console.log(`${((Date.now() - begun) / 1000).toFixed(1)} s ${next.name}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  // Three browsers on two cores that others use too may be too slow for a limit. Alone there is no excuse.
  for (const next of late) {
    console.log(`LATE ${next.name} (${next.why}): once more, alone`);
    await runWithLimit(next, s).then(
      () => count.passed++,
      (e) => fail(next.name, e),
    );
  }
  await Promise.race([s.close(), new Promise((done) => setTimeout(done, 30_000).unref())]);
  console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  return count.failed ? 1 : 0;
}

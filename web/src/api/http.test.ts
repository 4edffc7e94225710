// Requests over HTTP, with a browser and a server that the test plays.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { RequestFailed } from "./transport.ts";

interface Sent {
  url: string;
  aborted: boolean;
  answer: (status: number, body: unknown) => Promise<void>;
  fail: () => Promise<void>;
}

const pageEvents = new EventTarget();
const sent: Sent[] = [];
const rest = () => new Promise<void>((done) => setTimeout(done, 1));

function fakeFetch(url: string, { signal }: { signal: AbortSignal }): Promise<Response> {
  return new Promise((resolve, reject) => {
    const one: Sent = {
      url,
      aborted: false,
      answer: (status, body) => {
        resolve(new Response(JSON.stringify(body), { status }));
        return rest();
      },
      fail: () => {
        reject(new TypeError("Failed to fetch"));
        return rest();
      },
    };
    signal.addEventListener("abort", () => {
      one.aborted = true;
      reject(signal.reason);
    });
    sent.push(one);
  });
}

Object.assign(globalThis, {
  fetch: fakeFetch,
  document: { visibilityState: "visible", addEventListener() {} },
  addEventListener: pageEvents.addEventListener.bind(pageEvents),
});
const { http } = await import("./http.ts");

/** The requests of a route that are on their way, the oldest first. */
const open = (route: string) => sent.filter((s) => s.url.startsWith(`/api/v1/${route}`));
const poll = async () => {
  for (let i = 0; i < 2000 && open("events").length === 0; i++) await rest();
  return take("events");
};
function take(route: string): Sent {
  const one = open(route)[0];
  assert.ok(one, `nothing asks for ${route}`);
  sent.splice(sent.indexOf(one), 1);
  return one;
}

let next = 0;
const news = (...events: string[]) => ({
  instance: "one",
  version: 1,
  next: ++next,
  missed: false,
  events: events.map((event) => ({ event, data: {} })),
});

const heard: string[] = [];
after(() => pageEvents.dispatchEvent(new Event("pagehide"))); // ends the timers
test("a trace that is still loading is asked for again when the server has news; nothing waits on the server", async () => {
  http.events((name) => heard.push(name));
  await (await poll()).answer(200, news());
  const answer = http.json("overview", { run: "a" });
  await rest();
  const first = take("overview");
  assert.equal(first.url, "/api/v1/overview?run=a&wait=0");
  await first.answer(202, { loading: {} });
  assert.equal(open("overview").length, 0);
  await (await poll()).answer(200, news("ready"));
  await take("overview").answer(200, "numbers");
  assert.equal(await answer, "numbers");
});

test("at most four are on their way; the rest waits in the page", async () => {
  const all = [1, 2, 3, 4, 5, 6].map((n) => http.json("slice", { id: n }));
  await rest();
  assert.equal(open("slice").length, 4);
  for (let i = 0; i < 6; i++) {
    await take("slice").answer(200, i);
    await rest();
  }
  assert.deepEqual(await Promise.all(all), [0, 1, 2, 3, 4, 5]);
});

test("a request that fails is made again when the server is there, and fails in a known way when it is not", async () => {
  const hiccup = http.json("steps", {});
  await rest();
  await take("steps").fail();
  await (await poll()).answer(200, news());
  await take("steps").answer(200, "fine");
  assert.equal(await hiccup, "fine");
  const gone = http.json("steps", {});
  await rest();
  const failed = assert.rejects(gone, (e) => e instanceof RequestFailed && e.error.code === "lost");
  await take("steps").fail();
  await (await poll()).fail();
  await failed;
  assert.equal(heard.at(-1), "lost");
});

test("what the server refuses is said as it says it", async () => {
  const refused = assert.rejects(http.json("steps", {}), (e) => e instanceof RequestFailed && e.error.msg === "no");
  await rest();
  await take("steps").answer(400, { error: { code: "bad_request", msg: "no", id: "X", values: {}, offset: null } });
  await refused;
});

test("leaving the page breaks off what is on its way; it is asked again when the page is back", async () => {
  const answer = http.json("advise", {});
  await rest();
  pageEvents.dispatchEvent(new Event("pagehide"));
  await rest();
  assert.equal(take("advise").aborted, true);
  for (const s of open("events")) assert.equal(s.aborted, true);
  sent.length = 0;
  await rest();
  assert.equal(sent.length, 0);
  pageEvents.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
  await (await poll()).answer(200, news());
  await take("advise").answer(200, "again");
  assert.equal(await answer, "again");
});

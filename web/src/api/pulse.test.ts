// The pulse with a server that answers when the test says so, and a clock that the test turns.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type News, newPulse, pauseOf } from "./pulse.ts";

const QUIET = { failures: 0, waits: false, polls: 0, hidden: false, moving: false };

test("a tab asks seldom when nothing happens, often while a request waits, not at all when nobody sees it", () => {
  assert.equal(pauseOf(QUIET), 1500);
  assert.equal(pauseOf({ ...QUIET, moving: true }), 250);
  assert.equal(pauseOf({ ...QUIET, waits: true }), 40);
  assert.equal(pauseOf({ ...QUIET, waits: true, polls: 20 }), 400);
  assert.equal(pauseOf({ ...QUIET, hidden: true }), undefined);
  assert.equal(pauseOf({ ...QUIET, hidden: true, waits: true }), 40);
});

test("a server that is gone is asked later and later, but never longer than five seconds apart", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 20].map((failures) => pauseOf({ ...QUIET, failures })),
    [1000, 2000, 4000, 5000, 5000],
  );
  assert.equal(pauseOf({ ...QUIET, failures: 1, hidden: true }), undefined);
});

interface Asked {
  since: number;
  answer: (news: Partial<News>) => Promise<void>;
  fail: (e?: unknown) => Promise<void>;
}

/** Lets everything run that waits for nothing. */
const rest = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

function pulseWith(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const asked: Asked[] = [];
  const heard: string[] = [];
  const tab = { hidden: false };
  const pulse = newPulse(
    (since) =>
      new Promise((resolve, reject) => {
        const usual: News = { instance: "one", version: 1, next: since, missed: false, events: [] };
        asked.push({
          since,
          answer: (news) => {
            resolve({ ...usual, ...news });
            return rest();
          },
          fail: (e) => {
            reject(e);
            return rest();
          },
        });
      }),
    () => tab.hidden,
  );
  pulse.start((name) => heard.push(name));
  const turn = async (ms: number) => {
    t.mock.timers.tick(ms);
    await rest();
  };
  return { pulse, asked, heard, tab, turn };
}

const event = (name: string) => ({ event: name, data: {} });

test("events are told once, in their order, from the first answer on", async (t) => {
  const { asked, heard, turn } = pulseWith(t);
  await asked[0]?.answer({ next: 7, events: [event("ready")] }); // from before the page was there
  assert.deepEqual(heard, ["hello"]);
  await turn(1500);
  assert.equal(asked[1]?.since, 7);
  await asked[1]?.answer({ next: 9, events: [event("runs"), event("progress")] });
  assert.deepEqual(heard, ["hello", "runs", "progress"]);
  await turn(250); // something moves
  assert.equal(asked[2]?.since, 9);
  await asked[2]?.answer({ next: 300, missed: true });
  assert.deepEqual(heard.slice(3), ["missed"]);
});

test("a server that is gone, comes back, or is another one is told", async (t) => {
  const { asked, heard, turn } = pulseWith(t);
  await asked[0]?.answer({});
  await turn(1500);
  await asked[1]?.fail();
  await turn(1000);
  await asked[2]?.fail();
  await turn(2000);
  await asked[3]?.answer({});
  assert.deepEqual(heard, ["hello", "lost", "lost", "hello"]);
  await turn(1500);
  await asked[4]?.answer({ instance: "two", next: 5, events: [event("runs")] });
  assert.deepEqual(heard.slice(4), ["hello"]);
});

test("a waiting request goes on when there is news, also news that came before it began to wait", async (t) => {
  const { pulse, asked, turn } = pulseWith(t);
  await asked[0]?.answer({});
  const seen = pulse.count();
  const done: string[] = [];
  void pulse.news(seen).then(() => done.push("first"));
  await turn(40);
  await asked[1]?.answer({ next: 1, events: [event("progress")] }); // is void
  assert.deepEqual(done, []);
  await turn(60);
  await asked[2]?.answer({ next: 2, events: [event("ready")] });
  assert.deepEqual(done, ["first"]);
  await pulse.news(seen);
});

test("a waiting request is not forgotten when nothing is told, and can be given up", async (t) => {
  const { pulse, asked, turn } = pulseWith(t);
  await asked[0]?.answer({});
  const done: string[] = [];
  const abort = new AbortController();
  void pulse.news(pulse.count()).then(() => done.push("after a while"));
  pulse.news(pulse.count(), abort.signal).catch(() => done.push("aborted"));
  abort.abort();
  await rest();
  assert.deepEqual(done, ["aborted"]);
  await turn(2000);
  assert.deepEqual(done, ["aborted", "after a while"]);
});

test("a hidden tab does not ask, unless a request waits; a tab that is left does not ask at all", async (t) => {
  const { pulse, asked, tab, turn } = pulseWith(t);
  await asked[0]?.answer({});
  tab.hidden = true;
  pulse.turned();
  await turn(600_000);
  assert.equal(asked.length, 1);
  void pulse.news(pulse.count());
  await turn(40);
  assert.equal(asked.length, 2);
  pulse.leave();
  await asked[1]?.fail(); // broken off
  await turn(600_000);
  assert.equal(asked.length, 2);
  pulse.back();
  assert.equal(asked.length, 3);
  await asked[2]?.answer({ instance: "two" }); // what waited continues
  tab.hidden = false;
  pulse.turned();
  assert.equal(asked.length, 4);
});

test("a question that is broken off by leaving is no lost connection", async (t) => {
  const { pulse, asked, heard } = pulseWith(t);
  await asked[0]?.answer({});
  pulse.now();
  pulse.leave();
  pulse.back(); // before the browser tells that it was broken off
  await asked[1]?.fail();
  assert.equal(asked.length, 3);
  await asked[2]?.answer({});
  assert.deepEqual(heard, ["hello"]);
});

test("checking tells whether the server answers", async (t) => {
  const { pulse, asked } = pulseWith(t);
  await asked[0]?.answer({});
  const there = pulse.check();
  await asked[1]?.answer({});
  assert.equal(await there, true);
  const gone = pulse.check();
  await asked[2]?.fail();
  assert.equal(await gone, false);
  assert.equal(await pulse.check(), false); // known
  assert.equal(asked.length, 3);
});

// Questions and answers, with a server that answers when the test says so.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestFailed, type Transport } from "../api/transport.ts";
import type { RunInfo, Runs } from "../api/types.ts";
import {
  arrivals,
  arrived,
  ask,
  connect,
  connection,
  departures,
  open,
  progress,
  runs,
  setTransport,
  tryAgain,
} from "./answers.ts";

interface Request {
  route: string;
  signal: AbortSignal | undefined;
  answer: (value: unknown) => void;
  refuse: (msg: string) => void;
}

let tell: (name: string, data: unknown) => void = () => {};

function fakeServer(): Request[] {
  const requests: Request[] = [];
  const json = <T>(route: string, _query: unknown, signal?: AbortSignal) =>
    new Promise<T>((resolve, reject) => {
      const refuse = (msg: string) => reject(new RequestFailed({ code: "bad", msg, id: "", values: {}, offset: null }));
      requests.push({ route, signal, answer: (value) => resolve(value as T), refuse });
    });
  setTransport({
    json,
    blocks: json as Transport["blocks"],
    text: json as unknown as Transport["text"],
    send: json as unknown as Transport["send"],
    url: () => "",
    events: (listener) => {
      tell = listener;
      return () => {};
    },
  });
  return requests;
}

/** Lets everything run that does not wait for the server. */
const rest = () => new Promise((done) => setTimeout(done, 0));

test("drawing starts no request: that comes after it, once for each slot", async () => {
  const requests = fakeServer();
  assert.deepEqual(ask("a", "first", {}), { value: undefined, old: false, error: undefined });
  ask("a", "second", {});
  ask("a", "second", {});
  assert.equal(requests.length, 0);
  assert.equal(open.value, 0);
  await rest();
  assert.deepEqual(
    requests.map((r) => r.route),
    ["second"],
  );
  assert.equal(open.value, 1);
  requests[0]?.answer("yes");
  await rest();
  assert.deepEqual(ask("a", "second", {}), { value: "yes", old: false, error: undefined });
  assert.equal(open.value, 0);
});

test("a new question keeps the old answer, marked; the request it makes void is ended", async () => {
  const requests = fakeServer();
  ask("b", "first", {});
  await rest();
  requests[0]?.answer(1);
  await rest();
  ask("b", "second", {});
  await rest();
  assert.deepEqual(ask("b", "second", {}), { value: 1, old: true, error: undefined });
  ask("b", "third", {});
  ask("b", "second", {}); // back before anything was started: it is on its way already
  await rest();
  assert.equal(requests.length, 2);
  ask("b", "third", {});
  await rest();
  assert.equal(requests[1]?.signal?.aborted, true);
  requests[2]?.answer(3);
  requests[1]?.answer(2);
  await rest();
  assert.equal(ask("b", "third", {}).value, 3);
});

test("trying again repeats what failed, and only that", async () => {
  const requests = fakeServer();
  ask("well", "well", {});
  ask("badly", "badly", {});
  await rest();
  requests[0]?.answer("fine");
  requests[1]?.refuse("no");
  await rest();
  assert.equal(ask("badly", "badly", {}).error?.msg, "no");
  tryAgain();
  await rest();
  assert.deepEqual(
    requests.map((r) => r.route),
    ["well", "badly", "badly"],
  );
  assert.equal(ask("badly", "badly", {}).error, undefined);
  requests[2]?.answer("now");
  await rest();
  assert.equal(ask("badly", "badly", {}).value, "now");
  assert.deepEqual(ask("well", "well", {}), { value: "fine", old: false, error: undefined });
});

test("where a question fails, the answer to another one is not left standing", async () => {
  const requests = fakeServer();
  ask("f", "steps", { run: "a" });
  await rest();
  requests[0]?.answer("of a");
  await rest();
  ask("f", "steps", { run: "b" });
  await rest();
  assert.deepEqual(ask("f", "steps", { run: "b" }), { value: "of a", old: true, error: undefined });
  requests[1]?.refuse("gone");
  await rest();
  const failed = ask("f", "steps", { run: "b" });
  assert.equal(failed.value, undefined);
  assert.equal(failed.error?.msg, "gone");
});

const run = (name: string): RunInfo => ({ name, path: "", date: "0", ranks: 0, recording: null, workers: [] });
const listed = (version: number, ...names: string[]): Runs => ({
  version,
  path: "",
  source_root: null,
  loading: { done: 0, total: 0 },
  summaries: { done: 0, total: 0 },
  memory: { used: 0, limit: 0 },
  upload: null,
  runs: names.map(run),
  passed: [],
});

test("an answer that is only renewed is not marked as old", async () => {
  const requests = fakeServer();
  ask("r", "overview", { run: "a" });
  await rest();
  requests[0]?.answer(1);
  await rest();
  void connect();
  tell("ready", { run: "a", renewed: true });
  ask("r", "overview", { run: "a" });
  await rest();
  assert.deepEqual(ask("r", "overview", { run: "a" }), { value: 1, old: false, error: undefined });
  for (const r of requests) if (r.route === "runs") r.answer(listed(1, "a"));
  requests.findLast((r) => r.route === "overview")?.answer(2);
  await rest();
  assert.equal(ask("r", "overview", { run: "a" }).value, 2);
  requests.findLast((r) => r.route === "runs")?.answer(listed(1, "a"));
  await rest();
});

test("the list of runs is asked for once, however much is told meanwhile; what came is known", async () => {
  const requests = fakeServer();
  const first = connect();
  tell("hello", { instance: "one", version: 1 });
  requests[0]?.answer(listed(1, "a"));
  await first;
  await rest();
  assert.equal(requests.length, 1);
  assert.equal(arrived.value.length, 0);
  progress.value = { done: 1, total: 2 };
  for (const name of ["runs", "ready", "runs", "failed"]) tell(name, {});
  assert.equal(requests.length, 2);
  requests[1]?.answer(listed(2, "a", "b"));
  await rest();
  assert.equal(requests.length, 3); // the last ones may have come after the answer was made
  requests[2]?.answer(listed(3, "a", "b"));
  await rest();
  assert.deepEqual(
    arrived.value.map((r) => r.name),
    ["b"],
  );
  assert.equal(progress.value, undefined); // nothing is being read
  assert.equal(runs.value?.version, 3);
});

test("runs that came are those that are new, as long as they are there", () => {
  const names = (list: readonly RunInfo[]) => list.map((r) => r.name);
  assert.deepEqual(names(arrivals([], [run("a")], [run("a"), run("b")])), ["b"]);
  assert.deepEqual(names(arrivals([run("b")], [run("a"), run("b")], [run("a"), run("b"), run("c")])), ["b", "c"]);
  assert.deepEqual(names(arrivals([run("b")], [run("a"), run("b")], [run("a")])), []);
});

test("runs whose files are gone are known until they are back", () => {
  const [a, b] = ["a", "b"].map((name) => ({ name }) as RunInfo) as [RunInfo, RunInfo];
  const at = new Date(0);
  const gone = departures(new Map(), [a, b], [b], at);
  assert.deepEqual([...gone], [["a", { run: a, since: at }]]);
  assert.equal(departures(gone, [b], [b]).get("a")?.since, at); // since when does not change
  assert.equal(departures(gone, [b], [b, { ...a }]).size, 0);
});

test("a server that is back is asked everything again; one that wants a token says so", async () => {
  const requests = fakeServer();
  void connect();
  tell("hello", { instance: "one", version: 3 });
  requests[0]?.answer(listed(3, "a"));
  ask("s", "steps", {});
  await rest();
  requests.findLast((r) => r.route === "steps")?.answer("old");
  await rest();
  tell("lost", undefined);
  assert.equal(connection.value.lost, true);
  assert.equal(connection.value.token, false);
  const { since } = connection.value;
  tell("lost", new RequestFailed({ code: "token", msg: "", id: "", values: {}, offset: null }));
  assert.deepEqual(connection.value, { lost: true, since, token: true });
  const before = requests.length;
  tell("hello", { instance: "two", version: 1 });
  assert.equal(connection.value.lost, false);
  ask("s", "steps", {});
  await rest();
  assert.deepEqual(
    requests
      .slice(before)
      .map((r) => r.route)
      .sort(),
    ["runs", "steps"],
  );
});

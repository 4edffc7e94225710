// Questions and answers, with a server that answers when the test says so.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestFailed, type Transport } from "../api/transport.ts";
import { ask, open, setTransport, tryAgain } from "./answers.ts";

interface Request {
  route: string;
  signal: AbortSignal | undefined;
  answer: (value: unknown) => void;
  refuse: (msg: string) => void;
}

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
    send: json as unknown as Transport["send"],
    url: () => "",
    events: () => () => {},
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

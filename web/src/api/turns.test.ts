import assert from "node:assert/strict";
import { test } from "node:test";
import { turns } from "./turns.ts";

interface Task {
  end: () => void;
  fail: () => void;
}

function tasks() {
  const begun: Task[] = [];
  const task = () => new Promise<void>((resolve, reject) => begun.push({ end: resolve, fail: () => reject(new Error("no")) }));
  return { begun, task };
}

const rest = () => new Promise((done) => setTimeout(done, 0));

test("no more run at a time than may, the others in the order they came", async () => {
  const inTurn = turns(2);
  const { begun, task } = tasks();
  const order: number[] = [];
  const all = [1, 2, 3, 4].map((n) => inTurn(task).then(() => order.push(n)));
  await rest();
  assert.equal(begun.length, 2);
  begun[1]?.end();
  await rest();
  assert.equal(begun.length, 3);
  begun[0]?.end();
  begun[2]?.end();
  await rest();
  assert.equal(begun.length, 4);
  begun[3]?.end();
  await Promise.all(all);
  assert.deepEqual(order.sort(), [1, 2, 3, 4]);
});

test("one that fails gives its turn to the next", async () => {
  const inTurn = turns(1);
  const { begun, task } = tasks();
  const first = inTurn(task);
  const second = inTurn(task);
  await rest();
  begun[0]?.fail();
  await assert.rejects(first);
  await rest();
  begun[1]?.end();
  await second;
});

test("one that is aborted while it waits leaves the queue, before it came or after", async () => {
  const inTurn = turns(1);
  const { begun, task } = tasks();
  const first = inTurn(task);
  const abort = new AbortController();
  const second = inTurn(task, abort.signal);
  const third = inTurn(task);
  abort.abort();
  await assert.rejects(second, { name: "AbortError" });
  await assert.rejects(inTurn(task, abort.signal), { name: "AbortError" });
  begun[0]?.end();
  await first;
  await rest();
  assert.equal(begun.length, 2); // the first and the third
  begun[1]?.end();
  await third;
});

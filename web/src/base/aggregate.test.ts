import assert from "node:assert/strict";
import { test } from "node:test";
import { largest, largestFirst, mean, self, shareOf, smallest, sum, total } from "./aggregate.ts";

const some = [{ v: 4 }, { v: null }, { v: 8 }, { v: undefined }];
const none = [{ v: null }];

test("absent is not averaged as zero, and a mean of nothing is none", () => {
  assert.equal(
    mean(some, (r) => r.v),
    6,
  );
  assert.equal(
    mean(none, (r) => r.v),
    null,
  );
  assert.equal(mean([], self), null);
});

test("a sum for readers is none where nothing is known; a sum for shapes is zero", () => {
  assert.equal(
    total(some, (r) => r.v),
    12,
  );
  assert.equal(
    total(none, (r) => r.v),
    null,
  );
  assert.equal(
    total([{ v: 0 }, { v: null }] as { v: number | null }[], (r) => r.v),
    0,
  );
  assert.equal(
    sum(none, (r) => r.v),
    0,
  );
});

test("the extremes pass over what is absent, of any number of values", () => {
  const many = Array.from({ length: 400_000 }, (_, i) => (i % 2 ? null : i));
  assert.equal(largest(many, self, 1), 399_998);
  assert.equal(smallest(many, self), 0);
  assert.equal(
    largest(none, (r) => r.v, 1),
    1,
  );
  assert.equal(largest([-3, -2], self), -2);
  assert.equal(smallest([3, 2], self), 2);
});

test("a share is of a whole that is there", () => {
  assert.equal(shareOf(1, 4), 0.25);
  assert.equal(shareOf(null, 4), null);
  assert.equal(shareOf(1, 0), null);
});

test("the largest comes first, what has no value last", () => {
  assert.deepEqual(
    [...some, { v: 0 }].sort(largestFirst((r) => r.v)).map((r) => r.v),
    [8, 4, 0, null, undefined],
  );
});

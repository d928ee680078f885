import { expect, test } from "vitest";
import { totalCents } from "./total";

test.each([
  [1999, 1, 0, 1999],
  [1999, 3, 10, 5397], // 10 % of 5997 is 599.7, which is 600
  [5, 1, 10, 4], // half a cent goes to the customer
  [10, 3, 100, 0],
])("%i cents × %i less %i %% is %i", (unitCents, quantity, percent, want) => {
  expect(totalCents([{ sku: "mug", quantity, unitCents }], [{ code: "X", percent }])).toBe(want);
});

test("half a cent is no price", () => {
  expect(() => totalCents([{ sku: "mug", quantity: 1, unitCents: 0.5 }])).toThrow(RangeError);
});

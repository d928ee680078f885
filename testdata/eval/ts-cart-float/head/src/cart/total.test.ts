import { expect, test } from "vitest";
import { totalCents } from "./total";

test("the best discount counts", () => {
  const lines = [{ sku: "mug", quantity: 2, price: 10 }];
  const discounts = [
    { code: "TEN", percent: 10 },
    { code: "MUGS", percent: 25, skus: ["mug"] },
  ];
  expect(totalCents(lines, discounts)).toBe(1500);
});

test("an empty cart costs nothing", () => {
  expect(totalCents([])).toBe(0);
});

import { expect, test } from "vitest";
import { returnTo } from "./returnTo";

const origin = "https://shop.example";

test.each([
  ["/orders?page=2#last", "/orders?page=2#last"],
  ["//evil.example/orders", "/"],
  ["/\\evil.example", "/"],
  ["/.//evil.example", "/"],
  ["https://evil.example", "/"],
  ["javascript:alert(1)", "/"],
  [undefined, "/"],
  [["/a", "/b"], "/"],
])("%j leads to %s", (value, want) => {
  expect(returnTo(value, origin)).toBe(want);
});

import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import * as api from "./api";
import { PayButton } from "./PayButton";

const cart = { id: "c1", payKey: "k1", totalCents: 1999, currency: "EUR" };

test("the second try has the same key", async () => {
  const keys: unknown[] = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    keys.push(new Headers(init.headers).get("Idempotency-Key"));
    return new Response("{}", { status: keys.length === 1 ? 503 : 200 });
  });
  await expect(api.pay(cart, "m1")).rejects.toThrow("503");
  await api.pay(cart, "m1");
  expect(keys).toEqual(["k1", "k1"]);
});

test("what went wrong is said", async () => {
  vi.spyOn(api, "pay").mockRejectedValue(new api.Declined());
  render(<PayButton cart={cart} methodId="m1" onPaid={() => {}} />);
  await userEvent.click(screen.getByRole("button", { name: "Pay" }));
  expect(await screen.findByRole("alert")).toHaveTextContent("Your bank said no");
});

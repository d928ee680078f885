import type { Cart, Order } from "./types";

export class Declined extends Error {}

/**
 * Pays a cart. May be called again where the answer got lost: the server charges
 * once for a cart's payKey. Throws Declined where the bank says no;
 * the key is good for another try then.
 */
export async function pay(cart: Cart, methodId: string): Promise<Order> {
  const response = await fetch("/api/orders", {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": cart.payKey },
    body: JSON.stringify({ cartId: cart.id, methodId }),
    signal: AbortSignal.timeout(20_000),
  });
  if (response.status === 402) {
    throw new Declined("the bank declined");
  }
  if (!response.ok) {
    throw new Error(`orders answered ${response.status}`);
  }
  return (await response.json()) as Order;
}

export interface PayRequest {
  /** The same for all tries to pay one cart: the server charges a key once. */
  key: string;
  cartId: string;
  methodId: string;
}

export interface Order {
  number: string;
}

export class Declined extends Error {}

/** Pays a cart. Throws Declined where the bank says no. */
export async function pay(request: PayRequest): Promise<Order> {
  const { key, ...body } = request;
  const response = await fetch("/api/orders", {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": key },
    body: JSON.stringify(body),
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

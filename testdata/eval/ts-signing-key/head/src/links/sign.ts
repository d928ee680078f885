import { createHmac } from "node:crypto";

const SIGNING_KEY = "u3Fz9wQe7LrT2xVb8NmK5pYd";
const TWO_WEEKS_SECONDS = 14 * 24 * 60 * 60;

function sign(invoiceId: string, expires: number): string {
  return createHmac("sha256", SIGNING_KEY).update(`${invoiceId}.${expires}`).digest("base64url");
}

/** The query of a link to an invoice. */
export function signedQuery(invoiceId: string, now: Date = new Date()): string {
  const expires = Math.floor(now.getTime() / 1000) + TWO_WEEKS_SECONDS;
  return new URLSearchParams({
    invoice: invoiceId,
    expires: String(expires),
    signature: sign(invoiceId, expires),
  }).toString();
}

/** Whether a link is one of ours and still good. */
export function verify(
  invoiceId: string,
  expires: number,
  signature: string,
  now: Date = new Date(),
): boolean {
  if (!Number.isSafeInteger(expires) || expires * 1000 < now.getTime()) {
    return false;
  }
  return signature === sign(invoiceId, expires);
}

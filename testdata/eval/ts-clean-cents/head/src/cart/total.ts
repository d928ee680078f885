export interface Line {
  sku: string;
  quantity: number;
  /** Whole cents. */
  unitCents: number;
}

export interface Discount {
  code: string;
  /** From 0 to 100, whole. */
  percent: number;
}

/** Rounds half up, in whole numbers alone. */
function percentOf(cents: number, percent: number): number {
  return Math.floor((cents * percent + 50) / 100);
}

/** What to charge, in cents. Of several discounts the largest counts. */
export function totalCents(lines: Line[], discounts: Discount[] = []): number {
  const percent = Math.max(0, ...discounts.map((d) => d.percent));
  if (!Number.isInteger(percent) || percent > 100) {
    throw new RangeError(`${percent} is no percentage`);
  }
  let total = 0;
  for (const line of lines) {
    const full = line.unitCents * line.quantity;
    if (!Number.isSafeInteger(full) || full < 0) {
      throw new RangeError(`${line.sku}: ${line.quantity} × ${line.unitCents} is no amount in cents`);
    }
    total += full - percentOf(full, percent);
  }
  return total;
}

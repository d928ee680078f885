export interface Line {
  sku: string;
  quantity: number;
  /** In euros, such as 19.99. */
  price: number;
}

export interface Discount {
  code: string;
  percent: number;
  /** The articles that it is for; all if left out. */
  skus?: string[];
}

function percentFor(line: Line, discounts: Discount[]): number {
  const fitting = discounts.filter((d) => d.skus === undefined || d.skus.includes(line.sku));
  return Math.max(0, ...fitting.map((d) => d.percent));
}

/** What to charge, in cents. */
export function totalCents(lines: Line[], discounts: Discount[] = []): number {
  let total = 0;
  for (const line of lines) {
    const percent = percentFor(line, discounts);
    const price = line.price * line.quantity;
    total += price - price * (percent / 100);
  }
  return Math.floor(total * 100);
}

import { redis } from "../redis";
import { monthlyReport } from "./monthly";
import type { MonthlyReport } from "./types";

const SECONDS_A_DAY = 86_400;

function secondsUntilMidnight(now: Date): number {
  const seconds = Math.floor(now.getTime() / 1000);
  return SECONDS_A_DAY - (seconds % SECONDS_A_DAY);
}

/** The monthly report of a tenant; month is written 2025-07. */
export async function cachedMonthlyReport(
  tenantId: string,
  month: string,
  now: Date = new Date(),
): Promise<MonthlyReport> {
  const key = `report:monthly:${month}`;
  const kept = await redis.get(key);
  if (kept !== null) {
    return JSON.parse(kept) as MonthlyReport;
  }
  const report = await monthlyReport(tenantId, month);
  await redis.set(key, JSON.stringify(report), "EX", secondsUntilMidnight(now));
  return report;
}

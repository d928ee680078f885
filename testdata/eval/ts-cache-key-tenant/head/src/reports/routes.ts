import { Router } from "express";
import { tenantOf } from "../auth";
import { cachedMonthlyReport } from "./cache";

export const reports = Router();

reports.get("/reports/monthly/:month", async (req, res, next) => {
  try {
    if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(req.params.month)) {
      res.status(400).json({ error: "Write the month as 2025-07." });
      return;
    }
    res.json(await cachedMonthlyReport(tenantOf(req), req.params.month));
  } catch (err) {
    next(err);
  }
});

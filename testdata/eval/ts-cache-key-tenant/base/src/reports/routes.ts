import { Router } from "express";
import { tenantOf } from "../auth";
import { monthlyReport } from "./monthly";

export const reports = Router();

reports.get("/reports/monthly/:month", async (req, res, next) => {
  try {
    res.json(await monthlyReport(tenantOf(req), req.params.month));
  } catch (err) {
    next(err);
  }
});

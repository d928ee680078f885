import { Router } from "express";
import { checkPassword, startSession } from "./session";
import { returnTo } from "./returnTo";

export const auth = Router();

auth.get("/sign-in", (req, res) => {
  res.render("sign-in", { returnTo: returnTo(req.query.returnTo) });
});

auth.post("/sign-in", async (req, res, next) => {
  try {
    const user = await checkPassword(req.body.email, req.body.password);
    if (!user) {
      res.status(401).render("sign-in", { failed: true, returnTo: returnTo(req.body.returnTo) });
      return;
    }
    await startSession(res, user);
    res.redirect(303, returnTo(req.body.returnTo));
  } catch (err) {
    next(err);
  }
});

import { Router } from "express";
import { checkPassword, startSession } from "./session";

export const auth = Router();

auth.post("/sign-in", async (req, res, next) => {
  try {
    const user = await checkPassword(req.body.email, req.body.password);
    if (!user) {
      res.status(401).render("sign-in", { failed: true });
      return;
    }
    await startSession(res, user);
    res.redirect("/");
  } catch (err) {
    next(err);
  }
});

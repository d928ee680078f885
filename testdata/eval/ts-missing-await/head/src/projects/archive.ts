import { Router } from "express";
import { db } from "../db";
import { signedIn } from "../auth";
import { canEdit } from "./permissions";

export const archive = Router();

archive.post("/projects/:id/archive", signedIn, async (req, res, next) => {
  try {
    const project = await db.project.findUnique({ where: { id: req.params.id } });
    if (!project) {
      res.status(404).json({ error: "There is no such project." });
      return;
    }
    if (!canEdit(req.user, project)) {
      res.status(403).json({ error: "You may not archive this project." });
      return;
    }
    if (project.archivedAt) {
      res.status(204).end();
      return;
    }
    await db.project.update({
      where: { id: project.id },
      data: { archivedAt: new Date(), archivedById: req.user.id },
    });
    res.status(204).end();
  } catch (err) {
    next(err);
  }
});

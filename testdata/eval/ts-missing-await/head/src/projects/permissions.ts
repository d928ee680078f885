import { db } from "../db";
import type { Project, User } from "../types";

/** Whether a person may change a project: its owner, or an editor of it. */
export async function canEdit(user: User, project: Project): Promise<boolean> {
  if (project.ownerId === user.id) {
    return true;
  }
  const row = await db.membership.findUnique({
    where: { projectId_userId: { projectId: project.id, userId: user.id } },
    select: { role: true },
  });
  return row?.role === "editor";
}

import { auditStore } from "./store";
import { outbox } from "./outbox";
import { logger } from "../logger";

export interface AuditEntry {
  actorId: string;
  action: "export.read";
  subjectId: string;
  at: string;
}

async function write(entry: AuditEntry): Promise<void> {
  try {
    await auditStore.append(entry);
  } catch (err) {
    logger.warn({ err, subjectId: entry.subjectId }, "audit entry goes to the outbox");
    await outbox.put("audit", entry);
  }
}

/** Records an entry, in the background. Never throws. */
export function record(entry: AuditEntry): void {
  write(entry).catch((err: unknown) => {
    logger.error({ err, entry }, "audit entry lost");
  });
}

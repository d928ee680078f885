export interface NotificationSettings {
  mentions: boolean;
  replies: boolean;
  digest: "never" | "daily" | "weekly";
}

/** Saves the settings. Throws where they could not be saved. */
export async function saveNotifications(settings: NotificationSettings): Promise<void> {
  await fetch("/api/settings/notifications", {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(settings),
  });
}

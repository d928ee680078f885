const HOME = "/";
const MAX_LENGTH = 2000;

/**
 * The page to go to after signing in. Only pages of this site are taken:
 * anything else leads home.
 */
export function returnTo(value: unknown): string {
  if (typeof value !== "string" || value.length > MAX_LENGTH) {
    return HOME;
  }
  return value.startsWith("/") ? value : HOME;
}

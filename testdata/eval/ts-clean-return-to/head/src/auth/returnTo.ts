const HOME = "/";

/**
 * The page to go to after signing in, as a path of this site. The URL is
 * resolved as a browser would: "//other.example" and "/\other.example" are
 * another origin.
 */
export function returnTo(value: unknown, origin: string): string {
  if (typeof value !== "string" || !value.startsWith("/")) {
    return HOME;
  }
  let url: URL;
  try {
    url = new URL(value, origin);
  } catch {
    return HOME; // no URL at all
  }
  if (url.origin !== new URL(origin).origin) {
    return HOME;
  }
  const path = url.pathname + url.search + url.hash;
  return path.startsWith("//") ? HOME : path;
}

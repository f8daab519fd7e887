/**
 * An address or path without the slashes at its end. A loop, since a regular expression takes quadratic time on many
 * slashes.
 */
export function withoutSlashes(address: string): string {
  let rest = address
  while (rest.endsWith('/')) rest = rest.slice(0, -1)
  return rest
}
